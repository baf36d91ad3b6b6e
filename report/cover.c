#include "report/cover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"
#include "report/episodes.h"
#include "report/happened.h"
#include "report/headline.h"
#include "report/run_facts.h"
#include "report/sent.h"
#include "report/words.h"

enum { FAULTS_SHOWN = 40 };

static void redact(struct rig_buf *text)
{
    if (text->size == 0)
        return;
    rig_secret_redact(text->data, text->size + 1);
    text->size = strlen(text->data);
}

/* Text in a cell, or a heading: what Markdown or HTML gives a meaning is escaped. */
static void add_escaped(struct rig_buf *out, const char *text)
{
    struct rig_buf clean;
    rig_buf_init(&clean, 0);
    rig_words_clean(&clean, text, false);
    redact(&clean); /* before an escape tears a secret apart */
    for (size_t i = 0; i < clean.size; i++) {
        const char c = clean.data[i];
        if (c == '<')
            rig_buf_add_text(out, "&lt;");
        else if (c == '&')
            rig_buf_add_text(out, "&amp;");
        else if (strchr("\\`*_[]|>#!~", c) != NULL)
            rig_buf_printf(out, "\\%c", c);
        else
            rig_buf_add_char(out, c);
    }
    rig_buf_done(&clean);
}

/* A block in which no character has a meaning: each line is indented. */
static void add_block(struct rig_buf *out, const char *text)
{
    struct rig_buf clean;
    rig_buf_init(&clean, 0);
    rig_words_clean(&clean, text, true);
    redact(&clean);
    rig_buf_add_char(out, '\n');
    for (const char *line = rig_buf_text(&clean); *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        rig_buf_add_text(out, "    ");
        rig_buf_add(out, line, length);
        rig_buf_add_char(out, '\n');
        line += length + (line[length] == '\n');
    }
    rig_buf_add_char(out, '\n');
    rig_buf_done(&clean);
}

static void add_row(struct rig_buf *out, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    rig_buf_printf(out, "| %s | ", name);
    add_escaped(out, value);
    rig_buf_add_text(out, " |\n");
}

static void add_facts(const struct rig_cover *cover, struct rig_buf *out)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_buf_add_text(out, "\n## The run\n\n| | |\n|---|---|\n");
    for (size_t i = 0; cover->run != NULL && i < RIG_RUN_LINES; i++) {
        if (rig_run_lines[i].html_label == NULL)
            continue;
        rig_buf_clear(&line);
        rig_run_lines[i].write(&line, cover->verdict, cover->run);
        add_row(out, rig_run_lines[i].html_label, rig_buf_text(&line));
    }
    rig_buf_clear(&line);
    rig_words_requested(&line, cover->verdict);
    add_row(out, "Must keep", rig_buf_text(&line));
    rig_buf_done(&line);
}

static void add_witness(const struct rig_cover *cover, const struct rig_headline *headline, struct rig_buf *out)
{
    const char *text = cover->witness != NULL      ? cover->witness
                       : headline->witness != NULL ? headline->witness->text
                                                   : headline->text;
    rig_buf_add_text(out, cover->witness != NULL ? "\n## The smallest part of the history that shows it\n"
                                                 : "\n## The shortest witness\n");
    add_block(out, text == NULL ? "" : text);
    if (cover->unshrunk == NULL)
        return;
    rig_buf_add_text(out, "The history is not shrunk: ");
    add_escaped(out, cover->unshrunk);
    rig_buf_add_text(out, ".\n");
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    if (headline->witness != NULL)
        rig_sent_witness_text(&sql, headline->history, headline->witness, "");
    if (sql.size > 0) {
        rig_buf_add_text(out, "\nThe SQL that was sent for these transactions:\n");
        add_block(out, rig_buf_text(&sql));
    }
    rig_buf_done(&sql);
}

