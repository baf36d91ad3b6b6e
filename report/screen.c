/*
 * The result of a command on a terminal: everything fits one screen, and the verdict comes last, where the eyes are.
 * One witness; a line for each bug; the levels; the load. The files of a run, and `--verbose`, have the rest.
 */
#include <string.h>

#include "base/bug.h"
#include "report/headline.h"
#include "report/run_facts.h"
#include "report/tell.h"
#include "report/text_parts.h"
#include "report/words.h"

enum { BUGS_SHOWN = 4, NAMES_SHOWN = 6, LABEL_COLUMNS = 14, WITNESS_LEAST = 5 };

/* The text, cut so that it fits the rest of the line. */
static void add_cut(const struct rig_text_page *page, const char *text, size_t used_columns)
{
    struct rig_buf clean;
    rig_buf_init(&clean, 0);
    rig_words_clean(&clean, text, false);
    const size_t room = page->columns > used_columns + 4 ? page->columns - used_columns : 4;
    if (clean.size > room)
        rig_buf_add(page->out, rig_buf_text(&clean), room - 4);
    rig_tell(page->out, "%s\n", clean.size > room ? " ..." : rig_buf_text(&clean));
    rig_buf_done(&clean);
}

static void labelled(const struct rig_text_page *page, const char *name, const struct rig_buf *text)
{
    if (text->size == 0)
        return;
    rig_buf_printf(page->out, "%-*s", LABEL_COLUMNS, name);
    rig_text_wrapped(page, rig_buf_text(text), LABEL_COLUMNS);
}

/* ---- anomalies --------------------------------------------------------------------------------------------------- */

static uint64_t broken_by(const struct rig_verdict *verdict, unsigned anomaly)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    uint64_t refutes = finding->count == 0 ? 0 : finding->refutes;
    for (uint32_t i = 0; i < finding->witness_count; i++)
        refutes |= finding->witnesses[i].refutes;
    return refutes & verdict->requested_levels;
}

/* Forms of a cycle that need process or real-time order tell of a bug of their own only where no other one does. */
static bool is_further_form(unsigned anomaly)
{
    const char *name = rig_anomaly_info((enum rig_anomaly)anomaly)->name;
    return strstr(name, "-process") != NULL || strstr(name, "-realtime") != NULL;
}

/* The anomalies that break what is requested, as bits; those that another one of them explains are left out. */
static rig_anomaly_set find_bugs(const struct rig_verdict *verdict)
{
    rig_anomaly_set bugs = 0;
    uint64_t broken = 0;
    for (unsigned further = 0; further < 2; further++) {
        uint64_t also = 0;
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
            const uint64_t levels = broken_by(verdict, anomaly);
            enum rig_anomaly item;
            if (rig_anomaly_is_by_predicate((enum rig_anomaly)anomaly, &item) && (bugs & RIG_ANOMALY_BIT(item)) != 0)
                continue;
            const bool asked =
                verdict->findings[anomaly].count > 0 && rig_words_answers_request(verdict, (enum rig_anomaly)anomaly);
            if (is_further_form(anomaly) != (further == 1) || (!asked && (levels & ~broken) == 0))
                continue;
            bugs |= RIG_ANOMALY_BIT(anomaly);
            also |= levels;
        }
        broken |= also;
    }
    return bugs;
}

