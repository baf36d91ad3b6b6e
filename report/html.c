/*
 * The HTML report: one page of less than RIG_HTML_BYTES that needs nothing else and no network. Foreign texts are
 * escaped by report/markup.h; the content security policy of the page allows one script, that of the timeline, by its
 * hash.
 *
 * Each part is written by itself, and left out where the page would become too large. The data of the timeline take
 * what the other parts leave.
 */
#include <string.h>

#include "base/bug.h"
#include "report/certificate_report.h"
#include "report/charts.h"
#include "report/claims_report.h"
#include "report/own_levels.h"
#include "report/conditions.h"
#include "report/durability_report.h"
#include "report/episodes.h"
#include "report/html_parts.h"
#include "report/known_report.h"
#include "report/report.h"
#include "report/run_facts.h"
#include "report/server_crashes.h"
#include "report/svg.h"
#include "report/tell.h"
#include "report/words.h"

static const char *const rules[] = {
    ":root{--bg:#ffffff;--ink:#1f2328;--dim:#59636e;--card:#f6f8fa;--line:#d1d9e0;--bad:#cf222e;--badbg:#ffebe9;",
    "--good:#1a7f37;--goodbg:#dafbe1;--open:#7d5a00;--openbg:#fff4d1;--link:#0969da;color-scheme:light dark}",
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--ink:#e6edf3;--dim:#9198a1;--card:#161b22;--line:#3d444d;",
    "--bad:#ff7b72;--badbg:#3c1618;--good:#56d364;--goodbg:#12361f;--open:#e3b341;--openbg:#372b08;--link:#58a6ff}}",
    "*{box-sizing:border-box}",
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,",
    "'DejaVu Sans',sans-serif;overflow-wrap:anywhere}",
    "main{max-width:1240px;margin:0 auto;padding:20px 20px 60px}",
    "h2{font-size:20px;margin:38px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}",
    "h3{font-size:17px;margin:0 0 2px}h4{font-size:14px;margin:18px 0 6px}",
    "a{color:inherit}p{margin:6px 0}.dim{color:var(--dim)}.sign{vertical-align:-3px}",
    ".banner{border-left:8px solid;border-radius:8px;padding:18px 22px}",
    ".banner h1{font-size:23px;line-height:1.3;margin:0 0 6px}.banner .verdict{font-weight:700;margin:0}",
    ".banner .claim{font-size:16px;margin:0 0 6px}",
    ".banner.bad{background:var(--badbg);border-color:var(--bad)}.banner.bad .verdict{color:var(--bad)}",
    ".banner.good{background:var(--goodbg);border-color:var(--good)}.banner.good .verdict{color:var(--good)}",
    ".banner.open{background:var(--openbg);border-color:var(--open)}.banner.open .verdict{color:var(--open)}",
    ".warn{background:var(--openbg);border-left:8px solid var(--open);border-radius:8px;padding:10px 22px;",
    "margin:10px 0}",
    ".kicker{color:var(--dim);font-size:13px;margin:0 0 10px}",
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--bg)}",
    ".scroll svg{display:block;margin:0 auto}",
    /* A picture that is wider than the window begins at its culprit; then it scrolls freely. */
    ".scroll{position:relative;scroll-snap-type:x mandatory}",
    ".culprit{position:absolute;top:0;width:1px;height:1px;scroll-snap-align:end;",
    "animation:let-go 1ms .5s forwards}@keyframes let-go{to{scroll-snap-align:none}}",
    ".key{display:flex;flex-wrap:wrap;gap:4px 22px;color:var(--dim);font-size:13px;margin:8px 0}",
    ".card{border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:14px 0;background:var(--card)}",
    ".count{float:right;font-weight:700;color:var(--bad);margin-left:12px}",
    "pre{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:10px 0;",
    "overflow-x:auto;font:12.5px/1.55 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    "pre.wrap{white-space:pre-wrap}",
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:6px 12px 6px 0;",
    "border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--dim);font-weight:600}",
    "td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}",
    "th,td.level,td.code{white-space:nowrap}",
    "td.code{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    "tr.held td.fate{color:var(--good)}tr.refuted td.fate{color:var(--bad)}tr.not-refuted td.fate{color:var(--open)}",
    "td.fate{white-space:nowrap;font-weight:600}.asked{border:1px solid;border-radius:9px;font-size:11px;",
    "padding:0 7px;margin-left:8px;color:var(--dim)}",
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 22px;margin:0}dt{color:var(--dim)}dd{margin:0}",
    "summary{cursor:pointer;font-weight:600;padding:6px 0}ol{padding-left:22px;margin:8px 0}li{margin:4px 0}",
    "ul.cases{list-style:none;padding-left:0}ul.cases ul{padding-left:22px;margin:6px 0}",
    ".facts{grid-template-columns:repeat(2,1fr);gap:2px 28px;margin:16px 0}.facts div{display:grid;",
    "grid-template-columns:84px 1fr;gap:12px;padding:6px 0;border-bottom:1px solid var(--line)}",
    ".fold{border-bottom:1px solid var(--line)}.facts div:nth-child(5){grid-column:1/-1}.fold>summary{padding:14px 0}",
    ".fold>summary h2{display:inline;border:0;margin:0 10px 0 0;padding:0}.fold>summary span{font-weight:400}",
    ".banner .name{white-space:nowrap}.fold[open]{padding-bottom:20px}summary:hover{color:var(--link)}",
    "a:focus-visible,summary:focus-visible,button:focus-visible,canvas:focus-visible,select:focus-visible,",
    "input:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}",
    "footer{color:var(--dim);font-size:13px;margin-top:40px}",
    "@media(max-width:640px){main{padding:10px 12px 40px}.banner{padding:14px 14px}.banner h1{font-size:19px}",
    "dl,.facts{grid-template-columns:1fr}.fold>summary span{display:block}dt{margin-top:8px}.facts dt{margin:0}",
    ".facts div:nth-child(5){grid-column:auto}.card{padding:12px}.wide{overflow-x:auto}",
    "td.level{white-space:normal}.reasons td:nth-child(3){min-width:220px}}",
    ".lattice{width:100%;min-width:930px;height:auto}.lattice .node{stroke-width:1.3}",
    ".lattice .held .node{fill:var(--goodbg);stroke:var(--good)}",
    ".lattice .refuted .node{fill:var(--badbg);stroke:var(--bad)}",
    ".lattice .not-refuted .node{fill:var(--openbg);stroke:var(--open);stroke-dasharray:4 3}",
    ".lattice .asked .node{stroke-width:3.2}.lattice text{fill:var(--ink);font-size:11.5px}",
    ".lattice .link{stroke:var(--line);stroke-width:1.5;fill:none}",
    ".faults{width:100%;min-width:700px;height:auto;font-size:11.5px}.faults text{fill:var(--dim)}",
    "figure{margin:14px 0}figure .scroll{padding:4px 0}",
    ".faults line{stroke:var(--line)}.faults .under{fill:var(--open)}.faults .bad{fill:var(--bad)}",
    ".faults .idle{fill:none;stroke:var(--open);stroke-dasharray:3 2}",
    ".mark{fill:none;stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}",
    ".mark.held{stroke:var(--good)}.mark.refuted{stroke:var(--bad)}.mark.not-refuted{stroke:var(--open)}",
    "@media print{.scroll{overflow:visible}.card,.facts,svg,canvas{break-inside:avoid}main{max-width:none;padding:0}",
    ".lattice,.faults{min-width:0}.scroll svg{max-width:100%;height:auto}[data-witness]{display:none}",
    ".fold::details-content{content-visibility:visible;display:block}*{print-color-adjust:exact;",
    "-webkit-print-color-adjust:exact}}",
};

