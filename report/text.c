/*
 * The text report, for a terminal or a file: what can be quoted first, then the verdict, the levels, the anomalies with
 * their witnesses, the run and the cost.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "base/printable.h"
#include "report/certificate_report.h"
#include "report/claims_report.h"
#include "report/own_levels.h"
#include "report/conditions.h"
#include "report/server_crashes.h"
#include "report/durability_report.h"
#include "report/episodes.h"
#include "report/happened.h"
#include "report/known_report.h"
#include "report/report.h"
#include "report/run_facts.h"
#include "report/sent.h"
#include "report/server_log.h"
#include "report/tell.h"
#include "report/text_parts.h"
#include "report/words.h"

enum {
    LABEL_COLUMNS = 22, /* width of the left column */
    COUNT_COLUMNS = 12, /* least width of the column of counts: "at least 123" */
    WITNESSES_SHOWN = 3,
};

static void paint_line(const struct rig_text_page *page, const char *colour, const char *text)
{
    rig_text_paint(page, colour, text);
    rig_buf_add_char(page->out, '\n');
}

static void heading(const struct rig_text_page *page, const char *text)
{
    rig_buf_add_char(page->out, '\n');
    paint_line(page, RIG_TEXT_BOLD, text);
}

/* Starts a line of two columns: "  label          ". */
static void label(const struct rig_text_page *page, const char *text)
{
    rig_buf_printf(page->out, "  %-*s", LABEL_COLUMNS - 2, text);
}

static void wrapped_line(const struct rig_text_page *page, const char *name, const char *text)
{
    label(page, name);
    rig_text_wrapped(page, text, LABEL_COLUMNS);
}

static void levels_line(const struct rig_text_page *page, const char *name, uint64_t set)
{
    struct rig_buf names;
    rig_buf_init(&names, 0);
    rig_words_levels(&names, set);
    wrapped_line(page, name, rig_buf_text(&names));
    rig_buf_done(&names);
}

static void add_warnings(const struct rig_text_page *page)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    rig_words_warnings(&lines, page->verdict);
    if (lines.size > 0)
        rig_text_paint(page, RIG_TEXT_YELLOW, rig_buf_text(&lines));
    rig_buf_done(&lines);
}

/* First the event (happened.h), then the levels that the history keeps and breaks. */
static void add_summary(const struct rig_text_page *page)
{
    const bool told = rig_text_happened(page);
    rig_text_paragraph(page, told ? "" : RIG_TEXT_BOLD, page->verdict->summary);
}

/* An undecided verdict begins with the reason; any other with what the history shows. */
static void add_verdict(const struct rig_text_page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const bool reason_first = verdict->valid == RIG_VALID_UNKNOWN;
    const char *gap = page->brief ? "" : "\n";
    add_warnings(page);
    if (reason_first)
        rig_text_decision(page);
    if (verdict->summary != NULL) {
        if (reason_first)
            rig_buf_add_text(page->out, gap);
        add_summary(page);
        rig_buf_add_text(page->out, gap);
    }
    if (!reason_first)
        rig_text_decision(page);
}

static void add_requested(const struct rig_text_page *page)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_requested(&line, page->verdict);
    wrapped_line(page, "requested", rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_words_workload(&line, page->verdict);
    wrapped_line(page, "workload", rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_words_initial(&line, page->verdict);
    if (line.size > 0)
        wrapped_line(page, "initial value", rig_buf_text(&line));
    rig_buf_done(&line);
}

/* The reasons of the levels in `set`, one paragraph a level. */
static void add_reasons(const struct rig_text_page *page, uint64_t set)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const char *reason = page->verdict->levels[level].reason;
        if ((set & RIG_LEVEL_BIT(level)) == 0 || reason == NULL)
            continue;
        struct rig_buf line;
        rig_buf_init(&line, 0);
        rig_buf_printf(&line, "%s: %s", rig_level_info((enum rig_level)level)->name, reason);
        rig_buf_add_text(page->out, "    ");
        rig_text_wrapped(page, rig_buf_text(&line), 6);
        rig_buf_done(&line);
    }
}

