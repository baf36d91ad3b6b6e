/*
 * The reports for GitHub Actions: annotations (workflow commands that a step prints) and the step's summary (Markdown).
 *
 * Sources: docs.github.com, "Workflow commands for GitHub Actions"; its toolkit escapes % CR LF in a message, and : and
 * , in a property. A message is cut to the length that a page shows; the summary has the whole witness.
 */
#include <string.h>

#include "base/bug.h"
#include "report/cases.h"
#include "report/happened.h"
#include "report/report.h"
#include "report/tell.h"
#include "report/words.h"

enum { MESSAGE_BYTES = 4000 };

static void encode(struct rig_buf *out, const char *text, size_t length, bool is_property)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%' || c == '\n' || c == '\r' || (is_property && (c == ':' || c == ',')))
            rig_buf_printf(out, "%%%02X", c);
        else
            rig_buf_add_char(out, (char)c);
    }
}

/* The largest length of at most `limit` that does not cut a character of UTF-8. */
static size_t cut_length(const char *text, size_t length, size_t limit)
{
    if (length <= limit)
        return length;
    while (limit > 0 && ((unsigned char)text[limit] & 0xC0) == 0x80)
        limit--;
    return limit;
}

void rig_report_annotation(const char *command, const char *title, const char *message, struct rig_buf *out)
{
    const size_t whole = strlen(message), length = cut_length(message, whole, MESSAGE_BYTES);
    rig_buf_printf(out, "::%s title=", command);
    encode(out, title, strlen(title), true);
    rig_buf_add_text(out, "::");
    encode(out, message, length, false);
    rig_buf_add_text(out, length < whole ? "...\n" : "\n");
}

struct annotations {
    struct rig_buf *out;
    const char *name;    /* of the history */
    struct rig_buf text; /* of a title or a message */
};

static void add_annotation(struct annotations *annotations, const char *command,
                           const struct rig_report_case *test_case)
{
    struct rig_buf *text = &annotations->text;
    rig_buf_clear(text);
    rig_tell(text, "%c: %s", annotations->name, test_case->name);
    if (test_case->anomaly != RIG_ANOMALY_COUNT)
        rig_buf_printf(text, ": %s", test_case->type);
    else if (test_case->type != NULL)
        rig_buf_printf(text, " (%s)", test_case->type);
    struct rig_buf message;
    rig_buf_init(&message, 0);
    rig_report_case_say(&message, test_case);
    rig_report_annotation(command, rig_buf_text(text), rig_buf_text(&message), annotations->out);
    rig_buf_done(&message);
}

static void annotate(const struct rig_report_case *test_case, void *context)
{
    if (test_case->state != RIG_CASE_PASSED)
        add_annotation(context, test_case->state == RIG_CASE_KNOWN ? "notice" : "error", test_case);
}

void rig_report_annotations(const struct rig_verdict *verdict, const char *name, struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    struct annotations annotations = {.out = out, .name = name};
    rig_buf_init(&annotations.text, 0);
    rig_report_cases_visit(verdict, annotate, &annotations);
    if (verdict->valid == RIG_VALID_TRUE) {
        struct rig_buf line;
        rig_buf_init(&line, 0);
        rig_words_verdict(&line, verdict);
        add_annotation(
            &annotations, "notice",
            &(struct rig_report_case){.name = "valid", .message = rig_buf_text(&line), .anomaly = RIG_ANOMALY_COUNT});
        rig_buf_done(&line);
    }
    rig_buf_done(&annotations.text);
}

/* Markdown passes HTML through, so the escaping of markup is enough inside these elements, which take no Markdown as
 * long as no line is empty; a line break in a cell becomes a blank. */
static void add_cell(struct rig_buf *out, struct rig_buf *text, const char *content)
{
    rig_buf_clear(text);
    rig_words_clean(text, content, false);
    rig_tell(out, "<td>%h</td>", rig_buf_text(text));
}

struct markdown {
    struct rig_buf *out;
    struct rig_buf text;
};

