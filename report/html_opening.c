/*
 * The opening of the page: the claim in one sentence, what it rests on, and the one witness that shows it. Everything
 * else on the page is folded.
 */
#include <string.h>

#include "checker/explain/sentence.h"
#include "history/types/types.h"
#include "report/happened.h"
#include "report/headline.h"
#include "report/html_parts.h"
#include "report/known_report.h"
#include "report/markup.h"
#include "report/run_facts.h"
#include "report/tell.h"
#include "report/words.h"

enum { FAULTS_NAMED = 4 };

struct opening {
    struct rig_buf *out;
    const struct rig_verdict *verdict;
    const struct rig_report_run *run;
    const struct rig_episodes *episodes;
    struct rig_headline headline;
};

static void add_text(struct rig_buf *out, const char *before, const struct rig_buf *text, const char *after)
{
    rig_tell(out, "%s%h%s", before, rig_buf_text(text), after);
}

/* The name of the anomaly, with which the claim ends, stays on one line. */
static void add_claim(struct rig_buf *out, const char *claim)
{
    static const char before_name[] = ": it shows ";
    const char *at = strstr(claim, before_name);
    if (at == NULL) {
        rig_markup_escape(out, claim);
        return;
    }
    at += sizeof before_name - 1;
    rig_markup_escape_bytes(out, claim, (size_t)(at - claim));
    rig_tell(out, "<span class=\"name\">%h</span>", at);
}

static void add_banner(const struct opening *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const char *class = rig_known_explains(verdict)         ? "open"
                        : verdict->valid == RIG_VALID_TRUE  ? "good"
                        : verdict->valid == RIG_VALID_FALSE ? "bad"
                                                            : "open";
    struct rig_buf line;
    rig_buf_init(&line, 0);
    /* For programs: classes change with the looks of the page. */
    const char *word = rig_known_explains(verdict)           ? "known"
                       : verdict->valid == RIG_VALID_TRUE    ? "valid"
                       : verdict->valid == RIG_VALID_UNKNOWN ? "undecided"
                                                             : "anomaly";
    rig_buf_printf(page->out, "<header class=\"banner %s\" data-verdict=\"%s\">\n", class, word);
    rig_happened_say(&line, verdict);
    const bool happened = line.size > 0;
    if (happened)
        add_text(page->out, "<h1>", &line, "</h1>\n<p class=\"claim\">");
    else
        rig_buf_add_text(page->out, "<h1>");
    rig_buf_clear(&line);
    rig_headline_claim(&line, verdict, page->run, &page->headline);
    add_claim(page->out, rig_buf_text(&line));
    rig_buf_printf(page->out, "</%s>\n<p class=\"verdict\">", happened ? "p" : "h1");
    rig_html_sign(page->out, rig_headline_fate(verdict));
    rig_buf_clear(&line);
    rig_words_verdict(&line, verdict);
    add_text(page->out, " ", &line, "</p>\n</header>\n");
    rig_buf_done(&line);
}

static void add_warning(const struct opening *page, const char *text)
{
    rig_buf_printf(page->out, "<p class=\"warn\">%s</p>\n", text);
}

static void add_warnings(const struct opening *page)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    rig_words_warnings(&lines, page->verdict);
    if (lines.size > 0)
        add_text(page->out, "<p class=\"warn\">", &lines, "</p>\n");
    rig_buf_done(&lines);
    if (page->run != NULL && page->run->planned_faults > 0 && !rig_episodes_had_effect(page->episodes))
        add_warning(page, "None of the plan's faults took effect before the load ended.");
    if (rig_words_blunt(page->verdict))
        add_warning(page, "More than 5 % of the transactions that did not fail have an unknown fate, which weakens "
                          "the check: their writes count only if they were read. The errors may show the cause.");
}

/* -- what it rests on: a line each, left out where nothing is known ------------------------------------------------ */

static void write_fact(struct rig_buf *line, const struct opening *page, const char *label)
{
    for (size_t i = 0; page->run != NULL && i < RIG_RUN_LINES; i++) {
        if (strcmp(rig_run_lines[i].label, label) == 0)
            rig_run_lines[i].write(line, page->verdict, page->run);
    }
}

static void write_database(struct rig_buf *line, const struct opening *page)
{
    write_fact(line, page, "server");
    if (line->size == 0)
        write_fact(line, page, "driver");
}

static void write_isolation(struct rig_buf *line, const struct opening *page)
{
    write_fact(line, page, "requested isolation");
    rig_buf_add_text(line, line->size == 0 ? "must keep " : "; must keep ");
    rig_words_requested(line, page->verdict);
}