static void add_levels(const struct rig_text_page *page)
{
    static const struct {
        enum rig_fate fate;
        const char *name, *frontier, *colour;
    } rows[] = {{RIG_FATE_REFUTED, "refuted", "weakest refuted", RIG_TEXT_RED},
                {RIG_FATE_HELD, "held", "strongest held", RIG_TEXT_GREEN},
                {RIG_FATE_NOT_REFUTED, "not refuted", "", RIG_TEXT_YELLOW}};
    heading(page, "Isolation levels");
    uint64_t reasons = page->verdict->requested_levels;
    for (size_t i = 0; i < 2; i++) {
        uint64_t set = rig_words_levels_of(page->verdict, rows[i].fate);
        uint64_t frontier = i == 0 ? rig_levels_weakest(set) : rig_levels_strongest(set);
        levels_line(page, rows[i].frontier, frontier);
        reasons |= frontier;
    }
    rig_buf_add_char(page->out, '\n');
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t set = rig_words_levels_of(page->verdict, rows[i].fate);
        if (page->colour)
            rig_buf_add_text(page->out, rows[i].colour);
        label(page, rows[i].name);
        if (page->colour)
            rig_buf_add_text(page->out, RIG_TEXT_PLAIN);
        struct rig_buf names;
        rig_buf_init(&names, 0);
        rig_words_levels(&names, rig_words_levels_listed(page->verdict, set));
        rig_text_wrapped(page, rig_buf_text(&names), LABEL_COLUMNS);
        rig_buf_done(&names);
    }
    rig_buf_add_text(page->out, "\n  why\n");
    add_reasons(page, reasons);
}

static bool is_loss(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_LOST_APPEND || anomaly == RIG_ANOMALY_LOST_WRITE;
}

static void add_sql(const struct rig_text_page *page, const struct rig_witness *witness)
{
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_sent_witness_text(&sql, page->verdict->history, witness, "      ");
    if (sql.size > 0)
        rig_tell(page->out, "    the SQL that was sent:\n%s", rig_buf_text(&sql));
    rig_buf_done(&sql);
}

static void add_some_witnesses(const struct rig_text_page *page, enum rig_anomaly anomaly)
{
    const struct rig_finding *finding = &page->verdict->findings[anomaly];
    for (uint32_t i = 0; i < finding->witness_count && i < WITNESSES_SHOWN; i++) {
        rig_text_witness(page, &finding->witnesses[i], i + 1);
        add_sql(page, &finding->witnesses[i]);
    }
    if (finding->witness_count > WITNESSES_SHOWN)
        rig_tell(page->out, "\n  %s: %d more with a witness in the HTML and JSON reports%s.\n",
                 rig_anomaly_info(anomaly)->name, finding->witness_count - WITNESSES_SHOWN,
                 is_loss(anomaly) ? ", and all in lost.tsv" : "");
}

/*
 * The witnesses of the anomalies that were asked for or refute a level that those before them do not; the other
 * anomalies by name only. Lost appends and writes are always shown, and beside them the cycle of the read that missed
 * them.
 */
static void add_witnesses(const struct rig_text_page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    uint64_t refuted = 0;
    uint32_t fewest = UINT32_MAX; /* transactions of a witness shown so far */
    struct rig_buf names;
    rig_buf_init(&names, 0);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        if (finding->witness_count == 0)
            continue;
        bool asked = rig_words_answers_request(verdict, (enum rig_anomaly)anomaly);
        const struct rig_witness *first = &finding->witnesses[0];
        if (is_loss((enum rig_anomaly)anomaly)) {
            add_some_witnesses(page, (enum rig_anomaly)anomaly);
        } else if (asked || (first->refutes & ~refuted) != 0 || first->txn_count < fewest) {
            refuted |= first->refutes;
            fewest = first->txn_count < fewest ? first->txn_count : fewest;
            add_some_witnesses(page, (enum rig_anomaly)anomaly);
        } else {
            rig_buf_printf(&names, "%s%s", names.size > 0 ? ", " : "",
                           rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        }
    }
    if (names.size > 0) {
        struct rig_buf sentence;
        rig_buf_init(&sentence, 0);
        rig_buf_printf(&sentence,
                       "The witnesses of %s, which refute no further level, are in the HTML and JSON reports.",
                       rig_buf_text(&names));
        rig_buf_add_text(page->out, "\n  ");
        rig_text_wrapped(page, rig_buf_text(&sentence), 2);
        rig_buf_done(&sentence);
    }
    rig_buf_done(&names);
}

