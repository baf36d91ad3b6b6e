/* The anomalies on the page: all of them at a glance, then a card for each with its witnesses. */
#include <inttypes.h>
#include <stdlib.h>

#include "checker/explain/case_outline.h"
#include "checker/model/certified.h"
#include "report/certificate_report.h"
#include "report/html_parts.h"
#include "report/markup.h"
#include "report/sent.h"
#include "report/server_log.h"
#include "report/svg.h"
#include "report/tell.h"
#include "report/words.h"

/* A proof by cases on the page: a nested list, with the steps and the picture of each cycle. */

enum { CASE_PICTURES = 12 };

static void add_cycle(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history,
                      uint32_t line, bool picture)
{
    const struct rig_case *l = &witness->cases->lines[line];
    struct rig_witness cycle;
    rig_buf_add_text(out, "<ul>\n");
    for (uint32_t i = l->first_step; i < l->first_step + l->step_count; i++)
        rig_tell(out, "<li>%h</li>\n", witness->cases->steps[i].text);
    rig_buf_add_text(out, "</ul>\n");
    if (picture && rig_case_cycle(witness, line, &cycle)) {
        rig_buf_add_text(out, "<div class=\"scroll\">\n");
        rig_svg_witness(&cycle, history, false, out);
        rig_buf_add_text(out, "</div>\n");
        free(cycle.txns);
    }
    rig_tell(out, "<p>%h</p>\n", l->closing);
}

static void begin_item(struct rig_buf *out, const struct rig_cases *cases, const struct rig_case_place *places,
                       uint32_t line)
{
    struct rig_buf heading;
    rig_buf_init(&heading, 0);
    rig_case_heading(cases, places, line, &heading);
    rig_tell(out, "<li>%h\n", rig_buf_text(&heading));
    rig_buf_done(&heading);
}

/* A proof by cases: a nested list, with the steps and the picture of each cycle. */
static void add_cases(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history)
{
    const struct rig_cases *cases = witness->cases;
    struct rig_case_place *places = rig_case_outline(cases);
    uint32_t pictures = 0;
    out->failed = out->failed || places == NULL;
    rig_buf_add_text(out, "<ul class=\"cases\">\n");
    for (uint32_t i = 0; places != NULL && i < cases->line_count; i++) {
        const bool is_item = places[i].number > 0 || places[i].within == UINT32_MAX;
        if (is_item)
            begin_item(out, cases, places, i);
        if (cases->lines[i].kind == RIG_CASE_SUPPOSE) {
            if (cases->lines[i + 1].kind == RIG_CASE_SUPPOSE)
                rig_buf_add_text(out, "<ul class=\"cases\">\n");
            continue;
        }
        add_cycle(out, witness, history, i, pictures++ < CASE_PICTURES);
        if (is_item)
            rig_buf_add_text(out, "</li>\n");
        if (places[i].other != UINT32_MAX)
            rig_buf_add_text(out, is_item ? "</ul></li>\n" : "</li>\n");
    }
    rig_buf_add_text(out, "</ul>\n");
    free(places);
}

/* Witnesses of an anomaly that stand open; the others are folded. */
enum { PICTURES_SHOWN = 3 };
/* The page stays below 3 MB: past these sizes a witness has no picture, and then no place. */
enum { PICTURES_BYTES = 900 << 10, WITNESSES_BYTES = 1200 << 10 };

static void add_sql(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sent_witness_text(&sql, history, witness, "");
    if (sql.size > 0)
        rig_tell(out, "<details class=\"log\"><summary>the SQL that was sent</summary>\n<pre>%h</pre></details>\n",
                 rig_buf_text(&sql));
    rig_buf_done(&sql);
}

void rig_html_witness(struct rig_buf *out, const struct rig_witness *witness, const struct rig_history *history,
                      const struct rig_report_run *run, const struct rig_episodes *episodes, bool picture)
{
    if (picture && witness->cases != NULL) {
        add_cases(out, witness, history);
    } else if (picture && witness->txn_count > 0) {
        rig_buf_add_text(out, "<div class=\"scroll\">\n");
        rig_svg_witness(witness, history, false, out);
        rig_buf_add_text(out, "</div>\n");
    }
    rig_tell(out, "<pre class=\"wrap\">%h", witness->text);
    struct rig_buf during;
    rig_buf_init(&during, 0);
    rig_episodes_of_witness(&during, episodes, history, witness);
    if (during.size > 0)
        rig_buf_add_text(out, "\n  ");
    rig_markup_escape(out, rig_buf_text(&during));
    rig_buf_done(&during);
    rig_buf_add_text(out, "</pre>\n");
    add_sql(out, history, witness);
    unsigned lines;
    const char *log = rig_server_logs_of(run == NULL ? NULL : run->logs, witness, &lines);
    if (lines == 0)
        return;
    rig_tell(
        out,
        "<details class=\"log\"><summary>%d line%p of the servers' logs around it</summary>\n<pre>%h</pre></details>\n",
        lines, lines, log);
}

