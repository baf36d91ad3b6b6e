#include "jobs/store/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/statistics.h"
#include "jobs/store/run_table.h"
#include "report/plain_page.h"
#include "report/tell.h"
#include "report/words.h"

enum { PARTS_MOST = 30, NAME_WIDTH = 28, WIDTH = 18 };

static const double significant = 0.05;

static const struct {
    const char *name, *words;
    bool is_duration;
} measures[RIG_MEASURE_COUNT] = {
#define MEASURE_ROW(id, name, words, is_duration) {name, words, is_duration},
    RIG_MEASURE_TABLE(MEASURE_ROW)
#undef MEASURE_ROW
};

/* ---- the parts of a load ---- */

struct parts {
    double rate[PARTS_MOST], median[PARTS_MOST], tail[PARTS_MOST];
    uint32_t count, count_answering; /* parts; those with an answer, which have latencies */
};

/* Latencies of a part: the mean over its slots, each weighed by its transactions. */
static void cut_load(const struct rig_stored_run *run, struct parts *parts)
{
    *parts = (struct parts){.count = run->slot_count < PARTS_MOST ? run->slot_count : PARTS_MOST};
    for (uint32_t part = 0; part < parts->count; part++) {
        const uint32_t first = (uint32_t)((uint64_t)run->slot_count * part / parts->count),
                       end = (uint32_t)((uint64_t)run->slot_count * (part + 1) / parts->count);
        double ok = 0, median = 0, tail = 0;
        for (uint32_t i = first; i < end; i++) {
            const double weight = (double)run->slots[i].ok;
            ok += weight;
            median += weight * (double)run->slots[i].p50_ns;
            tail += weight * (double)run->slots[i].p99_ns;
        }
        parts->rate[part] = ok * 1e9 / ((double)run->slot_ns * (end - first));
        if (ok <= 0)
            continue;
        parts->median[parts->count_answering] = median / ok;
        parts->tail[parts->count_answering++] = tail / ok;
    }
}

static double middle_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return count == 0 ? 0 : sum / count;
}

static struct rig_compared of_samples(const double *a, uint32_t count_a, const double *b, uint32_t count_b)
{
    return (struct rig_compared){.a = middle_of(a, count_a),
                                 .b = middle_of(b, count_b),
                                 .p = count_a < 4 || count_b < 4 ? -1 : rig_two_samples(a, count_a, b, count_b)};
}

static struct rig_compared of_counts(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b)
{
    const double exposed_a = (double)of_a, exposed_b = (double)of_b;
    return (struct rig_compared){.a = of_a == 0 ? 0 : (double)a * 1e6 / exposed_a,
                                 .b = of_b == 0 ? 0 : (double)b * 1e6 / exposed_b,
                                 .p = of_a == 0 || of_b == 0 ? -1 : rig_two_counts(a, exposed_a, b, exposed_b)};
}

void rig_compare_runs(const struct rig_stored_run *a, const struct rig_stored_run *b,
                      struct rig_run_comparison *comparison)
{
    struct parts of_a, of_b;
    double p[RIG_MEASURE_COUNT];
    cut_load(a, &of_a);
    cut_load(b, &of_b);
    *comparison = (struct rig_run_comparison){.a = a, .b = b};
    struct rig_compared *rows = comparison->measures;
    rows[RIG_MEASURE_ANOMALIES] = of_counts(a->anomalies, a->acknowledged, b->anomalies, b->acknowledged);
    rows[RIG_MEASURE_UNKNOWN] =
        of_counts(a->unknown, a->acknowledged + a->unknown, b->unknown, b->acknowledged + b->unknown);
    rows[RIG_MEASURE_THROUGHPUT] = of_samples(of_a.rate, of_a.count, of_b.rate, of_b.count);
    rows[RIG_MEASURE_MEDIAN] = of_samples(of_a.median, of_a.count_answering, of_b.median, of_b.count_answering);
    rows[RIG_MEASURE_TAIL] = of_samples(of_a.tail, of_a.count_answering, of_b.tail, of_b.count_answering);
    /* Where the requests differ, the anomalies are not the same ones; a lower bound is no count. */
    if (strcmp(a->requested, b->requested) != 0 || !a->is_counted || !b->is_counted)
        rows[RIG_MEASURE_ANOMALIES].p = -1;
    for (unsigned i = 0; i < RIG_MEASURE_COUNT; i++)
        p[i] = rows[i].p;
    rig_two_samples_adjust(p, RIG_MEASURE_COUNT);
    for (unsigned i = 0; i < RIG_MEASURE_COUNT; i++)
        rows[i].p = p[i];
}