static size_t widest_count(const struct rig_finding *findings)
{
    size_t widest = COUNT_COLUMNS;
    struct rig_buf count;
    rig_buf_init(&count, 0);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        rig_buf_clear(&count);
        rig_words_found(&count, &findings[anomaly]);
        widest = count.size > widest ? count.size : widest;
    }
    rig_buf_done(&count);
    return widest;
}

static void add_findings(const struct rig_text_page *page)
{
    const struct rig_finding *findings = page->verdict->findings;
    const size_t count_columns = widest_count(findings);
    heading(page, "Anomalies");
    bool any = false;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (findings[anomaly].count == 0)
            continue;
        any = true;
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        struct rig_buf count;
        rig_buf_init(&count, 0);
        rig_words_found(&count, &findings[anomaly]);
        rig_buf_printf(page->out, "  %-27s %*s  ", info->name, (int)count_columns, rig_buf_text(&count));
        rig_buf_done(&count);
        rig_text_wrapped(page, info->definition, 2 + 27 + 1 + count_columns + 2);
    }
    if (!any)
        rig_buf_add_text(page->out, "  none found\n");
    add_witnesses(page);
}

static void add_elements(const struct rig_text_page *page)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    rig_words_elements(&lines, page->verdict);
    if (lines.size > 0)
        heading(page, "Elements");
    const char *line = rig_buf_text(&lines);
    for (size_t length; (length = strcspn(line, "\n")) > 0; line += length + 1) {
        struct rig_buf one;
        rig_buf_init(&one, 0);
        rig_buf_add(&one, line, length);
        rig_buf_add_text(page->out, "  ");
        rig_text_wrapped(page, rig_buf_text(&one), 4);
        rig_buf_done(&one);
    }
    rig_buf_done(&lines);
}

/* Warns of faults during which nothing was acknowledged: the database was not tested under them. */
static void warn_of_barren(const struct rig_text_page *page)
{
    for (size_t i = 0; i < page->episodes.groups.count; i++) {
        const struct rig_episode_group *group = &page->episodes.groups.at[i];
        if (!rig_episode_is_barren(&page->episodes.of.at[group->first]))
            continue;
        struct rig_buf line;
        rig_buf_init(&line, 0);
        rig_buf_add_text(&line, "warning: nothing was acknowledged under ");
        rig_episode_group_name(&line, &page->episodes, group);
        rig_buf_add_text(page->out, "  ");
        paint_line(page, RIG_TEXT_YELLOW, rig_buf_text(&line));
        rig_buf_done(&line);
    }
}

static void add_phases(const struct rig_text_page *page)
{
    if (page->episodes.phases.count == 0)
        return;
    heading(page, "Phases");
    for (size_t i = 0; i < page->episodes.phases.count; i++) {
        struct rig_buf line;
        rig_buf_init(&line, 0);
        rig_episode_phase_text(&line, &page->episodes, &page->episodes.phases.at[i]);
        rig_buf_add_text(page->out, "  ");
        rig_text_wrapped(page, rig_buf_text(&line), 6);
        rig_buf_done(&line);
    }
}

