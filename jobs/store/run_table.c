#include "jobs/store/run_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/printable.h"
#include "base/statistics.h"
#include "report/words.h"
#include "report/tell.h"

enum { COLUMNS = 9, CELL_BYTES = 128 };

static const char *const headings[COLUMNS] = {"NAME",   "TIME",         "VERDICT",   "LEVELS", "DRIVER",
                                              "SERVER", "ACKNOWLEDGED", "ANOMALIES", "SIZE"};
static const bool is_number[COLUMNS] = {false, false, false, false, false, false, true, true, true};
/* Longer texts are cut in the table; `show` has them whole. */
static const unsigned widths_most[COLUMNS] = {32, 30, 10, 30, 10, 24, 14, 18, 10};

struct row {
    char cells[COLUMNS][CELL_BYTES];
};

static void add_printable(struct rig_buf *out, const char *text)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%s", text);
    rig_printable_line(line);
    rig_buf_add_text(out, line);
}

void rig_run_table_name(const struct rig_stored_run *run, struct rig_buf *out)
{
    add_printable(out, run->name);
    if (run->name[0] != '\0')
        rig_buf_add_char(out, '/');
    add_printable(out, run->time);
}

void rig_run_table_address(const char *text, struct rig_buf *out)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (isalnum(c) || strchr("-._~/", c) != NULL)
            rig_buf_add_char(out, (char)c);
        else
            rig_buf_printf(out, "%%%02X", c);
    }
}

void rig_run_table_link(const struct rig_stored_run *run, const char *base, const char *text, struct rig_buf *out)
{
    const bool is_scenario = run->is_cell && run->requested[0] == '\0';
    const bool has_report = run->is_matrix || is_scenario || rig_stored_run_is_judged(run);
    if (has_report) {
        rig_buf_add_text(out, "<a href=\"");
        rig_run_table_address(base, out);
        rig_run_table_address(run->folder, out);
        rig_buf_add_text(out, run->is_matrix ? "/matrix.html\">" : is_scenario ? "/output.txt\">" : "/report.html\">");
    }
    rig_tell(out, "%h%s", text, has_report ? "</a>" : "");
}

bool rig_run_table_has_verdict(const struct rig_stored_run *run)
{
    return run->state <= RIG_STORED_FAILED && !run->is_reproduction && !run->is_matrix;
}

void rig_run_table_anomalies(const struct rig_stored_run *run, struct rig_buf *out)
{
    if (run->anomalies > 0 && !run->is_counted)
        rig_buf_add_text(out, "at least ");
    rig_words_count(out, run->anomalies);
}

static void take(struct rig_buf *text, char cell[CELL_BYTES])
{
    (void)snprintf(cell, CELL_BYTES, "%s", rig_buf_text(text));
    rig_buf_clear(text);
}

/* Cut at a character, with a sign. */
static void cut(char cell[CELL_BYTES], unsigned most)
{
    unsigned shown = 0;
    for (size_t i = 0; cell[i] != '\0'; i++) {
        if (((unsigned char)cell[i] & 0xC0) == 0x80)
            continue;
        if (++shown < most || cell[i + 1] == '\0')
            continue;
        if (i + 4 < CELL_BYTES)
            memcpy(cell + i, "\u2026", 4);
        return;
    }
}

static unsigned width_of(const char *cell)
{
    unsigned width = 0;
    for (; *cell != '\0'; cell++)
        width += ((unsigned char)*cell & 0xC0) != 0x80;
    return width;
}

static void fill(const struct rig_stored_run *run, struct row *row)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    add_printable(&text, run->name);
    take(&text, row->cells[0]);
    add_printable(&text, run->time);
    take(&text, row->cells[1]);
    rig_buf_add_text(&text, rig_stored_state_words[run->state]);
    take(&text, row->cells[2]);
    rig_buf_add_text(&text, run->requested);
    take(&text, row->cells[3]);
    rig_buf_add_text(&text, run->driver);
    take(&text, row->cells[4]);
    rig_buf_add_text(&text, run->server);
    take(&text, row->cells[5]);
    if (rig_run_table_has_verdict(run))
        rig_words_count(&text, run->acknowledged);
    take(&text, row->cells[6]);
    if (rig_run_table_has_verdict(run))
        rig_run_table_anomalies(run, &text);
    take(&text, row->cells[7]);
    rig_words_size(&text, run->bytes);
    take(&text, row->cells[8]);
    for (unsigned i = 0; i < COLUMNS; i++)
        cut(row->cells[i], widths_most[i]);
    rig_buf_done(&text);
}

/* Columns that a table has on a screen, and their widths. */
struct fitted {
    unsigned widths[COLUMNS];
    bool is_shown[COLUMNS];
    unsigned left_out;
};

static unsigned whole_width(const struct fitted *fitted)
{
    unsigned width = 0;
    for (unsigned column = 0; column < COLUMNS; column++)
        width += fitted->is_shown[column] ? fitted->widths[column] + (width == 0 ? 0 : 2) : 0;
    return width;
}