/* ---- text ---- */

static void add_line(struct rig_buf *out, const char *name, const char *a, const char *b)
{
    const char *mark = strcmp(a, b) == 0 ? "" : "  *";
    if (strlen(a) <= WIDTH && strlen(b) <= WIDTH)
        rig_buf_printf(out, "%-*s %-*s  %s%s\n", NAME_WIDTH, name, WIDTH, a, b, mark);
    else
        rig_buf_printf(out, "%s%s\n    A: %s\n    B: %s\n", name, mark, a, b);
}

static void add_value(bool is_duration, double value, struct rig_buf *out)
{
    if (is_duration)
        rig_words_duration(out, (int64_t)value);
    else
        rig_buf_printf(out, value > 0 && value < 100 ? "%.3g" : "%.0f", value);
}

/* "(+3.1 %)  * p = 0.0031": after the value of B. */
static void add_difference(const struct rig_compared *row, struct rig_buf *out)
{
    if (row->a > 0 && row->b > 0)
        rig_buf_printf(out, "  (%+.1f %%)", (row->b / row->a - 1) * 100);
    if (row->p < 0)
        rig_buf_add_text(out, "  not tested");
    else if (row->p < significant)
        rig_buf_printf(out, row->p < 0.0001 ? "  * p < 0.0001" : "  * p = %.4f", row->p);
    else
        rig_buf_printf(out, "  p = %.2f", row->p);
}

static void add_measure(const struct rig_compared *row, unsigned measure, struct rig_buf *out)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    add_value(measures[measure].is_duration, row->a, &text);
    rig_buf_printf(out, "%-*s %-*s  ", NAME_WIDTH, measures[measure].words, WIDTH, rig_buf_text(&text));
    rig_buf_done(&text);
    add_value(measures[measure].is_duration, row->b, out);
    add_difference(row, out);
    rig_buf_add_char(out, '\n');
}

static void add_anomalies(const struct rig_run_comparison *comparison, struct rig_buf *out)
{
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        const uint64_t a = comparison->a->found[one], b = comparison->b->found[one];
        struct rig_buf left, right;
        if (a == 0 && b == 0)
            continue;
        rig_buf_init(&left, 0);
        rig_buf_init(&right, 0);
        rig_words_count(&left, a);
        rig_words_count(&right, b);
        rig_buf_printf(out, "  %-*s %-*s  %s\n", NAME_WIDTH - 2, rig_anomaly_info((enum rig_anomaly)one)->name, WIDTH,
                       rig_buf_text(&left), rig_buf_text(&right));
        rig_buf_done(&left);
        rig_buf_done(&right);
    }
}

static const char method[] = "*: differs; of numbers, more than chance explains. Counts by the exact\n"
                             "conditional test of two Poisson counts; throughput and latency by the rank test\n"
                             "of Mann and Whitney on at most 30 equal parts of each load; p values with Holm's\n"
                             "correction, significant below 0.05. Anomalies with one cause count often: repeat\n"
                             "the runs before you rely on a difference of their counts.\n";

void rig_compare_text(const struct rig_run_comparison *comparison, struct rig_buf *out)
{
    const struct rig_stored_run *a = comparison->a, *b = comparison->b;
    struct rig_buf left, right;
    rig_buf_init(&left, 0);
    rig_buf_init(&right, 0);
    rig_run_table_name(a, &left);
    rig_run_table_name(b, &right);
    rig_buf_printf(out, "A: %s\nB: %s\n\n%-*s %-*s  B\n", rig_buf_text(&left), rig_buf_text(&right), NAME_WIDTH, "",
                   WIDTH, "A");
    rig_buf_done(&left);
    rig_buf_done(&right);
    add_line(out, "verdict", rig_stored_state_words[a->state], rig_stored_state_words[b->state]);
    add_line(out, "requested", a->requested, b->requested);
    add_line(out, "broken", a->broken[0] == '\0' ? "none" : a->broken, b->broken[0] == '\0' ? "none" : b->broken);
    add_line(out, "server", a->server, b->server);
    add_line(out, "isolation", a->isolation, b->isolation);
    add_line(out, "rig", a->version, b->version);
    for (unsigned i = 0; i < RIG_MEASURE_COUNT; i++)
        add_measure(&comparison->measures[i], i, out);
    add_anomalies(comparison, out);
    rig_buf_printf(out, "\n%s", method);
    if (!a->is_counted || !b->is_counted)
        rig_buf_add_text(out, "Some counts of anomalies are lower bounds.\n");
}