static void add_faults(const struct rig_text_page *page)
{
    const bool planned = page->run != NULL && page->run->planned_faults > 0;
    if (page->episodes.of.count == 0 && !planned)
        return;
    heading(page, "Faults");
    if (planned && !rig_episodes_had_effect(&page->episodes)) {
        rig_buf_add_text(page->out, "  ");
        paint_line(page, RIG_TEXT_YELLOW, "warning: none of the plan's faults took effect before the load ended");
    }
    for (size_t i = 0; i < page->episodes.groups.count; i++) {
        const struct rig_episode_group *group = &page->episodes.groups.at[i];
        const struct rig_episode *episode = &page->episodes.of.at[group->first];
        struct rig_buf line;
        rig_buf_init(&line, 0);
        rig_buf_printf(&line, "#%" PRIu32 " ", episode->injection);
        rig_episode_group_name(&line, &page->episodes, group);
        if (episode->counted)
            rig_buf_add_text(&line, group->count == 1 ? ": " : "; ");
        rig_episode_group_counts(&line, &page->episodes, group);
        rig_buf_printf(&line, "%s%s%s",
                       episode->text[0] == '\0' ? ""
                       : episode->failed        ? "; FAILED: "
                                                : "; ",
                       episode->text[0] == '\0' || group->count == 1 ? "" : "the first: ", episode->text);
        rig_buf_add_text(page->out, "  ");
        rig_text_wrapped(page, rig_buf_text(&line), 6);
        rig_buf_done(&line);
    }
    warn_of_barren(page);
}

/* A section's lines: indented ones as they are, others wrapped. */
static void add_lines(const struct rig_text_page *page, const struct rig_buf *lines)
{
    for (const char *line = rig_buf_text(lines), *end; *line != '\0'; line = end + (*end == '\n')) {
        const size_t indent = strspn(line, " ");
        struct rig_buf one;
        end = line + strcspn(line, "\n");
        rig_buf_init(&one, 0);
        rig_buf_add(&one, line + indent, (size_t)(end - line) - indent);
        if (one.size == 0 && *end == '\n' && end[1] == '\0') {
            rig_buf_done(&one);
            continue;
        }
        if (one.size > 0)
            rig_buf_printf(page->out, "%*s", (int)indent + 2, "");
        if (one.size > 0 && indent == 0)
            rig_text_wrapped(page, rig_buf_text(&one), 4);
        else
            rig_buf_printf(page->out, "%s\n", rig_buf_text(&one));
        rig_buf_done(&one);
    }
}

static void add_certificate(const struct rig_text_page *page)
{
    struct rig_buf lines;
    if (page->verdict->certified == NULL)
        return;
    heading(page, "Certificate");
    rig_buf_init(&lines, 0);
    rig_certificate_lines(&lines, page->verdict);
    rig_buf_add_char(&lines, '\n');
    rig_certificate_witnesses(&lines, page->verdict);
    add_lines(page, &lines);
    rig_buf_done(&lines);
}

static void add_claims(const struct rig_text_page *page)
{
    struct rig_buf lines;
    if (page->verdict->claims == NULL)
        return;
    heading(page, "The database's own order");
    rig_buf_init(&lines, 0);
    rig_claims_lines(&lines, page->verdict);
    add_lines(page, &lines);
    rig_buf_done(&lines);
}

static void add_own_levels(const struct rig_text_page *page)
{
    struct rig_buf lines;
    if (page->verdict->mixed_reason == NULL)
        return;
    heading(page, "Levels of transactions");
    rig_buf_init(&lines, 0);
    rig_own_levels_line(&lines, page->verdict);
    add_lines(page, &lines);
    rig_buf_done(&lines);
}

static void add_known(const struct rig_text_page *page)
{
    const struct rig_known_issues *known = page->verdict->known;
    struct rig_buf line;
    if (known == NULL)
        return;
    heading(page, "Known issues");
    rig_buf_init(&line, 0);
    for (uint32_t i = 0; i < known->count; i++) {
        rig_buf_clear(&line);
        rig_known_say(&line, &known->outcomes[i]);
        rig_buf_printf(page->out, "  %-20s ", known->outcomes[i].issue->name);
        rig_text_wrapped(page, rig_buf_text(&line), 23);
    }
    rig_buf_clear(&line);
    rig_known_conclude(&line, page->verdict);
    if (line.size > 0) {
        rig_buf_add_text(page->out, "  ");
        rig_text_wrapped(page, rig_buf_text(&line), 2);
    }
    rig_buf_done(&line);
}