static void add_row(const struct rig_report_case *test_case, void *context)
{
    static const char *const states[] = {[RIG_CASE_PASSED] = "passed",
                                         [RIG_CASE_KNOWN] = "known",
                                         [RIG_CASE_FAILED] = "FAILED",
                                         [RIG_CASE_OPEN] = "UNDECIDED"};
    struct markdown *markdown = context;
    struct rig_buf *out = markdown->out;
    rig_buf_add_text(out, "<tr>");
    add_cell(out, &markdown->text, test_case->kind);
    add_cell(out, &markdown->text, test_case->name);
    add_cell(out, &markdown->text,
             test_case->state == RIG_CASE_OPEN && test_case->anomaly == RIG_ANOMALY_COUNT ? test_case->type
                                                                                          : states[test_case->state]);
    add_cell(out, &markdown->text,
             test_case->anomaly != RIG_ANOMALY_COUNT || test_case->state == RIG_CASE_FAILED ? test_case->type : "");
    add_cell(out, &markdown->text, test_case->message);
    rig_buf_add_text(out, "</tr>\n");
}

static void add_detail(const struct rig_report_case *test_case, void *context)
{
    struct markdown *markdown = context;
    if (test_case->detail == NULL || *test_case->detail == '\0')
        return;
    struct rig_buf *out = markdown->out;
    rig_tell(out, "\n<details><summary>%h: %h</summary>\n<pre>\n", test_case->name, test_case->type);
    rig_buf_clear(&markdown->text);
    rig_words_clean(&markdown->text, test_case->detail, true);
    rig_tell(out, "%h\n</pre>\n</details>\n", rig_buf_text(&markdown->text));
}

static void add_fact(struct markdown *markdown, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    rig_buf_printf(markdown->out, "<tr><th>%s</th>", name);
    add_cell(markdown->out, &markdown->text, value);
    rig_buf_add_text(markdown->out, "</tr>\n");
}

static void add_facts(struct markdown *markdown, const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    struct rig_buf evidence, workload, initial;
    rig_buf_init(&evidence, 0);
    rig_buf_init(&initial, 0);
    rig_words_initial(&initial, verdict);
    rig_buf_init(&workload, 0);
    rig_words_evidence(&evidence, verdict);
    rig_words_workload(&workload, verdict);
    rig_buf_add_text(markdown->out, "\n<table>\n");
    if (run != NULL) {
        add_fact(markdown, "database", run->server);
        add_fact(markdown, "driver", run->driver);
        add_fact(markdown, "isolation", run->isolation);
        add_fact(markdown, "started", run->started_utc);
    }
    add_fact(markdown, "workload", rig_buf_text(&workload));
    add_fact(markdown, "initial value", rig_buf_text(&initial));
    add_fact(markdown, "evidence", rig_buf_text(&evidence));
    if (run != NULL)
        add_fact(markdown, "kept in", run->folder);
    rig_buf_add_text(markdown->out, "</table>\n");
    rig_buf_done(&initial);
    rig_buf_done(&workload);
    rig_buf_done(&evidence);
}

void rig_report_markdown(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                         struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    struct markdown markdown = {.out = out};
    rig_buf_init(&markdown.text, 0);
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_clean(&line, name, false);
    rig_tell(out, "<h3>rig: %h</h3>\n<p><b>", rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_words_verdict(&line, verdict);
    rig_tell(out, "%h</b></p>\n", rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_happened_say(&line, verdict);
    if (line.size > 0)
        rig_tell(out, "<p>%h</p>\n", rig_buf_text(&line));
    rig_buf_clear(&line);
    rig_words_warnings(&line, verdict);
    if (line.size > 0)
        rig_tell(out, "<p>%h</p>\n", rig_buf_text(&line));
    rig_buf_add_text(out, "\n<table>\n<tr><th>kind</th><th>case</th><th>result</th><th>by</th><th>because</th></tr>\n");
    rig_report_cases_visit(verdict, add_row, &markdown);
    rig_buf_add_text(out, "</table>\n");
    rig_report_cases_visit(verdict, add_detail, &markdown);
    add_facts(&markdown, verdict, run);
    rig_buf_done(&line);
    rig_buf_done(&markdown.text);
}