/* Leaves out columns until a row has at most `most` characters, then shortens names; 0: no limit. */
static void fit(struct fitted *fitted, unsigned most)
{
    enum { NAME = 0, NAME_LEAST = 12 };
    static const unsigned least_needed[] = {8, 5, 4, 6, 3}; /* size, server, driver, acknowledged, levels */
    for (unsigned column = 0; column < COLUMNS; column++)
        fitted->is_shown[column] = true;
    fitted->left_out = 0;
    for (unsigned i = 0; most > 0 && i < sizeof least_needed / sizeof least_needed[0]; i++) {
        if (whole_width(fitted) <= most)
            return;
        fitted->is_shown[least_needed[i]] = false;
        fitted->left_out++;
    }
    while (most > 0 && whole_width(fitted) > most && fitted->widths[NAME] > NAME_LEAST)
        fitted->widths[NAME]--;
}

static void add_row(struct row *row, const struct fitted *fitted, struct rig_buf *out)
{
    unsigned last = COLUMNS - 1;
    while (!fitted->is_shown[last])
        last--;
    for (unsigned column = 0; column <= last; column++) {
        if (!fitted->is_shown[column])
            continue;
        cut(row->cells[column], fitted->widths[column]);
        const int pad = (int)(fitted->widths[column] - width_of(row->cells[column]));
        if (is_number[column])
            rig_buf_printf(out, "%*s", pad, "");
        rig_buf_add_text(out, row->cells[column]);
        if (!is_number[column] && column < last)
            rig_buf_printf(out, "%*s", pad, "");
        rig_buf_add_text(out, column == last ? "\n" : "  ");
    }
}

static void add_sums(const struct rig_run_list *list, struct rig_buf *out)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        bytes += list->runs[i].is_cell ? 0 : list->runs[i].bytes; /* they are in those of the matrix */
    rig_tell(out, "%n run%p, %b", list->count, list->count, bytes);
    for (unsigned state = RIG_STORED_RUNNING; state < RIG_STORED_STATE_COUNT; state++) {
        uint64_t count = 0;
        for (size_t i = 0; i < list->count; i++)
            count += list->runs[i].state == (enum rig_stored_state)state;
        if (count > 0)
            rig_buf_printf(out, "; %" PRIu64 " %s", count, rig_stored_state_words[state]);
    }
    rig_buf_add_char(out, '\n');
}

static void add_left_out(const struct fitted *fitted, struct rig_buf *out)
{
    const char *before = "on a wider terminal also: ";
    for (unsigned column = 0; column < COLUMNS; column++) {
        if (fitted->is_shown[column])
            continue;
        rig_buf_printf(out, "%s%s", before, headings[column]);
        before = ", ";
    }
    if (fitted->left_out > 0)
        rig_buf_add_char(out, '\n');
}

void rig_run_table_text(const struct rig_run_list *list, unsigned columns, struct rig_buf *out)
{
    struct fitted fitted;
    struct row row;
    for (unsigned column = 0; column < COLUMNS; column++)
        fitted.widths[column] = width_of(headings[column]);
    for (size_t i = 0; i < list->count; i++) {
        fill(&list->runs[i], &row);
        for (unsigned column = 0; column < COLUMNS; column++) {
            const unsigned width = width_of(row.cells[column]);
            fitted.widths[column] = width > fitted.widths[column] ? width : fitted.widths[column];
        }
    }
    fit(&fitted, columns);
    for (unsigned column = 0; column < COLUMNS; column++)
        (void)snprintf(row.cells[column], CELL_BYTES, "%s", headings[column]);
    if (list->count > 0)
        add_row(&row, &fitted, out);
    for (size_t i = 0; i < list->count; i++) {
        fill(&list->runs[i], &row);
        add_row(&row, &fitted, out);
    }
    add_sums(list, out);
    if (list->count > 0)
        add_left_out(&fitted, out);
}

/* ---- JSON ---- */

static void add_latencies(struct rig_json_writer *json, const struct rig_stored_run *run)
{
    rig_json_begin_array(json, "latencies");
    for (uint32_t i = 0; i < run->latency_count; i++)
        rig_json_object(json, NULL, "name: %s, count: %d, p50_ns: %d, p99_ns: %d, p999_ns: %d", run->latencies[i].name,
                        run->latencies[i].count, run->latencies[i].p50_ns, run->latencies[i].p99_ns,
                        run->latencies[i].p999_ns);
    rig_json_end(json);
}

void rig_run_table_json_run(struct rig_json_writer *json, const char *name, const struct rig_stored_run *run)
{
    rig_json_begin_object(json, name);
    rig_json_members(json, "name: %s, time: %s, state: %s", run->name, run->time, rig_stored_state_words[run->state]);
    if (run->why[0] != '\0')
        rig_json_string(json, "why", run->why);
    rig_json_members(json, "folder: %s, matrix: %b, cell: %b", run->folder, run->is_matrix, run->is_cell);
    rig_json_members(json, "marked: %b, protected: %b, bytes: %d", run->has_mark, run->is_protected, run->bytes);
    if (run->is_reproduction)
        rig_json_string(json, "reproduction_of", run->requested);
    if (rig_run_table_has_verdict(run)) {
        rig_json_members(json,
                         "requested: %s, broken: %s, driver: %s, server: %s, isolation: %s, seed: %s, rig: %s, "
                         "acknowledged: %d, unknown: %d, anomalies: %d, exact: %b",
                         run->requested, run->broken, run->driver, run->server, run->isolation, run->seed, run->version,
                         run->acknowledged, run->unknown, run->anomalies, run->is_counted);
        rig_json_members(json, "load_s: %f, rate: %f", run->load_s, rig_stored_run_rate(run));
        add_latencies(json, run);
    }
    rig_json_end(json);
}