static void add_conditions(const struct rig_text_page *page)
{
    const struct rig_effort *effort = &page->verdict->effort;
    if (effort->condition_count == 0)
        return;
    heading(page, "Conditions of the program");
    for (uint32_t i = 0; i < effort->condition_count; i++) {
        const struct rig_table_condition *condition = &effort->conditions[i];
        struct rig_buf lines;
        rig_buf_init(&lines, 0);
        rig_buf_printf(page->out, "  %-20s %-9s  ", condition->name, rig_condition_word(condition));
        rig_text_wrapped(page, condition->text, 34);
        rig_condition_lines(&lines, condition);
        for (const char *line = rig_buf_text(&lines), *end; *line != '\0'; line = end + (*end == '\n')) {
            end = line + strcspn(line, "\n");
            rig_buf_printf(page->out, "%34s%.*s\n", "", (int)(end - line), line);
        }
        rig_buf_done(&lines);
    }
}

static void add_durability(const struct rig_text_page *page)
{
    const struct rig_durability *durability = page->verdict->durability;
    struct rig_buf lines;
    if (durability == NULL)
        return;
    heading(page, "Durability");
    for (unsigned which = 0; which < RIG_PROMISE_COUNT; which++) {
        const struct rig_promise_result *result = &durability->promises[which];
        rig_buf_printf(page->out, "  %-21s  %-11s  ", rig_promise_names[which], rig_durability_word(result->fate));
        rig_text_wrapped(page, result->reason, 38);
    }
    rig_buf_init(&lines, 0);
    rig_durability_lines(&lines, page->verdict);
    add_lines(page, &lines);
    rig_buf_done(&lines);
}

static void add_crashes(const struct rig_text_page *page)
{
    const struct rig_effort *effort = &page->verdict->effort;
    if (effort->crash_count == 0)
        return;
    heading(page, "Server crashes");
    for (uint32_t i = 0; i < effort->crash_count; i++) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_crash_say(&text, &effort->crashes[i]);
        rig_buf_add_text(&text, "; its log ends: ");
        rig_buf_add_text(&text, effort->crashes[i].log_tail[0] == '\0' ? "(nothing)" : effort->crashes[i].log_tail);
        rig_buf_add_text(page->out, "  ");
        rig_text_wrapped(page, rig_buf_text(&text), 2);
        rig_buf_done(&text);
    }
}

static void add_latencies(const struct rig_text_page *page)
{
    const struct rig_report_run *run = page->run;
    bool any = false;
    for (uint32_t i = 0; i < run->latency_count; i++) {
        const struct rig_report_latency *latency = &run->latencies[i];
        if (latency->count == 0)
            continue;
        if (!any)
            rig_buf_printf(page->out, "\n  %-11s %9s %8s %8s %8s %8s %8s %8s\n", "latency", "count", "mean", "p50",
                           "p90", "p99", "p99.9", "max");
        any = true;
        struct rig_buf cell;
        rig_buf_init(&cell, 0);
        rig_words_count(&cell, latency->count);
        rig_buf_printf(page->out, "  %-11s %9s", latency->name, rig_buf_text(&cell));
        const int64_t values[] = {latency->mean_ns, latency->p50_ns,  latency->p90_ns,
                                  latency->p99_ns,  latency->p999_ns, latency->max_ns};
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            rig_buf_clear(&cell);
            rig_words_duration(&cell, values[j]);
            rig_buf_printf(page->out, " %8s", rig_buf_text(&cell));
        }
        rig_buf_add_char(page->out, '\n');
        rig_buf_done(&cell);
    }
}

/* So that texts stand below each other, whatever the codes are; at least as wide as PostgreSQL's. */
static size_t code_columns(const struct rig_report_run *run)
{
    size_t columns = 10;
    for (uint32_t i = 0; i < run->error_count; i++) {
        struct rig_buf code;
        rig_buf_init(&code, 0);
        rig_words_clean(&code, run->errors[i].code, false);
        columns = code.size > columns ? code.size : columns;
        rig_buf_done(&code);
    }
    return columns;
}