/* The style sheet, without its element; pictures of witnesses bring their own. */
static void add_style(struct rig_buf *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        rig_buf_add_text(out, rules[i]);
        rig_buf_add_char(out, '\n');
    }
}

enum {
    PARTS_BYTES = 2400000, /* all parts; the rest is for the timeline */
    OPENING_BYTES = 1000000,
};

struct page {
    const struct rig_verdict *verdict;
    const struct rig_report_run *run;
    const struct rig_course *course;
    const char *name;
    struct rig_buf *out; /* of the part that is being written */
    struct rig_episodes episodes;
};

static void add_head(const struct page *page)
{
    struct rig_buf *out = page->out;
    rig_buf_add_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta http-equiv=\"Content-Security-Policy\" "
                          "content=\"default-src 'none'; style-src 'unsafe-inline'; ");
    rig_html_timeline_policy(out);
    rig_tell(out,
             "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%h: %s - "
             "rig</title>\n<style>\n",
             page->name, rig_words_valid(page->verdict));
    add_style(out);
    rig_svg_style(out);
    rig_chart_style(out);
    rig_html_timeline_style(out);
    rig_buf_add_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

static void add_level_rows(const struct page *page)
{
    struct rig_buf *out = page->out;
    const uint64_t listed = rig_words_levels_listed(page->verdict, ~UINT64_C(0)) | page->verdict->requested_levels;
    for (unsigned at = RIG_LEVEL_COUNT; at-- > 0;) {
        const struct rig_level_info *info = rig_level_info((enum rig_level)at);
        const struct rig_level_result *result = &page->verdict->levels[at];
        if ((listed & RIG_LEVEL_BIT(at)) == 0)
            continue;
        rig_buf_printf(out, "<tr class=\"%s\"><td class=\"level\"><b>%s</b>", rig_words_fate(result->fate), info->name);
        if ((page->verdict->requested_levels & RIG_LEVEL_BIT(at)) != 0)
            rig_buf_add_text(out, "<span class=\"asked\">requested</span>");
        rig_buf_add_text(out, "</td><td class=\"fate\">");
        rig_html_sign(out, result->fate);
        rig_tell(out, " %s</td><td>%h<br><span class=\"dim\">%h</span></td></tr>\n",
                 result->fate == RIG_FATE_NOT_REFUTED ? "not refuted" : rig_words_fate(result->fate), result->reason,
                 info->definition);
    }
}

