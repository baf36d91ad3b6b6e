#include "jobs/store/index_page.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "base/statistics.h"
#include "base/version.h"
#include "jobs/store/news.h"
#include "jobs/store/run_table.h"
#include "report/markup.h"
#include "report/plain_page.h"
#include "report/tell.h"
#include "report/words.h"

enum { POINTS_MOST = 120, CHART_WIDTH = 660, CHART_HEIGHT = 130, MARGIN = 70, FOOT = 18 };

static const char *const classes[RIG_STORED_STATE_COUNT] = {
    [RIG_STORED_OK] = "good",        [RIG_STORED_REFUTED] = "bad",     [RIG_STORED_UNDECIDED] = "open",
    [RIG_STORED_FAILED] = "broken",  [RIG_STORED_RUNNING] = "allowed", [RIG_STORED_UNFINISHED] = "broken",
    [RIG_STORED_DAMAGED] = "broken", [RIG_STORED_REMOVING] = "none",   [RIG_STORED_FOREIGN] = "none"};

/* The runs of a name: neighbours in the list, the newest first. */
struct group {
    const struct rig_stored_run *runs;
    size_t count;
};

/* The target of links and, for a server, more than a file has. */
struct page {
    const char *base;
    const struct rig_index_live *live; /* NULL: a file */
};

/* Its anomalies, or their absence, count. */
static bool is_decided(const struct rig_stored_run *run)
{
    return rig_stored_run_is_judged(run) && run->state != RIG_STORED_UNDECIDED;
}

/* ---- charts ---- */

struct point {
    double value, least, most; /* the last two: of an interval; equal to the value where there is none */
    const struct rig_stored_run *run;
};

struct series {
    const char *title;
    void (*say)(const struct point *point, struct rig_buf *out);
    struct point points[POINTS_MOST];
    size_t count;
};

static double x_of(const struct series *series, size_t i)
{
    return series->count == 1 ? MARGIN + (CHART_WIDTH - MARGIN) / 2.0
                              : MARGIN + 6 + (CHART_WIDTH - MARGIN - 12) * (double)i / (double)(series->count - 1);
}

static double y_of(double value, double most)
{
    const double room = CHART_HEIGHT - FOOT - 8;
    return 8 + room - room * (most > 0 ? fmin(value / most, 1) : 0);
}

static void add_point(const struct series *series, size_t i, double most, struct rig_buf *out)
{
    const struct point *point = &series->points[i];
    struct rig_buf words;
    rig_buf_init(&words, 0);
    series->say(point, &words);
    if (point->most > point->least)
        rig_buf_printf(
            out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" opacity=\".45\"/>",
            x_of(series, i), x_of(series, i), y_of(point->least, most), y_of(point->most, most));
    rig_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>", x_of(series, i),
                   y_of(point->value, most), point->run->state == RIG_STORED_REFUTED ? "#cf222e" : "currentColor");
    rig_tell(out, "%h: %h</title></circle>\n", point->run->time, rig_buf_text(&words));
    rig_buf_done(&words);
}

