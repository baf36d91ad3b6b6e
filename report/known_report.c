#include "base/json_members.h"
#include "report/known_report.h"

#include "report/html_parts.h"
#include "report/tell.h"

bool rig_known_explains(const struct rig_verdict *verdict)
{
    return verdict->known != NULL && verdict->known->explained;
}

void rig_known_names(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_known_issues *known = verdict->known;
    const char *before = "";
    for (uint32_t i = 0; known != NULL && i < known->count; i++) {
        if (known->outcomes[i].witness_count == 0)
            continue;
        rig_tell(out, "%s%c", before, known->outcomes[i].issue->name);
        before = ", ";
    }
}

void rig_known_say(struct rig_buf *out, const struct rig_known_outcome *outcome)
{
    if (outcome->issue->unlike != NULL) {
        rig_tell(out, "not compared: %c", outcome->issue->unlike);
        return;
    }
    if (outcome->witness == NULL)
        rig_tell(out, "did not appear");
    else
        rig_tell(out, "appeared: %d witness%s %s its shape, the first is %s #%d%s", outcome->witness_count,
                 outcome->witness_count == 1 ? "" : "es", outcome->witness_count == 1 ? "has" : "have",
                 rig_anomaly_info(outcome->witness->anomaly)->name, outcome->number,
                 outcome->by_certificate ? " by the certificate" : "");
    if (outcome->issue->unsure)
        rig_buf_add_text(out, "; driver, isolation level or version of the run are not known, and were not compared");
}

void rig_known_conclude(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_known_issues *known = verdict->known;
    if (known == NULL || (!known->explained && known->why_not == NULL))
        return;
    if (known->explained)
        rig_tell(
            out,
            "Known issues explain all that refutes the request: each violation contains all transactions of one of "
            "their witnesses (%d judgement%p)",
            known->check_count, known->check_count);
    else
        rig_tell(out, "Known issues do not explain all that refutes the request: %c", known->why_not);
}

void rig_known_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_known_issues *known = verdict->known;
    if (known == NULL)
        return;
    rig_json_begin_object(w, "known");
    rig_json_bool(w, "explained", known->explained);
    if (known->why_not != NULL)
        rig_json_string(w, "why_not", known->why_not);
    rig_json_members(w, "required: %b, judgements: %d", known->required, known->check_count);
    rig_json_begin_array(w, "issues");
    for (uint32_t i = 0; i < known->count; i++) {
        const struct rig_known_outcome *outcome = &known->outcomes[i];
        rig_json_begin_object(w, NULL);
        rig_json_members(w, "name: %s, page: %s, appeared: %b, witnesses: %d", outcome->issue->name,
                         outcome->issue->page, outcome->witness != NULL, outcome->witness_count);
        if (outcome->witness != NULL)
            rig_json_members(w, "anomaly: %s, number: %d, by_certificate: %b",
                             rig_anomaly_info(outcome->witness->anomaly)->name, outcome->number,
                             outcome->by_certificate);
        rig_json_bool(w, "unsure", outcome->issue->unsure);
        if (outcome->issue->unlike != NULL)
            rig_json_string(w, "unlike", outcome->issue->unlike);
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_end(w);
}

void rig_known_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_known_issues *known = verdict->known;
    struct rig_buf text;
    if (known == NULL)
        return;
    rig_buf_init(&text, 0);
    rig_known_conclude(&text, verdict);
    rig_html_fold(out, "known", "Known issues",
                  known->explained         ? "they explain all that refutes the request"
                  : known->why_not != NULL ? "they do not explain all that refutes the request"
                                           : "nothing to explain");
    if (text.size > 0)
        rig_tell(out, "<p>%h.</p>\n", rig_buf_text(&text));
    rig_tell(out, "<dl>\n");
    for (uint32_t i = 0; i < known->count; i++) {
        rig_buf_clear(&text);
        rig_known_say(&text, &known->outcomes[i]);
        rig_tell(out, "<dt>%h</dt><dd>%h</dd>\n", known->outcomes[i].issue->name, rig_buf_text(&text));
    }
    rig_buf_add_text(out, "</dl>\n");
    rig_html_fold_end(out);
    rig_buf_done(&text);
}