static void add_name(struct rig_buf *out, unsigned anomaly)
{
    const char *plain = rig_anomaly_plain((enum rig_anomaly)anomaly);
    rig_buf_add_text(out, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    if (plain != NULL)
        rig_buf_printf(out, " (%s)", plain);
}

/* The names in `set`, at most NAMES_SHOWN, with their counts. */
static void add_names(const struct rig_text_page *page, const char *label, rig_anomaly_set set)
{
    struct rig_buf line;
    unsigned named = 0, more = 0;
    rig_buf_init(&line, 0);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((set & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        more += named == NAMES_SHOWN;
        if (named == NAMES_SHOWN)
            continue;
        rig_buf_add_text(&line, named++ == 0 ? "" : ", ");
        add_name(&line, anomaly);
        rig_tell(&line, " %n", page->verdict->findings[anomaly].count);
    }
    if (more > 0)
        rig_tell(&line, ", and %n more", more);
    if (line.size > 0) {
        rig_buf_printf(page->out, "%-*s", LABEL_COLUMNS, label);
        add_cut(page, rig_buf_text(&line), LABEL_COLUMNS);
    }
    rig_buf_done(&line);
}

static void add_bug(const struct rig_text_page *page, unsigned anomaly)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_found(&line, &page->verdict->findings[anomaly]);
    rig_buf_printf(page->out, "%-*s", LABEL_COLUMNS, rig_buf_text(&line));
    if (line.size >= LABEL_COLUMNS)
        rig_buf_add_char(page->out, ' ');
    const size_t used = line.size >= LABEL_COLUMNS ? line.size + 1 : LABEL_COLUMNS;
    rig_buf_clear(&line);
    const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
    if (strchr(info->definition, ':') == NULL) /* else it begins with the plain name */
        add_name(&line, anomaly);
    else
        rig_buf_add_text(&line, info->name);
    rig_buf_printf(&line, ": %s", info->definition);
    add_cut(page, rig_buf_text(&line), used);
    rig_buf_done(&line);
}

/* A line for each bug, up to `most` of them, one for the others, and one for those that the request allows. */
static void add_anomalies(const struct rig_text_page *page, unsigned most)
{
    const rig_anomaly_set bugs = find_bugs(page->verdict);
    rig_anomaly_set rest = 0, allowed = 0;
    unsigned shown = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const rig_anomaly_set bit = RIG_ANOMALY_BIT(anomaly);
        if ((bugs & bit) != 0 && shown < most) {
            shown++;
            add_bug(page, anomaly);
        } else if ((bugs & bit) != 0) {
            rest |= bit;
        } else if (page->verdict->findings[anomaly].count > 0 && !is_further_form(anomaly) &&
                   broken_by(page->verdict, anomaly) == 0) {
            allowed |= bit;
        }
    }
    add_names(page, "and", rest);
    add_names(page, "allowed", allowed);
}

/* ---- the witness ------------------------------------------------------------------------------------------------- */

static unsigned count_rows(const struct rig_buf *text)
{
    unsigned rows = 0;
    for (size_t i = 0; i < text->size; i++)
        rows += text->data[i] == '\n';
    return rows;
}

static size_t rows_end(const char *text, unsigned rows)
{
    size_t at = 0;
    for (; rows > 0 && text[at] != '\0'; rows--)
        at += strcspn(text + at, "\n") + 1;
    return at;
}

/* The headline's witness, in at most `rows`: its middle is cut, because it begins with the transactions and ends with
 * the steps. */
static void add_headline(const struct rig_text_page *page, const struct rig_headline *headline, unsigned rows)
{
    struct rig_text_page own = *page;
    struct rig_verdict excerpt = *page->verdict;
    struct rig_buf text;
    if (headline->witness == NULL)
        return;
    rig_buf_init(&text, 0);
    own.out = &text;
    own.run = NULL; /* the servers' logs are in the files */
    excerpt.history = headline->history;
    own.verdict = &excerpt;
    rig_text_witness(&own, headline->witness, headline->number);
    const char *all = rig_buf_text(&text);
    const size_t skip = *all == '\n';
    const unsigned has = count_rows(&text) - (unsigned)skip;
    all += skip;
    if (has <= rows) {
        rig_buf_add_text(page->out, all);
    } else {
        const unsigned head = rows / 2, tail = rows - head - 1;
        rig_buf_add(page->out, all, rows_end(all, head));
        rig_tell(page->out, "    ... %n more line%p: --verbose, and the reports, show all\n", has - head - tail,
                 has - head - tail);
        rig_buf_add_text(page->out, all + rows_end(all, has - tail));
    }
    rig_buf_done(&text);
}

/* ---- levels and load --------------------------------------------------------------------------------------------- */

static void add_levels(const struct rig_text_page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_requested(&line, verdict);
    labelled(page, "requested", &line);
    rig_buf_clear(&line);
    const uint64_t held = rig_levels_strongest_in(verdict->lattice, rig_words_levels_of(verdict, RIG_FATE_HELD));
    if (held != 0)
        rig_tell(&line, "kept %l", held);
    if (verdict->weakest_refuted != 0)
        rig_tell(&line, "%sbroken %l", line.size > 0 ? "; " : "", verdict->weakest_refuted);
    labelled(page, "levels", &line);
    rig_buf_done(&line);
}