static void add_chart(const struct series *series, struct rig_buf *out)
{
    double most = 0;
    struct rig_buf words;
    if (series->count == 0)
        return;
    struct point top = series->points[0];
    for (size_t i = 0; i < series->count; i++)
        most = fmax(most, series->points[i].most);
    top.value = top.least = top.most = most;
    rig_buf_init(&words, 0);
    series->say(&top, &words);
    rig_tell(out,
             "<h3>%s</h3>\n<div class=\"wide\"><svg role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
             "%d\"><title>%s of %d run%p, the oldest first</title>\n",
             series->title, CHART_WIDTH, CHART_HEIGHT, CHART_WIDTH, CHART_HEIGHT, series->title, series->count,
             series->count);
    rig_buf_printf(out,
                   "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" opacity=\".3\"/>"
                   "<text x=\"%d\" y=\"14\" text-anchor=\"end\">",
                   MARGIN, CHART_WIDTH, y_of(0, 1), y_of(0, 1), MARGIN - 6);
    rig_markup_escape(out, rig_buf_text(&words));
    rig_buf_printf(out, "</text><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">0</text>", MARGIN - 6, y_of(0, 1));
    rig_tell(out,
             "<text x=\"%d\" y=\"%d\">%h</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%h</text>\n<polyline "
             "fill=\"none\" stroke=\"currentColor\" opacity=\".5\" points=\"",
             MARGIN, CHART_HEIGHT - 4, series->points[0].run->time, CHART_WIDTH, CHART_HEIGHT - 4,
             series->count > 1 ? series->points[series->count - 1].run->time : "");
    for (size_t i = 0; i < series->count; i++)
        rig_buf_printf(out, "%.1f,%.1f ", x_of(series, i), y_of(series->points[i].value, most));
    rig_buf_add_text(out, "\"/>\n");
    for (size_t i = 0; i < series->count; i++)
        add_point(series, i, most, out);
    rig_buf_add_text(out, "</svg></div>\n");
    rig_buf_done(&words);
}

static void say_rate(const struct point *point, struct rig_buf *out)
{
    rig_tell(out, "%n/s", (uint64_t)llround(point->value));
}

static void say_latency(const struct point *point, struct rig_buf *out)
{
    rig_words_duration(out, (int64_t)point->value);
}

static void add_number(double number, struct rig_buf *out)
{
    if (number < 100)
        rig_buf_printf(out, "%.3g", number);
    else
        rig_words_count(out, (uint64_t)llround(number));
}

static void say_anomalies(const struct point *point, struct rig_buf *out)
{
    add_number(point->value, out);
    if (point->most <= point->least)
        return;
    rig_buf_add_text(out, " (95 %: ");
    add_number(point->least, out);
    rig_buf_add_text(out, " to ");
    add_number(point->most, out);
    rig_buf_add_char(out, ')');
}

/* A value of a run; false: it has none. */
typedef bool value_of(const struct rig_stored_run *run, struct point *point);

static bool throughput_of(const struct rig_stored_run *run, struct point *point)
{
    point->value = rig_stored_run_rate(run);
    return run->load_s > 0;
}

static bool median_of(const struct rig_stored_run *run, struct point *point)
{
    const struct rig_stored_latency *latency = rig_stored_run_latency(run);
    point->value = latency == NULL ? 0 : (double)latency->p50_ns;
    return latency != NULL;
}

static bool tail_of(const struct rig_stored_run *run, struct point *point)
{
    const struct rig_stored_latency *latency = rig_stored_run_latency(run);
    point->value = latency == NULL ? 0 : (double)latency->p99_ns;
    return latency != NULL;
}

static bool anomalies_of(const struct rig_stored_run *run, struct point *point)
{
    if (run->acknowledged == 0 || !is_decided(run))
        return false;
    const double millions = (double)run->acknowledged / 1e6;
    const struct rig_interval interval = rig_interval_of_count((double)run->anomalies);
    point->value = (double)run->anomalies / millions;
    point->least = interval.least / millions;
    point->most = (run->anomalies == 0 ? rig_interval_most_of_none(run->acknowledged) * 1e6 : interval.most / millions);
    return true;
}

static void chart(const struct group *group, const char *title, value_of *value,
                  void (*say)(const struct point *, struct rig_buf *), struct rig_buf *out)
{
    struct series series = {.title = title, .say = say};
    size_t first = 0; /* the oldest that still fits */
    for (size_t i = 0, fit = 0; i < group->count && fit < POINTS_MOST; i++) {
        struct point point = {.run = &group->runs[i]};
        if (rig_stored_run_is_judged(point.run) && value(point.run, &point)) {
            fit++;
            first = i;
        }
    }
    for (size_t i = first + 1; i-- > 0;) {
        struct point point = {.run = &group->runs[i]};
        if (!rig_stored_run_is_judged(point.run) || !value(point.run, &point))
            continue;
        if (point.most <= 0)
            point.least = point.most = point.value;
        series.points[series.count++] = point;
    }
    add_chart(&series, out);
}

/* ---- what the runs could have shown ---- */

static bool is_same_case(const struct rig_stored_run *a, const struct rig_stored_run *b)
{
    return strcmp(a->server, b->server) == 0 && strcmp(a->isolation, b->isolation) == 0 &&
           strcmp(a->requested, b->requested) == 0;
}

/* All runs on one server, at one isolation, with one request, whose first is `first`. */
static void add_case(const struct group *group, size_t first, struct rig_buf *out)
{
    const struct rig_stored_run *example = &group->runs[first];
    struct rig_buf words;
    uint64_t runs = 0, anomalies = 0, acknowledged = 0;
    bool is_exact = true;
    for (size_t i = first; i < group->count; i++) {
        const struct rig_stored_run *run = &group->runs[i];
        if (!is_decided(run) || !is_same_case(run, example))
            continue;
        runs++;
        anomalies += run->anomalies;
        acknowledged += run->acknowledged;
        is_exact = is_exact && run->is_counted;
    }
    rig_buf_init(&words, 0);
    rig_run_table_power(anomalies, is_exact, acknowledged, &words);
    rig_tell(out, "<tr><td>%h</td><td>%h</td><td>%h</td><td class=\"n\">%d</td><td>%h</td></tr>\n", example->server,
             example->isolation, example->requested, runs, rig_buf_text(&words));
    rig_buf_done(&words);
}

static void add_cases(const struct group *group, struct rig_buf *out)
{
    bool is_first = true;
    for (size_t i = 0; i < group->count; i++) {
        bool is_told = !is_decided(&group->runs[i]);
        for (size_t earlier = 0; earlier < i && !is_told; earlier++)
            is_told = is_decided(&group->runs[earlier]) && is_same_case(&group->runs[earlier], &group->runs[i]);
        if (is_told)
            continue;
        if (is_first)
            rig_buf_add_text(out,
                             "<div class=\"wide\"><table class=\"runs\"><thead><tr><th>Server</th><th>Isolation</th>"
                             "<th>Requested</th><th class=\"n\">Runs</th><th>Anomalies</th></tr></thead><tbody>\n");
        is_first = false;
        add_case(group, i, out);
    }
    rig_buf_add_text(out, is_first ? "" : "</tbody></table></div>\n");
}

/* ---- the runs ---- */

/* A server shows what is known of each run, also of one without a report. */
static void add_link(const struct rig_stored_run *run, const struct page *page, struct rig_buf *out)
{
    const bool is_run = run->state != RIG_STORED_FOREIGN && run->state != RIG_STORED_REMOVING;
    if (page->live == NULL || !is_run || run->is_matrix || rig_stored_run_is_judged(run)) {
        rig_run_table_link(run, page->base, run->time, out);
        return;
    }
    rig_tell(out, "<a href=\"%h", page->base);
    rig_run_table_address(run->folder, out);
    rig_tell(out, "/\">%h</a>", run->time);
}

/* Two runs are compared by two clicks: the first one chooses, the second one asks for the comparison. */
static void add_choice(const struct rig_stored_run *run, const struct page *page, struct rig_buf *out)
{
    const char *chosen = page->live->chosen;
    rig_buf_add_text(out, "<td>");
    if (rig_run_table_has_verdict(run) && chosen != NULL && strcmp(chosen, run->folder) == 0) {
        rig_tell(out, "<a href=\"%h\" aria-label=\"do not compare %h\"><b>chosen</b></a>", page->base, run->time);
    } else if (rig_run_table_has_verdict(run)) {
        rig_tell(out, "<a href=\"%h%s", page->base, chosen == NULL ? "?with=" : "compare?a=");
        if (chosen != NULL) {
            rig_run_table_address(chosen, out);
            rig_buf_add_text(out, "&amp;b=");
        }
        rig_run_table_address(run->folder, out);
        rig_tell(out, "\" aria-label=\"compare %h\">%s</a>", run->time, chosen == NULL ? "compare" : "with this");
    }
    rig_buf_add_text(out, "</td>");
}

static void add_run(const struct rig_stored_run *run, const struct page *page, struct rig_buf *out)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    rig_buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", classes[run->state], rig_stored_state_words[run->state]);
    add_link(run, page, out);
    rig_tell(out, "</td><td>%h</td><td>%h</td><td class=\"n\">", run->why[0] != '\0' ? run->why : run->broken,
             run->server);
    if (rig_stored_run_is_judged(run))
        rig_words_count(out, run->acknowledged);
    rig_buf_add_text(out, "</td><td class=\"n\">");
    if (rig_stored_run_is_judged(run))
        rig_run_table_anomalies(run, out);
    rig_tell(out, "</td><td class=\"n\">%b</td>", run->bytes);
    if (page->live != NULL)
        add_choice(run, page, out);
    rig_buf_add_text(out, "</tr>\n");
    rig_buf_done(&words);
}