static bool has_file(const struct rig_cover *cover, const char *name)
{
    for (size_t i = 0; i < cover->file_count; i++)
        if (strcmp(cover->files[i].name, name) == 0)
            return true;
    return false;
}

static void add_repeat(const struct rig_cover *cover, struct rig_buf *out)
{
    rig_buf_add_text(out, "\n## How to repeat it\n");
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    if (cover->unshrunk == NULL)
        rig_buf_add_text(&lines, "rig check part.jsonl                          # the verdict on the part\n");
    if (has_file(cover, "scenario.yaml"))
        rig_buf_add_text(&lines, "rig scenario plan.yaml scenario.yaml          # its statements, in their order\n");
    if (cover->unshrunk == NULL)
        rig_buf_add_text(&lines,
                         "rig reproduce part.jsonl --plan plan.yaml     # the same, else the load: how often\n");
    if (has_file(cover, "reproduce-psql.sh"))
        rig_buf_add_text(&lines,
                         "./reproduce-psql.sh                           # without rig; PGHOST and so on name the "
                         "server\n");
    if (has_file(cover, "reproduce-mysql.sh"))
        rig_buf_add_text(&lines, "./reproduce-mysql.sh                          # without rig\n");
    if (has_file(cover, "reproduce-shell.sh"))
        rig_buf_add_text(
            &lines,
            "./reproduce-shell.sh                          # without rig; its head names the server's variables\n");
    if (has_file(cover, "reproduce-http.sh"))
        rig_buf_add_text(&lines, "./reproduce-http.sh URL                       # without rig; needs curl and jq\n");
    if (has_file(cover, "smallest.yaml"))
        rig_buf_add_text(&lines, "rig run smallest.yaml                         # the smallest load that was found\n");
    char load[64];
    (void)snprintf(load, sizeof load, "rig run plan.yaml --seed %" PRIu64, cover->run == NULL ? 1 : cover->run->seed);
    rig_buf_printf(&lines, "%-45s # the load that found it; timing differs\n", load);
    add_block(out, rig_buf_text(&lines));
    rig_buf_done(&lines);
    if (cover->unplayed != NULL) {
        rig_buf_add_text(out, "There is no script of its statements: ");
        add_escaped(out, cover->unplayed);
        rig_buf_add_text(out, ".\n");
    }
    if (cover->run != NULL && cover->run->plan_yaml != NULL && strstr(cover->run->plan_yaml, RIG_SECRET_MASK) != NULL)
        rig_buf_add_text(out, "\nSecrets in `plan.yaml` are masked as `" RIG_SECRET_MASK "`; `--set` gives them.\n");
}

/* ---- the database and its cluster ---- */

enum { SECTION_LINES = 512 };

/* A line of the section `database` of a plan. */
struct line {
    const char *at;
    size_t length, indent;
    size_t parent; /* the line that it belongs to; its own number: none */
    bool is_group, is_changed, is_kept;
};

/* The section, from its first line; "": there is none. */
static struct rig_buf find_section(const char *plan)
{
    struct rig_buf section;
    const char *from = plan == NULL ? NULL : strstr(plan, "\ndatabase:\n");
    rig_buf_init(&section, 0);
    if (from == NULL)
        return section;
    const char *end = strchr(from + 1, '\n') + 1;
    while (*end == ' ')
        end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
    rig_buf_add(&section, from + 1, (size_t)(end - from) - 1);
    return section;
}

static bool has_line(const char *text, const struct line *line)
{
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n')) {
        if (strcspn(at, "\n") == line->length && strncmp(at, line->at, line->length) == 0)
            return true;
    }
    return false;
}

static size_t split_section(const char *section, const char *defaults, struct line *lines)
{
    size_t count = 0;
    for (const char *at = section; *at != '\0' && count < SECTION_LINES; count++) {
        struct line *line = &lines[count];
        *line = (struct line){.at = at, .length = strcspn(at, "\n"), .indent = strspn(at, " "), .parent = count};
        line->is_group = line->length > 0 && at[line->length - 1] == ':';
        line->is_changed = !has_line(defaults, line);
        for (size_t i = count; i-- > 0 && line->parent == count;) {
            if (lines[i].indent < line->indent)
                line->parent = i;
        }
        at += line->length + (at[line->length] == '\n');
    }
    return count;
}