static void add_row(struct rig_buf *out, const struct rig_finding *finding, const struct rig_anomaly_info *info,
                    bool is_further)
{
    rig_buf_printf(out, "<tr><td class=\"level\"><a href=\"#%s\">%s</a></td><td class=\"n\">",
                   is_further ? "certificate" : info->name, info->name);
    rig_words_found(out, finding);
    rig_tell(out, "</td><td>%h%s", info->definition,
             is_further ? " <b>(by the certificate)</b></td></tr>\n" : "</td></tr>\n");
}

/* All anomalies at a glance, each leading to its witnesses. */
static void add_overview(struct rig_buf *out, const struct rig_verdict *verdict)
{
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th>anomaly</th><th "
                          "class=\"n\">found</th><th>definition</th></tr>\n");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        if (verdict->findings[anomaly].count > 0)
            add_row(out, &verdict->findings[anomaly], info, false);
        else if (rig_certificate_is_further(verdict, (enum rig_anomaly)anomaly))
            add_row(out, &verdict->certified->verdict->findings[anomaly], info, true);
    }
    rig_buf_add_text(out, "</table></div>\n");
}

static void add_card(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                     const struct rig_episodes *episodes, unsigned anomaly)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
    rig_buf_printf(out, "<section class=\"card\" id=\"%s\">\n<span class=\"count\">", info->name);
    rig_words_found(out, finding);
    rig_tell(out, " found</span>\n<h3>%s</h3>\n<p class=\"dim\">%h (%h)</p>\n", info->name, info->definition,
             info->source);
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        const bool folded = i >= PICTURES_SHOWN;
        if (out->size > WITNESSES_BYTES) {
            rig_buf_printf(out, "<p>%" PRIu32 " more %s in <code>witnesses/</code> beside this page.</p>\n",
                           finding->witness_count - i, finding->witness_count - i == 1 ? "is" : "are");
            break;
        }
        rig_buf_printf(out, folded ? "<details><summary>%s #%" PRIu32 "</summary>\n" : "<h4>%s #%" PRIu32 "</h4>\n",
                       info->name, i + 1);
        rig_html_witness(out, &finding->witnesses[i], verdict->history, run, episodes, out->size < PICTURES_BYTES);
        rig_html_timeline_link(out, (enum rig_anomaly)anomaly, i + 1, false);
        rig_buf_add_text(out, folded ? "</details>\n" : "");
    }
    rig_buf_add_text(out, "</section>\n");
}

void rig_html_findings(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                       const struct rig_episodes *episodes)
{
    unsigned kinds = 0, inferred = 0;
    struct rig_buf preview;
    rig_buf_init(&preview, 0);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const bool is_inferred = verdict->findings[anomaly].count > 0;
        inferred += is_inferred;
        if (is_inferred || rig_certificate_is_further(verdict, (enum rig_anomaly)anomaly))
            rig_buf_printf(&preview, "%s%s", kinds++ == 0 ? "" : ", ",
                           rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    }
    rig_html_fold(out, "anomalies", "Anomalies", kinds == 0 ? "none was found" : rig_buf_text(&preview));
    rig_buf_done(&preview);
    if (kinds == 0)
        rig_buf_add_text(out, "<p>None was found.</p>\n");
    else
        add_overview(out, verdict);
    if (inferred > 0)
        rig_buf_add_text(out, "<p class=\"dim\">In the pictures an arrow from A to B means that A must come "
                              "before B; its label gives the reason. A cycle of arrows is a contradiction. "
                              "Dashed arrows are process or real-time order. An orange label describes an "
                              "anomaly that needs no cycle. The witness rests on the marked operations.</p>\n");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (verdict->findings[anomaly].count > 0)
            add_card(out, verdict, run, episodes, anomaly);
    }
    rig_html_fold_end(out);
}