static void add_group(const struct group *group, const struct page *page, struct rig_buf *out)
{
    rig_tell(out, "<h2>%h</h2>\n", group->runs[0].name[0] == '\0' ? "beside the runs" : group->runs[0].name);
    add_cases(group, out);
    chart(group, "Anomalies in a million acknowledged transactions", anomalies_of, say_anomalies, out);
    chart(group, "Throughput: acknowledged transactions a second", throughput_of, say_rate, out);
    chart(group, "Median latency", median_of, say_latency, out);
    chart(group, "99 % latency", tail_of, say_latency, out);
    rig_buf_printf(
        out,
        "<details open><summary>%zu run%s</summary>\n<div class=\"wide\"><table class=\"runs\"><thead><tr><th>Result"
        "</th><th>Run</th><th>Breaks, or why</th><th>Server</th><th class=\"n\">Acknowledged</th>"
        "<th class=\"n\">Anomalies</th><th class=\"n\">Size</th>%s</tr></thead><tbody>\n",
        group->count, rig_plural(group->count), page->live == NULL ? "" : "<th>Compare</th>");
    for (size_t i = 0; i < group->count; i++)
        add_run(&group->runs[i], page, out);
    rig_buf_add_text(out, "</tbody></table></div></details>\n");
}

/* The runs that are under way, with their progress. */
static void add_running(const struct rig_run_list *list, const struct page *page, struct rig_buf *out)
{
    bool is_first = true;
    for (size_t i = 0; i < list->count; i++) {
        const struct rig_stored_run *run = &list->runs[i];
        if (run->state != RIG_STORED_RUNNING)
            continue;
        rig_tell(out, "%s<tr><td>%h</td><td>",
                 is_first ? "<h2>Running</h2>\n<div class=\"wide\"><table class=\"runs\" id=\"running\"><tbody>\n" : "",
                 run->name);
        add_link(run, page, out);
        rig_buf_add_text(out, "</td><td>");
        page->live->say_progress(page->live->context, run, out);
        rig_buf_add_text(out, "</td></tr>\n");
        is_first = false;
    }
    rig_buf_add_text(out, is_first ? "" : "</tbody></table></div>\n");
}