static void add_frontier(const struct page *page, const char *name, uint64_t set)
{
    struct rig_buf names;
    rig_buf_init(&names, 0);
    rig_words_levels(&names, set);
    rig_buf_printf(page->out, "<dt>%s</dt><dd>%s</dd>\n", name, rig_buf_text(&names));
    rig_buf_done(&names);
}

void rig_html_fold(struct rig_buf *out, const char *id, const char *title, const char *preview)
{
    rig_tell(out, "<details class=\"fold\" id=\"%s\"><summary><h2>%h</h2>", id, title);
    if (preview != NULL && preview[0] != '\0')
        rig_tell(out, " <span class=\"dim\">%h</span>", preview);
    rig_buf_add_text(out, "</summary>\n");
}

void rig_html_fold_end(struct rig_buf *out)
{
    rig_buf_add_text(out, "</details>\n");
}

static void add_levels(const struct page *page)
{
    struct rig_buf *out = page->out;
    struct rig_buf preview;
    rig_buf_init(&preview, 0);
    rig_buf_add_text(&preview, page->verdict->weakest_refuted == 0 ? "none is refuted" : "weakest refuted: ");
    if (page->verdict->weakest_refuted != 0)
        rig_words_levels(&preview, page->verdict->weakest_refuted);
    rig_html_fold(out, "levels", "Isolation levels", rig_buf_text(&preview));
    rig_buf_done(&preview);
    if (page->verdict->summary != NULL)
        rig_tell(out, "<p>%h</p>\n", page->verdict->summary);
    rig_buf_add_text(out, "<dl>\n");
    add_frontier(page, "Weakest refuted", page->verdict->weakest_refuted);
    add_frontier(page, "Strongest held", rig_levels_strongest(rig_words_levels_of(page->verdict, RIG_FATE_HELD)));
    rig_buf_add_text(out, "</dl>\n<p class=\"key\"><span>");
    rig_html_sign(out, RIG_FATE_REFUTED);
    rig_buf_add_text(out, " refuted: a witness shows that it was broken</span><span>");
    rig_html_sign(out, RIG_FATE_HELD);
    rig_buf_add_text(out, " held in this history</span><span>");
    rig_html_sign(out, RIG_FATE_NOT_REFUTED);
    rig_buf_add_text(out, " not refuted: not violated here, but not proven either</span>"
                          "<span>thick outline: requested</span></p>\n<div class=\"scroll\">\n");
    rig_html_lattice(out, page->verdict);
    rig_buf_add_text(out, "</div>\n<details><summary>Each level with its reason</summary>\n<div class=\"wide\">"
                          "<table class=\"reasons\"><tr><th>level</th><th>fate</th><th>reason</th></tr>\n");
    add_level_rows(page);
    rig_buf_add_text(out, "</table></div></details>\n");
    rig_html_fold_end(out);
}