/* Whether a line of the same group differs from the defaults. The keys of the section itself stand for themselves. */
static bool is_told(const struct line *lines, size_t count, size_t number)
{
    static const char *const always[] = {"  driver:", "  isolation:"};
    const struct line *line = &lines[number];
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strncmp(line->at, always[i], strlen(always[i])) == 0)
            return true;
    }
    for (size_t i = 0; line->parent > 0 && i < count; i++) {
        if (lines[i].parent == line->parent && !lines[i].is_group && lines[i].is_changed)
            return true;
    }
    return line->is_changed;
}

/* Which servers there were, how they replicated, at which level clients asked, and other keys of the stored plan that
 * differ from their defaults. */
static void add_database(const struct rig_cover *cover, struct rig_buf *out)
{
    struct line lines[SECTION_LINES];
    struct rig_buf section = find_section(cover->run == NULL ? NULL : cover->run->plan_yaml), shown;
    struct rig_buf defaults = find_section(cover->defaults);
    const size_t count = split_section(rig_buf_text(&section), rig_buf_text(&defaults), lines);
    rig_buf_init(&shown, 0);
    for (size_t i = 0; i < count; i++) {
        lines[i].is_kept = !lines[i].is_group && is_told(lines, count, i);
        for (size_t of = i; lines[i].is_kept && lines[of].parent != of; of = lines[of].parent)
            lines[lines[of].parent].is_kept = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (lines[i].is_kept)
            rig_buf_printf(&shown, "%.*s\n", (int)lines[i].length, lines[i].at);
    }
    if (count > 0) {
        rig_buf_add_text(out, "\n## The database and its cluster\n\nThese keys of the plan differ from "
                              "their defaults, or say which servers rig started; `plan.yaml` has all of them.\n");
        add_block(out, rig_buf_text(&shown));
    }
    rig_buf_done(&shown);
    rig_buf_done(&section);
    rig_buf_done(&defaults);
}

/* ---- faults ---- */

static void add_seconds(struct rig_buf *out, const struct rig_episodes *episodes, int64_t ns)
{
    if (ns == RIG_NO_TIME)
        rig_buf_add_text(out, "unknown");
    else
        rig_buf_printf(out, "%.3f s", (double)(ns - episodes->zero_ns) / 1e9);
}

static void add_fault(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode)
{
    rig_buf_add_text(out, "| ");
    add_escaped(out, episode->fault);
    rig_buf_add_text(out, " | ");
    add_escaped(out, episode->targets);
    rig_buf_add_text(out, " | ");
    add_seconds(out, episodes, episode->from_ns);
    rig_buf_add_text(out, " | ");
    add_seconds(out, episodes, episode->to_ns);
    rig_buf_printf(out, " | %s | ",
                   episode->failed        ? "failed"
                   : episode->withdrawn   ? "withdrawn"
                   : episode->took_effect ? "took effect"
                                          : "no effect was seen");
    add_escaped(out, episode->text == NULL ? "" : episode->text);
    rig_buf_add_text(out, " |\n");
}