static void add_errors(const struct rig_text_page *page)
{
    const struct rig_report_run *run = page->run;
    const size_t columns = code_columns(run);
    for (uint32_t i = 0; i < run->error_count; i++) {
        const struct rig_report_error *error = &run->errors[i];
        if (i == 0)
            rig_buf_printf(page->out, "\n  %-8s %9s  %-*s %s\n", "errors", "count", (int)columns, "code",
                           "text of the first");
        struct rig_buf count;
        rig_buf_init(&count, 0);
        rig_words_count(&count, error->count);
        rig_buf_printf(page->out, "  %-8s %9s  ", rig_words_outcome(error->outcome), rig_buf_text(&count));
        rig_buf_clear(&count);
        rig_words_clean(&count, error->code, false);
        rig_buf_printf(page->out, "%-*s ", (int)columns, rig_buf_text(&count));
        rig_text_wrapped(page, error->text, columns + 23);
        rig_buf_done(&count);
    }
}

static void add_run_lines(const struct rig_text_page *page, const struct rig_run_line *lines, size_t count)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    for (size_t i = 0; i < count; i++) {
        rig_buf_clear(&line);
        lines[i].write(&line, page->verdict, page->run);
        if (lines[i].label != NULL && line.size > 0)
            wrapped_line(page, lines[i].label, rig_buf_text(&line));
    }
    rig_buf_done(&line);
}

static void add_run(const struct rig_text_page *page)
{
    heading(page, page->run == NULL ? "History" : "Run");
    if (page->run != NULL)
        add_run_lines(page, rig_run_lines, RIG_RUN_LINES);
    add_run_lines(page, rig_history_lines, RIG_HISTORY_LINES);
    if (rig_words_blunt(page->verdict)) {
        label(page, "");
        paint_line(page, RIG_TEXT_YELLOW,
                   "warning: more than 5 % of those that did not fail have an unknown fate: their writes");
        label(page, "");
        paint_line(page, RIG_TEXT_YELLOW,
                   "count only if they were read, which weakens the check. The errors may show the cause.");
    }
    if (page->run == NULL)
        return;
    add_latencies(page);
    add_errors(page);
}

static void add_cost(const struct rig_text_page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const struct rig_cost *cost = &verdict->cost;
    rig_tell(page->out, "\nchecked %n%s%n ww, %n wr, %n rw edges\n", verdict->scope.txn_count,
             verdict->scope.txn_count == 1 ? " transaction, " : " transactions, ", verdict->edge_count[RIG_EDGE_WW],
             verdict->edge_count[RIG_EDGE_WR], verdict->edge_count[RIG_EDGE_RW]);
    if (cost->process_count > 0)
        rig_buf_printf(page->out, "by %u processes, here ", (unsigned)cost->process_count);
    rig_buf_printf(page->out, "in %.1f ms (read %.1f, infer %.1f, search %.1f)",
                   cost->read_ms + cost->infer_ms + cost->search_ms, cost->read_ms, cost->infer_ms, cost->search_ms);
    if (cost->peak_bytes > 0)
        rig_tell(page->out, ", %b at most", cost->peak_bytes);
    rig_buf_add_char(page->out, '\n');
}

void rig_report_brief(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour,
                      struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && out != NULL);
    const struct rig_text_page page = {
        .verdict = verdict, .run = run, .colour = colour, .columns = SIZE_MAX, .brief = true, .out = out};
    add_verdict(&page);
}

void rig_report_text(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour, unsigned columns,
                     struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && out != NULL);
    struct rig_text_page page = {.verdict = verdict,
                                 .run = run,
                                 .colour = colour,
                                 .columns = columns == 0 ? RIG_REPORT_COLUMNS : columns,
                                 .out = out};
    rig_episodes_init(&page.episodes, verdict);
    add_verdict(&page);
    add_requested(&page);
    add_levels(&page);
    add_findings(&page);
    add_elements(&page);
    add_certificate(&page);
    add_claims(&page);
    add_own_levels(&page);
    add_known(&page);
    add_conditions(&page);
    add_durability(&page);
    add_crashes(&page);
    add_phases(&page);
    add_faults(&page);
    add_run(&page);
    add_cost(&page);
    rig_episodes_done(&page.episodes);
}