static void add_elements(const struct page *page)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    rig_words_elements(&lines, page->verdict);
    if (lines.size > 0) {
        rig_html_fold(page->out, "elements", "Elements", "");
        rig_tell(page->out, "<pre>%h</pre>\n", rig_buf_text(&lines));
        rig_html_fold_end(page->out);
    }
    rig_buf_done(&lines);
}

static void add_lines(const struct page *page, const struct rig_run_line *lines, size_t count)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    for (size_t i = 0; i < count; i++) {
        rig_buf_clear(&line);
        lines[i].write(&line, page->verdict, page->run);
        if (lines[i].html_label != NULL && line.size > 0)
            rig_tell(page->out, "<dt>%s</dt><dd>%h</dd>\n", lines[i].html_label, rig_buf_text(&line));
    }
    rig_buf_done(&line);
}

static void add_latencies(const struct page *page)
{
    const struct rig_report_run *run = page->run;
    struct rig_buf *out = page->out;
    bool any = false;
    for (uint32_t i = 0; i < run->latency_count; i++) {
        const struct rig_report_latency *latency = &run->latencies[i];
        if (latency->count == 0)
            continue;
        if (!any)
            rig_buf_add_text(out, "<h4>Latency of committed transactions</h4>\n<div class=\"wide\"><table><tr><th>kind"
                                  "</th><th class=\"n\">count</th><th class=\"n\">mean</th><th class=\"n\">p50</th>"
                                  "<th class=\"n\">p90</th><th class=\"n\">p99</th><th class=\"n\">p99.9</th>"
                                  "<th class=\"n\">max</th></tr>\n");
        any = true;
        rig_tell(out, "<tr><td>%h</td><td class=\"n\">%n</td>", latency->name, latency->count);
        const int64_t values[] = {latency->mean_ns, latency->p50_ns,  latency->p90_ns,
                                  latency->p99_ns,  latency->p999_ns, latency->max_ns};
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++)
            rig_tell(out, "<td class=\"n\">%t</td>", values[j]);
        rig_buf_add_text(out, "</tr>\n");
    }
    if (any)
        rig_buf_add_text(out, "</table></div>\n");
}

static void add_errors(const struct page *page)
{
    const struct rig_report_run *run = page->run;
    struct rig_buf *out = page->out;
    if (run->error_count == 0)
        return;
    rig_buf_add_text(out, "<h4>Errors of the clients</h4>\n<div class=\"wide\"><table><tr><th>outcome</th>"
                          "<th class=\"n\">count</th><th>code</th><th>text of the first</th></tr>\n");
    for (uint32_t i = 0; i < run->error_count; i++) {
        const struct rig_report_error *error = &run->errors[i];
        rig_tell(out, "<tr><td>%h</td><td class=\"n\">%n</td><td class=\"code\">%h</td><td>%h</td></tr>\n",
                 rig_words_outcome(error->outcome), error->count, error->code, error->text);
    }
    rig_buf_add_text(out, "</table></div>\n");
}

