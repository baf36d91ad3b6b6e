#include "report/server_crashes.h"

#include <string.h>

#include "base/json_members.h"
#include "report/html_parts.h"
#include "report/tell.h"

void rig_crash_say(struct rig_buf *out, const struct rig_server_crash *crash)
{
    const char *name = crash->signal > 0 ? sigdescr_np(crash->signal) : NULL;
    rig_tell(out, "%c ", crash->node);
    if (crash->signal > 0)
        rig_buf_printf(out, "was killed by signal %d (%s)", crash->signal, name == NULL ? "unknown" : name);
    else
        rig_buf_printf(out, "ended with exit status %d", crash->exit_status);
    if (crash->at_ns >= 0)
        rig_tell(out, " %t after the load began", crash->at_ns);
    else
        rig_buf_add_text(out, " before the load began");
    if (crash->fault != NULL)
        rig_tell(out, ", under the fault %c", crash->fault);
}

void rig_crashes_say_failed(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_effort *effort = &verdict->effort;
    uint32_t failed = 0;
    for (uint32_t i = 0; i < effort->crash_count; i++) {
        if (!effort->crashes[i].fails)
            continue;
        if (failed++ == 0) {
            rig_buf_add_text(out, "a server crashed: ");
            rig_crash_say(out, &effort->crashes[i]);
        }
    }
    if (failed > 1)
        rig_tell(out, " (and %n more time%p)", failed - 1, failed - 1);
}

void rig_crashes_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_effort *effort = &verdict->effort;
    if (effort->crash_count == 0)
        return;
    rig_json_begin_array(w, "server_crashes");
    for (uint32_t i = 0; i < effort->crash_count; i++) {
        const struct rig_server_crash *crash = &effort->crashes[i];
        rig_json_begin_object(w, NULL);
        rig_json_string(w, "node", crash->node);
        rig_json_int(w, crash->signal > 0 ? "signal" : "exit_status",
                     crash->signal > 0 ? crash->signal : crash->exit_status);
        rig_json_int(w, "at_ns", crash->at_ns);
        rig_json_string(w, "log", crash->log_tail);
        if (crash->fault != NULL)
            rig_json_string(w, "fault", crash->fault);
        rig_json_bool(w, "fails", crash->fails);
        rig_json_end(w);
    }
    rig_json_end(w);
}

void rig_crashes_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_effort *effort = &verdict->effort;
    struct rig_buf failed;
    if (effort->crash_count == 0)
        return;
    rig_buf_init(&failed, 0);
    rig_crashes_say_failed(&failed, verdict);
    rig_html_fold(out, "crashes", "Server crashes", rig_buf_text(&failed));
    rig_buf_done(&failed);
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th>server</th><th>the end of its log</th></tr>\n");
    for (uint32_t i = 0; i < effort->crash_count; i++) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_crash_say(&text, &effort->crashes[i]);
        rig_tell(out, "<tr><td>%h</td><td><pre>%h</pre></td></tr>\n", rig_buf_text(&text), effort->crashes[i].log_tail);
        rig_buf_done(&text);
    }
    rig_buf_add_text(out, "</table></div>\n");
    rig_html_fold_end(out);
}
