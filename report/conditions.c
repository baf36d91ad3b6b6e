#include "base/json_members.h"
#include "report/conditions.h"

#include "checker/model/level.h"
#include "report/html_parts.h"
#include "report/tell.h"

const char *rig_condition_word(const struct rig_table_condition *condition)
{
    return condition->problem != NULL ? "unchecked" : condition->broken > 0 ? "broken" : "fulfilled";
}

void rig_conditions_say_broken(struct rig_buf *out, const struct rig_verdict *verdict)
{
    uint32_t left = 0, count = 0;
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++)
        count += verdict->effort.conditions[i].broken > 0;
    left = count;
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        if (verdict->effort.conditions[i].broken == 0)
            continue;
        rig_tell(out, "%s%c", left == count ? "" : left == 1 ? " and " : ", ", verdict->effort.conditions[i].name);
        left--;
    }
    if (count > 0)
        rig_buf_add_text(out, count == 1 ? " is broken" : " are broken");
}

void rig_condition_lines(struct rig_buf *out, const struct rig_table_condition *condition)
{
    if (condition->problem != NULL)
        rig_tell(out, "%c\n", condition->problem);
    for (uint32_t i = 0; i < condition->row_count; i++)
        rig_tell(out, "%c\n", condition->rows[i]);
    if (condition->broken > condition->row_count)
        rig_tell(out, "%d more\n", condition->broken - condition->row_count);
}

void rig_conditions_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    if (verdict->effort.condition_count == 0)
        return;
    rig_json_begin_array(w, "conditions");
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        const struct rig_table_condition *condition = &verdict->effort.conditions[i];
        rig_json_begin_object(w, NULL);
        rig_json_members(w, "name: %s, text: %s, source: %s, state: %s", condition->name, condition->text,
                         condition->source, rig_condition_word(condition));
        rig_json_begin_array(w, "guaranteed_by");
        for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
            if ((condition->guaranteed_by & RIG_LEVEL_BIT(level)) != 0)
                rig_json_string(w, NULL, rig_level_info((enum rig_level)level)->name);
        }
        rig_json_end(w);
        if (condition->problem != NULL)
            rig_json_string(w, "problem", condition->problem);
        rig_json_int(w, "broken", (int64_t)condition->broken);
        rig_json_begin_array(w, "rows");
        for (uint32_t j = 0; j < condition->row_count; j++)
            rig_json_string(w, NULL, condition->rows[j]);
        rig_json_end(w);
        rig_json_end(w);
    }
    rig_json_end(w);
}

void rig_conditions_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    if (verdict->effort.condition_count == 0)
        return;
    struct rig_buf broken;
    rig_buf_init(&broken, 0);
    rig_conditions_say_broken(&broken, verdict);
    rig_html_fold(out, "conditions", "Conditions of the program", rig_buf_text(&broken));
    rig_buf_done(&broken);
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th>condition</th>"
                          "<th>state</th><th>after the load</th><th>rows</th></tr>\n");
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        const struct rig_table_condition *condition = &verdict->effort.conditions[i];
        struct rig_buf lines;
        rig_buf_init(&lines, 0);
        rig_condition_lines(&lines, condition);
        rig_tell(out, "<tr><td class=\"code\">%h</td><td>%s</td><td>%h (%h)</td><td><pre>%h</pre></td></tr>\n",
                 condition->name, rig_condition_word(condition), condition->text, condition->source,
                 rig_buf_text(&lines));
        rig_buf_done(&lines);
    }
    rig_buf_add_text(out, "</table></div>\n");
    rig_html_fold_end(out);
}