/* Those of the server that differ from its defaults. */
static void add_settings(const struct page *page)
{
    const struct rig_report_provenance *facts = &page->run->provenance;
    struct rig_buf *out = page->out;
    if (facts->setting_count == 0)
        return;
    rig_html_fold(out, "settings", "Settings", "of the server, where they differ from its defaults");
    rig_buf_add_text(out, "<div class=\"wide\"><table>\n");
    for (uint32_t i = 0; i < facts->setting_count; i++)
        rig_tell(out, "<tr><td><code>%h</code></td><td><code>%h</code></td></tr>\n", facts->settings[i].name,
                 facts->settings[i].value);
    rig_buf_add_text(out, "</table></div>\n");
    rig_html_fold_end(out);
}

static void add_run(const struct page *page)
{
    const struct rig_report_run *run = page->run;
    struct rig_buf *out = page->out;
    rig_html_fold(out, "run", run == NULL ? "History" : "Run",
                  run == NULL ? "" : "machine, load, latencies and errors");
    rig_buf_add_text(out, "<dl>\n");
    if (run != NULL)
        add_lines(page, rig_run_lines, RIG_RUN_LINES);
    add_lines(page, rig_history_lines, RIG_HISTORY_LINES);
    rig_buf_add_text(out, "</dl>\n");
    if (run != NULL) {
        add_latencies(page);
        add_errors(page);
    }
    rig_html_fold_end(out);
    if (run != NULL)
        add_settings(page);
    if (run != NULL && run->plan_yaml != NULL && *run->plan_yaml != '\0') {
        rig_html_fold(out, "plan", "Plan", "the resolved plan");
        rig_tell(out, "<pre>%h</pre>\n", run->plan_yaml);
        rig_html_fold_end(out);
    }
}

static void add_foot(const struct page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const struct rig_cost *cost = &verdict->cost;
    struct rig_buf *out = page->out;
    rig_tell(out, "<footer>Checked %n%s%n ww, %n wr and %n", verdict->scope.txn_count,
             verdict->scope.txn_count == 1 ? " transaction, " : " transactions, ", verdict->edge_count[RIG_EDGE_WW],
             verdict->edge_count[RIG_EDGE_WR], verdict->edge_count[RIG_EDGE_RW]);
    rig_buf_printf(out, " rw edges in %.1f ms (read %.1f, infer %.1f, search %.1f)",
                   cost->read_ms + cost->infer_ms + cost->search_ms, cost->read_ms, cost->infer_ms, cost->search_ms);
    if (cost->peak_bytes > 0)
        rig_tell(out, ", %b at most", cost->peak_bytes);
    rig_buf_add_text(out, ".</footer>\n</main>\n");
}

static void add_charts(const struct page *page)
{
    if (page->course == NULL)
        return;
    rig_html_fold(page->out, "charts", "Charts", "latency, rates and errors over time; also as files in charts/");
    for (unsigned chart = 0; chart < RIG_CHART_COUNT; chart++)
        (void)rig_chart_draw(page->out, (enum rig_chart)chart, page->course, &page->episodes, false);
    rig_html_fold_end(page->out);
}

static void add_opening(const struct page *page)
{
    rig_html_opening(page->out, page->verdict, page->run, page->name, &page->episodes);
}

static void add_findings(const struct page *page)
{
    rig_html_findings(page->out, page->verdict, page->run, &page->episodes);
}

static void add_certificate(const struct page *page)
{
    rig_certificate_html(page->out, page->verdict);
}

static void add_own_levels(const struct page *page)
{
    rig_own_levels_html(page->out, page->verdict);
}

