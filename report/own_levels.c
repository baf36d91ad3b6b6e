#include "report/own_levels.h"

#include "report/html_parts.h"
#include "report/tell.h"

void rig_own_levels_line(struct rig_buf *out, const struct rig_verdict *verdict)
{
    if (verdict->mixed_reason != NULL)
        rig_tell(out, "%c\n", verdict->mixed_reason);
}

void rig_own_levels_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    static const char *const fates[] = {
        [RIG_FATE_NOT_REFUTED] = "not-refuted", [RIG_FATE_HELD] = "held", [RIG_FATE_REFUTED] = "refuted"};
    if (verdict->mixed_reason == NULL)
        return;
    rig_json_begin_object(w, "own_levels");
    rig_json_begin_array(w, "levels");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->scope.own_levels & RIG_LEVEL_BIT(level)) != 0)
            rig_json_string(w, NULL, rig_level_info((enum rig_level)level)->name);
    }
    rig_json_end(w);
    rig_json_string(w, "fate", fates[verdict->mixed]);
    rig_json_string(w, "reason", verdict->mixed_reason);
    rig_json_end(w);
}

void rig_own_levels_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    if (verdict->mixed_reason == NULL)
        return;
    rig_html_fold(out, "own-levels", "Levels of transactions", "");
    rig_tell(out, "<p>%h</p>\n", verdict->mixed_reason);
    rig_html_fold_end(out);
}