/* ---- page ---- */

static void add_row(struct rig_buf *out, const char *name, const char *a, const char *b)
{
    rig_tell(out, "<tr><th>%h</th><td>%h</td><td>%h%s</td></tr>\n", name, a, b, strcmp(a, b) == 0 ? "" : "  *");
}

static void add_measure_row(const struct rig_compared *row, unsigned measure, struct rig_buf *out)
{
    struct rig_buf a, b, difference;
    rig_buf_init(&a, 0);
    rig_buf_init(&b, 0);
    rig_buf_init(&difference, 0);
    add_value(measures[measure].is_duration, row->a, &a);
    add_value(measures[measure].is_duration, row->b, &b);
    add_difference(row, &difference);
    rig_tell(out, "<tr><th>%h</th><td>%h</td><td>%h%h</td></tr>\n", measures[measure].words, rig_buf_text(&a),
             rig_buf_text(&b), rig_buf_text(&difference));
    rig_buf_done(&a);
    rig_buf_done(&b);
    rig_buf_done(&difference);
}

static void add_anomaly_rows(const struct rig_run_comparison *comparison, struct rig_buf *out)
{
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        const uint64_t a = comparison->a->found[one], b = comparison->b->found[one];
        if (a > 0 || b > 0)
            rig_tell(out, "<tr><th>%h</th><td>%n</td><td>%n</td></tr>\n", rig_anomaly_info((enum rig_anomaly)one)->name,
                     a, b);
    }
}

static void add_heading(const struct rig_stored_run *run, const char *base, struct rig_buf *out)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_run_table_name(run, &name);
    rig_buf_add_text(out, "<th>");
    rig_run_table_link(run, base, rig_buf_text(&name), out);
    rig_buf_add_text(out, "</th>");
    rig_buf_done(&name);
}

void rig_compare_page(const struct rig_run_comparison *comparison, const char *base, struct rig_buf *out)
{
    const struct rig_stored_run *a = comparison->a, *b = comparison->b;
    rig_plain_page_begin(out, "Two runs");
    rig_tell(out,
             "<p><a href=\"%h\">All runs</a></p>\n<h1>Two runs</h1>\n<div class=\"wide\"><table class=\"runs "
             "pair\">",
             base);
    rig_buf_add_text(out, "<thead><tr><th></th>");
    add_heading(a, base, out);
    add_heading(b, base, out);
    rig_buf_add_text(out, "</tr></thead><tbody>\n");
    add_row(out, "verdict", rig_stored_state_words[a->state], rig_stored_state_words[b->state]);
    add_row(out, "requested", a->requested, b->requested);
    add_row(out, "broken", a->broken[0] == '\0' ? "none" : a->broken, b->broken[0] == '\0' ? "none" : b->broken);
    add_row(out, "server", a->server, b->server);
    add_row(out, "isolation", a->isolation, b->isolation);
    add_row(out, "rig", a->version, b->version);
    for (unsigned i = 0; i < RIG_MEASURE_COUNT; i++)
        add_measure_row(&comparison->measures[i], i, out);
    add_anomaly_rows(comparison, out);
    rig_tell(out, "</tbody></table></div>\n<p class=\"dim\">%h%s</p>\n", method,
             a->is_counted && b->is_counted ? "" : " Some counts of anomalies are lower bounds.");
    rig_plain_page_end(out);
}

void rig_compare_json(const struct rig_run_comparison *comparison, struct rig_buf *out)
{
    struct rig_json_writer json;
    rig_json_init_indented(&json, out, 1, 2);
    rig_json_begin_object(&json, NULL);
    rig_run_table_json_run(&json, "a", comparison->a);
    rig_run_table_json_run(&json, "b", comparison->b);
    rig_json_begin_object(&json, "measures");
    for (unsigned i = 0; i < RIG_MEASURE_COUNT; i++) {
        const struct rig_compared *row = &comparison->measures[i];
        char p[32];
        (void)snprintf(p, sizeof p, "%.6g", row->p);
        rig_json_begin_object(&json, measures[i].name);
        rig_json_members(&json, "a: %f, b: %f", row->a, row->b);
        rig_json_plain(&json, "p", row->p < 0 ? "null" : p);
        rig_json_bool(&json, "significant", row->p >= 0 && row->p < significant);
        rig_json_end(&json);
    }
    rig_json_end(&json);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}