static void add_fact(const struct rig_text_page *page, const struct rig_run_line *lines, size_t count,
                     const char *label)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    for (size_t i = 0; i < count; i++) {
        if (lines[i].label != NULL && strcmp(lines[i].label, label) == 0)
            lines[i].write(&line, page->verdict, page->run);
    }
    if (line.size > 0) {
        rig_buf_printf(page->out, "%-*s", LABEL_COLUMNS, label);
        add_cut(page, rig_buf_text(&line), LABEL_COLUMNS);
    }
    rig_buf_done(&line);
}

static void add_error(const struct rig_text_page *page)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_top_error(&line, page->run);
    if (line.size > 0) {
        rig_buf_printf(page->out, "%-*s", LABEL_COLUMNS, "errors");
        add_cut(page, rig_buf_text(&line), LABEL_COLUMNS);
    }
    rig_buf_done(&line);
}

static void add_run(const struct rig_text_page *page)
{
    if (page->run != NULL) {
        add_fact(page, rig_run_lines, RIG_RUN_LINES, "server");
        add_fact(page, rig_run_lines, RIG_RUN_LINES, "load");
        add_fact(page, rig_run_lines, RIG_RUN_LINES, "processors");
    }
    add_fact(page, rig_history_lines, RIG_HISTORY_LINES, "transactions");
    if (page->run != NULL)
        add_error(page);
    struct rig_buf ranks;
    rig_buf_init(&ranks, 0);
    rig_words_ranks(&page->verdict->scope, &ranks);
    labelled(page, "ranks", &ranks);
    rig_buf_done(&ranks);
}

static void add_warnings(const struct rig_text_page *page)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    rig_words_warnings(&lines, page->verdict);
    if (page->run != NULL && page->run->planned_faults > 0 && !rig_episodes_had_effect(&page->episodes))
        rig_buf_add_text(&lines, "warning: none of the plan's faults took effect before the load ended\n");
    if (rig_words_blunt(page->verdict))
        rig_buf_add_text(&lines, "warning: the fate of more than 5 % is unknown, which weakens the check\n");
    if (lines.size > 0)
        rig_text_paint(page, RIG_TEXT_YELLOW, rig_buf_text(&lines));
    rig_buf_done(&lines);
}

static void add_all_but_headline(const struct rig_text_page *page, unsigned bugs)
{
    const struct rig_report_run *run = page->run;
    rig_buf_add_char(page->out, '\n');
    add_anomalies(page, bugs);
    add_levels(page);
    add_run(page);
    rig_buf_add_char(page->out, '\n');
    add_warnings(page);
    if (run != NULL && run->folder != NULL && run->report != NULL)
        rig_tell(page->out, "report: %c/%s\n", run->folder, run->report);
    (void)rig_text_happened(page);
    rig_text_decision(page);
}

void rig_report_screen(const struct rig_verdict *verdict, const struct rig_report_run *run, bool colour,
                       unsigned columns, unsigned rows, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && out != NULL);
    const struct rig_headline headline = rig_headline_pick(verdict);
    struct rig_buf rest;
    rig_buf_init(&rest, 0);
    struct rig_text_page page = {.verdict = verdict,
                                 .run = run,
                                 .colour = colour,
                                 .columns = columns == 0 ? RIG_REPORT_COLUMNS : columns,
                                 .out = &rest};
    rig_episodes_init(&page.episodes, verdict);
    unsigned bugs = BUGS_SHOWN;
    add_all_but_headline(&page, bugs);
    while (count_rows(&rest) + WITNESS_LEAST > rows && bugs > 1) {
        rig_buf_clear(&rest);
        add_all_but_headline(&page, --bugs);
    }
    const unsigned used = count_rows(&rest);
    page.out = out;
    add_headline(&page, &headline, rows > used + WITNESS_LEAST ? rows - used : WITNESS_LEAST);
    rig_buf_add_text(out, rig_buf_text(&rest) + (headline.witness == NULL));
    rig_episodes_done(&page.episodes);
    rig_buf_done(&rest);
}

void rig_report_ending(const struct rig_verdict *verdict, bool colour, unsigned columns, struct rig_buf *out)
{
    const struct rig_text_page page = {
        .verdict = verdict, .colour = colour, .columns = columns == 0 ? RIG_REPORT_COLUMNS : columns, .out = out};
    rig_buf_add_char(out, '\n');
    (void)rig_text_happened(&page);
    rig_text_decision(&page);
}