void rig_run_table_json(const struct rig_run_list *list, struct rig_buf *out)
{
    struct rig_json_writer json;
    uint64_t bytes = 0;
    rig_json_init_indented(&json, out, 1, 2);
    rig_json_begin_object(&json, NULL);
    rig_json_begin_array(&json, "runs");
    for (size_t i = 0; i < list->count; i++) {
        rig_run_table_json_run(&json, NULL, &list->runs[i]);
        bytes += list->runs[i].is_cell ? 0 : list->runs[i].bytes;
    }
    rig_json_end(&json);
    rig_json_int(&json, "bytes", (int64_t)bytes);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}

/* ---- one run ---- */

/* A share in a million, with two digits; `up`: rounded up. */
static void add_million(double share, bool up, struct rig_buf *out)
{
    const double million = share * 1e6;
    if (million <= 0) {
        rig_buf_add_char(out, '0');
        return;
    }
    const double unit = pow(10, floor(log10(million)) - 1);
    const double rounded = (up ? ceil(million / unit - 1e-6) : floor(million / unit + 1e-6)) * unit;
    if (rounded >= 10)
        rig_words_count(out, (uint64_t)llround(rounded));
    else
        rig_buf_printf(out, "%.2g", rounded);
}

void rig_run_table_power(uint64_t anomalies, bool is_exact, uint64_t acknowledged, struct rig_buf *out)
{
    rig_tell(out, "%s%n in ", is_exact ? "" : "at least ", anomalies);
    rig_words_acknowledged(out, acknowledged);
    if (acknowledged == 0)
        return;
    if (anomalies == 0) {
        rig_buf_add_text(out, ": below ");
        add_million(rig_interval_most_of_none(acknowledged), true, out);
    } else {
        const struct rig_interval interval = rig_interval_of_count((double)anomalies);
        rig_buf_add_text(out, is_exact ? ": " : ": at least ");
        add_million(interval.least / (double)acknowledged, false, out);
        if (is_exact)
            rig_buf_add_text(out, " to ");
        if (is_exact)
            add_million(interval.most / (double)acknowledged, true, out);
    }
    rig_buf_add_text(out, " a million at 95 %");
}

static void add_fact(struct rig_buf *out, const char *name, const char *text)
{
    if (text[0] != '\0')
        rig_buf_printf(out, "  %-14s%s\n", name, text);
}

static void add_found(const struct rig_stored_run *run, struct rig_buf *out)
{
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        if (run->found[one] == 0)
            continue;
        rig_buf_printf(out, "  %-14s%s ", "found", rig_anomaly_info((enum rig_anomaly)one)->name);
        rig_tell(out, "%n\n", run->found[one]);
    }
}

static void add_load(const struct rig_stored_run *run, struct rig_buf *out)
{
    rig_buf_printf(out, "  %-14s", "evidence");
    rig_run_table_power(run->anomalies, run->is_counted, run->acknowledged, out);
    rig_buf_printf(out, "\n  %-14s%.0f acknowledged a second, %.1f s of load\n", "throughput", rig_stored_run_rate(run),
                   run->load_s);
    for (uint32_t i = 0; i < run->latency_count; i++) {
        const struct rig_stored_latency *latency = &run->latencies[i];
        rig_buf_printf(out, "  %-14s%s: median ", "latency", latency->name);
        rig_tell(out, "%t, 99 %% %t, 99.9 %% %t\n", latency->p50_ns, latency->p99_ns, latency->p999_ns);
    }
}

void rig_run_table_show(const struct rig_stored_run *run, struct rig_buf *out)
{
    rig_run_table_name(run, out);
    rig_tell(out, ": %s%s%s\n", rig_stored_state_words[run->state], run->why[0] == '\0' ? "" : ": ", run->why);
    add_fact(out, run->is_reproduction ? "anomaly" : "requested", run->requested);
    add_fact(out, "broken", run->broken);
    add_fact(out, "driver", run->driver);
    add_fact(out, "server", run->server);
    add_fact(out, "isolation", run->isolation);
    add_fact(out, "seed", run->seed);
    add_fact(out, "rig", run->version);
    if (rig_run_table_has_verdict(run))
        add_load(run, out);
    add_found(run, out);
    rig_buf_printf(out, "  %-14s", "size");
    rig_tell(out, "%b%s%s\n", run->bytes, run->is_protected ? "; protected by its file KEEP" : "",
             run->has_mark || run->state == RIG_STORED_FOREIGN ? ""
                                                               : "; without a mark: `rig store` does not remove it");
}