static void begin_page(const struct page *page, struct rig_buf *out)
{
    if (page->live == NULL)
        rig_plain_page_begin(out, "Runs");
    else
        rig_plain_page_begin_live(out, "Runs", page->live->script);
}

void rig_index_page_write(const struct rig_run_list *list, const struct rig_news *news, const char *base,
                          const struct rig_index_live *live, struct rig_buf *out)
{
    const struct page page = {.base = base, .live = live};
    uint64_t bytes = 0, refuted = 0;
    for (size_t i = 0; i < list->count; i++) {
        bytes += list->runs[i].is_cell ? 0 : list->runs[i].bytes;
        refuted += list->runs[i].state == RIG_STORED_REFUTED;
    }
    begin_page(&page, out);
    rig_tell(out,
             "<header class=\"banner %s\"><h1>%d run%p, %d with an anomaly</h1><p>%b</p><p class=\"dim\">rig "
             "%s</p></header>\n<p class=\"dim\">Anomalies are those that a requested level forbids, in acknowledged "
             "transactions of the load. Without any, their share is below the number given, at 95 %% confidence; else "
             "it is in the interval, if they come independently of each other.</p>\n",
             refuted > 0 ? "bad" : "good", list->count, list->count, refuted, bytes, rig_version());
    if (live != NULL)
        add_running(list, &page, out);
    if (news != NULL)
        rig_news_page(news, base, out);
    for (size_t first = 0, end; first < list->count; first = end) {
        end = first + 1;
        while (end < list->count && strcmp(list->runs[end].name, list->runs[first].name) == 0)
            end++;
        const struct group group = {&list->runs[first], end - first};
        add_group(&group, &page, out);
    }
    rig_plain_page_end(out);
}