static void add_faults(const struct rig_cover *cover, const struct rig_headline *headline, struct rig_buf *out)
{
    struct rig_episodes episodes;
    struct rig_buf during;
    rig_episodes_init(&episodes, cover->verdict);
    rig_buf_init(&during, 0);
    rig_buf_add_text(out, "\n## Faults\n\n");
    if (headline->witness != NULL && !headline->is_by_certificate)
        rig_episodes_of_witness(&during, &episodes, cover->verdict->history, headline->witness);
    if (episodes.of.count == 0 && cover->of_part)
        rig_buf_printf(out, "The part does not keep the faults of the run%s.\n",
                       has_file(cover, "previous.md") ? "; `previous.md` has them" : "");
    else if (episodes.of.count == 0)
        rig_buf_add_text(out, "rig injected none.\n");
    else
        rig_buf_add_text(out, "Times are seconds since the start of the load, as in the witness.\n\n"
                              "| fault | targets | from | to | effect | evidence |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < episodes.of.count && i < FAULTS_SHOWN; i++)
        add_fault(out, &episodes, &episodes.of.at[i]);
    if (episodes.of.count > FAULTS_SHOWN)
        rig_buf_printf(out, "\n`[.. %zu others ..]`\n", episodes.of.count - FAULTS_SHOWN);
    if (during.size > 0) {
        rig_buf_add_text(out, "\nAt the shortest witness: ");
        add_escaped(out, rig_buf_text(&during));
        rig_buf_add_text(out, "\n");
    }
    rig_buf_done(&during);
    rig_episodes_done(&episodes);
}

static void add_settings(const struct rig_cover *cover, struct rig_buf *out)
{
    const struct rig_report_provenance *facts = cover->run == NULL ? NULL : &cover->run->provenance;
    rig_buf_add_text(out, "\n## Settings of the server that differ from its defaults\n\n");
    if (facts == NULL || facts->setting_count == 0) {
        rig_buf_add_text(out, "None is known: the driver reported none.\n");
        return;
    }
    rig_buf_add_text(out, "| setting | value |\n|---|---|\n");
    for (uint32_t i = 0; i < facts->setting_count; i++) {
        rig_buf_add_text(out, "| ");
        add_escaped(out, facts->settings[i].name);
        rig_buf_add_text(out, " | ");
        add_escaped(out, facts->settings[i].value);
        rig_buf_add_text(out, " |\n");
    }
}

void rig_report_cover(const struct rig_cover *cover, struct rig_buf *out)
{
    const struct rig_headline headline = rig_headline_pick(cover->verdict);
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_headline_claim(&line, cover->verdict, cover->run, &headline);
    rig_buf_add_text(out, "# ");
    add_escaped(out, rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_happened_say(&line, cover->verdict);
    if (line.size > 0) {
        rig_buf_add_text(out, "\n\n");
        add_escaped(out, rig_buf_text(&line));
    }
    rig_buf_add_text(
        out, "\n\nrig recorded what the clients of the database saw, and proved the anomaly from it, step by step. "
             "This bundle has what a person needs to follow that and to repeat it.\n");
    rig_buf_done(&line);
    add_witness(cover, &headline, out);
    if (cover->of_part)
        rig_buf_add_text(
            out, "This bundle was made of the part that an earlier one, or a reproduction, kept. `previous.md`, "
                 "where it is there, has the facts of the whole history.\n");
    rig_buf_printf(out, "\n## How often it came back\n\n%s", cover->repeats);
    add_facts(cover, out);
    add_faults(cover, &headline, out);
    add_database(cover, out);
    add_repeat(cover, out);
    add_settings(cover, out);
    rig_buf_add_text(out, "\n## The servers' logs around witnesses\n");
    if (cover->logs[0] == '\0' && has_file(cover, "logs.txt"))
        rig_buf_add_text(out, "\n`logs.txt` has them.\n");
    else if (cover->logs[0] == '\0')
        rig_buf_add_text(out,
                         "\nThere is no line: no log is in the folder of the run, or none has a line at that time.\n");
    else
        add_block(out, cover->logs);
    rig_buf_add_text(out, "\n## Files\n\n| file | has |\n|---|---|\n");
    for (size_t i = 0; i < cover->file_count; i++)
        rig_buf_printf(out, "| `%s` | %s |\n", cover->files[i].name, cover->files[i].text);
    rig_buf_add_text(out, "| `SHA256SUMS` | checksums of the other files: `sha256sum -c SHA256SUMS` |\n");
}
