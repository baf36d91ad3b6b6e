/*
 * The JUnit report: one suite with the verdict's cases (report/cases.h). An undecided case is an error, not skipped: a
 * nightly job must not show it as passed.
 */
#include <inttypes.h>

#include "base/bug.h"
#include "report/cases.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/tell.h"
#include "report/words.h"

struct counts {
    unsigned tests, failures, errors;
};

static void count_case(const struct rig_report_case *test_case, void *context)
{
    struct counts *counts = context;
    counts->tests++;
    counts->failures += test_case->state == RIG_CASE_FAILED;
    counts->errors += test_case->state == RIG_CASE_OPEN;
}

static void add_attribute(struct rig_buf *out, const char *name, const char *text)
{
    rig_tell(out, " %s=\"%h\"", name, text);
}

static void add_property(struct rig_buf *out, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    rig_buf_printf(out, "      <property name=\"%s\"", name);
    add_attribute(out, "value", value);
    rig_buf_add_text(out, "/>\n");
}

struct suite {
    struct rig_buf *out;
    const char *name;
};

static void add_case(const struct rig_report_case *test_case, void *context)
{
    const struct suite *suite = context;
    struct rig_buf *out = suite->out;
    rig_tell(out, "    <testcase classname=\"rig.%h.%s\"", suite->name, test_case->kind);
    add_attribute(out, "name", test_case->name);
    rig_buf_add_char(out, '>');
    if (test_case->state == RIG_CASE_KNOWN) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_report_case_say(&text, test_case);
        rig_tell(out, "\n      <system-out>known: %h</system-out>\n    ", rig_buf_text(&text));
        rig_buf_done(&text);
    } else if (test_case->state != RIG_CASE_PASSED) {
        const char *element = test_case->state == RIG_CASE_FAILED ? "failure" : "error";
        rig_buf_printf(out, "\n      <%s", element);
        add_attribute(out, "type", test_case->type);
        add_attribute(out, "message", test_case->message);
        if (test_case->detail == NULL) {
            rig_buf_add_text(out, "/>\n    ");
        } else {
            rig_tell(out, ">%h</%s>\n    ", test_case->detail, element);
        }
    }
    rig_buf_add_text(out, "</testcase>\n");
}

void rig_report_junit(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                      struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    struct counts counts = {0};
    rig_report_cases_visit(verdict, count_case, &counts);
    double seconds = (verdict->cost.read_ms + verdict->cost.infer_ms + verdict->cost.search_ms) / 1e3;
    if (run != NULL)
        seconds += run->took_s > 0 ? run->took_s : run->load_s;
    rig_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", name);
    rig_buf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n", counts.tests,
                   counts.failures, counts.errors, seconds);
    if (run != NULL) {
        struct rig_buf seed;
        rig_buf_init(&seed, 0);
        rig_buf_printf(&seed, "%" PRIu64, run->seed);
        rig_buf_add_text(out, "    <properties>\n");
        add_property(out, "driver", run->driver);
        add_property(out, "server", run->server);
        add_property(out, "isolation", run->isolation);
        add_property(out, "started", run->started_utc);
        add_property(out, "seed", rig_buf_text(&seed));
        add_property(out, "rig", run->provenance.version);
        add_property(out, "commit", run->provenance.commit);
        rig_buf_clear(&seed);
        rig_words_evidence(&seed, verdict);
        add_property(out, "evidence", rig_buf_text(&seed));
        rig_buf_add_text(out, "    </properties>\n");
        rig_buf_done(&seed);
    }
    rig_report_cases_visit(verdict, add_case, &(struct suite){.out = out, .name = name});
    rig_buf_add_text(out, "    <system-out>");
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_words_warnings(&text, verdict);
    rig_words_verdict(&text, verdict);
    rig_buf_printf(&text, "\n%s", verdict->summary == NULL ? "" : verdict->summary);
    rig_markup_escape(out, rig_buf_text(&text));
    rig_buf_done(&text);
    rig_buf_add_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
}