static void add_claims(const struct page *page)
{
    rig_claims_html(page->out, page->verdict);
}

static void add_known(const struct page *page)
{
    rig_known_html(page->out, page->verdict);
}

static void add_conditions(const struct page *page)
{
    rig_conditions_html(page->out, page->verdict);
}

static void add_crashes(const struct page *page)
{
    rig_durability_html(page->out, page->verdict);
    rig_crashes_html(page->out, page->verdict);
}

static void add_phases(const struct page *page)
{
    rig_html_phases(page->out, &page->episodes);
}

static void add_faults(const struct page *page)
{
    rig_html_faults(page->out, &page->episodes);
}

static const struct part {
    const char *title;
    void (*write)(const struct page *page);
} parts[] = {
    {"Charts", add_charts},           {"Isolation levels", add_levels}, {"Anomalies", add_findings},
    {"Elements", add_elements},       {"Certificate", add_certificate}, {"Claims", add_claims},
    {"Own levels", add_own_levels},   {"Known issues", add_known},      {"Conditions", add_conditions},
    {"Crashes", add_crashes},         {"Phases", add_phases},           {"Faults", add_faults},
    {"Run, settings, plan", add_run},
};

/* Appends a part, or a note in its place where `out` would have more than `most` bytes. */
static void add_part(struct page *page, const struct part *part, size_t most, struct rig_buf *out)
{
    struct rig_buf text;
    rig_buf_init(&text, PARTS_BYTES);
    page->out = &text;
    part->write(page);
    if (!text.failed && out->size + text.size <= most)
        rig_buf_add(out, rig_buf_text(&text), text.size);
    else
        rig_buf_printf(out,
                       "<p class=\"warn\">%s: left out, so that the page stays below 3 MB. <code>report.txt</code> "
                       "and <code>results.json</code> have it.</p>\n",
                       part->title);
    rig_buf_done(&text);
    page->out = NULL;
}

/* The timeline, in what the rest of the page leaves; `data`: for the end of the page. */
static void add_timeline(const struct page *page, size_t rest_bytes, struct rig_buf *out, struct rig_buf *data)
{
    struct rig_load_timeline_size size;
    const size_t taken = out->size + rest_bytes + rig_html_timeline_bytes();
    if (page->course == NULL)
        return;
    if (taken < RIG_HTML_BYTES &&
        rig_load_timeline_data(data, page->course, page->verdict, &page->episodes, RIG_HTML_BYTES - taken, &size))
        rig_html_timeline(out, page->course, &size);
    else
        rig_buf_add_text(out, "<p class=\"dim\">The page has no timeline, because it would be larger than 3 MB.</p>\n");
}

void rig_report_html(const struct rig_verdict *verdict, const struct rig_report_run *run,
                     const struct rig_course *course, const char *name, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    static const struct part opening = {"The opening", add_opening};
    struct page page = {.verdict = verdict, .run = run, .course = course, .name = name, .out = out};
    struct rig_buf head, rest, data;
    rig_buf_init(&head, 0);
    rig_buf_init(&rest, 0);
    rig_buf_init(&data, 0);
    rig_episodes_init(&page.episodes, verdict);
    page.out = &head;
    add_head(&page);
    add_part(&page, &opening, OPENING_BYTES, &head);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        add_part(&page, &parts[i], PARTS_BYTES - head.size, &rest);
    page.out = &rest;
    add_foot(&page);
    add_timeline(&page, rest.size, &head, &data);
    rig_buf_add(out, rig_buf_text(&head), head.size);
    rig_buf_add(out, rig_buf_text(&rest), rest.size);
    if (data.size > 0)
        rig_html_timeline_script(out, &data);
    rig_buf_add_text(out, "</body>\n</html>\n");
    out->failed |= head.failed || rest.failed;
    rig_buf_done(&head);
    rig_buf_done(&rest);
    rig_buf_done(&data);
    rig_episodes_done(&page.episodes);
}