static void write_initial(struct rig_buf *line, const struct opening *page)
{
    struct rig_buf initial;
    rig_buf_init(&initial, 0);
    rig_words_initial(&initial, page->verdict);
    if (initial.size > 0)
        rig_buf_printf(line, ", initial value %s", rig_buf_text(&initial));
    rig_buf_done(&initial);
}

static void write_load(struct rig_buf *line, const struct opening *page)
{
    char utc[RIG_UTC_BYTES];
    rig_words_workload(line, page->verdict);
    write_initial(line, page);
    if (page->run != NULL) {
        rig_buf_add_text(line, ", ");
        write_fact(line, page, "load");
    } else if (rig_answered_utc(page->verdict->scope.start_utc_ns, 0, utc)) {
        rig_buf_printf(line, ", recorded from %s", utc);
    }
}

static void write_faults(struct rig_buf *line, const struct opening *page)
{
    const struct rig_episodes *episodes = page->episodes;
    if (episodes->of.count == 0 && page->run != NULL)
        rig_buf_add_text(line, "none");
    for (size_t i = 0; i < episodes->groups.count && i < FAULTS_NAMED; i++) {
        const struct rig_episode_group *group = &episodes->groups.at[i];
        const struct rig_episode *first = &episodes->of.at[group->first];
        rig_tell(line, "%s%c of %c", i == 0 ? "" : ", ", first->fault, first->targets);
        if (group->count > 1)
            rig_tell(line, " (%n times)", group->count);
    }
    if (episodes->groups.count > FAULTS_NAMED)
        rig_buf_printf(line, " and %zu more", episodes->groups.count - FAULTS_NAMED);
}

static void write_evidence(struct rig_buf *line, const struct opening *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const struct rig_effort *effort = &verdict->effort;
    rig_words_acknowledged(line, verdict->ok_count);
    rig_tell(line, "; %n failed, %n of unknown fate (", verdict->fail_count, verdict->info_count);
    rig_words_share(line, verdict->info_count, verdict->ok_count + verdict->fail_count + verdict->info_count);
    rig_buf_add_char(line, ')');
    if (effort->known)
        rig_buf_printf(line, "; the database answered during %.3g %% of the load", effort->answering * 100);
}

static const struct {
    const char *label;
    void (*write)(struct rig_buf *line, const struct opening *page);
} facts[] = {{"Database", write_database},
             {"Isolation", write_isolation},
             {"Load", write_load},
             {"Faults", write_faults},
             {"Evidence", write_evidence}};

static void add_facts(const struct opening *page)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_buf_add_text(page->out, "<dl class=\"facts\">\n");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        rig_buf_clear(&line);
        facts[i].write(&line, page);
        if (line.size == 0)
            continue;
        rig_buf_printf(page->out, "<div><dt>%s</dt>", facts[i].label);
        add_text(page->out, "<dd>", &line, "</dd></div>\n");
    }
    rig_buf_add_text(page->out, "</dl>\n");
    rig_buf_done(&line);
}

/* -- the witness --------------------------------------------------------------------------------------------------- */

static void add_witness(const struct opening *page)
{
    const struct rig_headline *headline = &page->headline;
    struct rig_buf *out = page->out;
    if (headline->text != NULL)
        rig_tell(out,
                 "<section class=\"card\" id=\"witness\">\n<h3>The certificate contradicts the clients</h3>\n<pre "
                 "class=\"wrap\">%h</pre>\n</section>\n",
                 headline->text);
    if (headline->witness == NULL)
        return;
    const struct rig_anomaly_info *info = rig_anomaly_info(headline->witness->anomaly);
    rig_tell(out, "<section class=\"card\" id=\"witness\">\n<h3>%s #%d%s</h3>\n<p class=\"dim\">%h</p>\n", info->name,
             headline->number, headline->is_by_certificate ? ", by the certificate" : "", info->definition);
    rig_html_witness(out, headline->witness, headline->history, page->run, page->episodes, true);
    rig_html_timeline_link(out, headline->witness->anomaly, headline->number, headline->is_by_certificate);
    rig_buf_add_text(out, "</section>\n");
}

void rig_html_opening(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_report_run *run,
                      const char *name, const struct rig_episodes *episodes)
{
    const struct opening page = {
        .out = out, .verdict = verdict, .run = run, .episodes = episodes, .headline = rig_headline_pick(verdict)};
    rig_tell(out, "<p class=\"kicker\">rig report: %h", name);
    if (run != NULL && run->started_utc != NULL)
        rig_tell(out, ", %h", run->started_utc);
    rig_buf_add_text(out, "</p>\n");
    add_banner(&page);
    add_warnings(&page);
    add_facts(&page);
    add_witness(&page);
}
