/*
 * The JUnit report: one suite, one case for each level and anomaly that was requested. An undecided case is an error,
 * not skipped: a nightly job must not show it as passed.
 */
#include <inttypes.h>

#include "base/bug.h"
#include "checker/certificate/certified.h"
#include "report/certificate_report.h"
#include "report/conditions.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/words.h"

static bool level_failed(const struct rig_verdict *verdict, unsigned level)
{
    return verdict->levels[level].fate == RIG_FATE_REFUTED;
}

static bool run_failed(const struct rig_verdict *verdict)
{
    return verdict->effort.failure != NULL;
}

/*
 * Whether the evidence is too little for every level that is not refuted and every anomaly that was not found. An
 * anomaly that was found decides the verdict but nothing about the others; an anomaly that is itself undecided leaves
 * the levels decided.
 */
static bool is_undecided(const struct rig_verdict *verdict)
{
    return verdict->shortfall != NULL || (verdict->valid == RIG_VALID_UNKNOWN && verdict->undecided_anomalies == 0);
}

static bool anomaly_undecided(const struct rig_verdict *verdict, unsigned anomaly)
{
    return is_undecided(verdict) || (verdict->undecided_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0;
}

/* A broken condition that no requested level guarantees is no failure. */
static bool condition_failed(const struct rig_verdict *verdict, const struct rig_table_condition *condition)
{
    return condition->broken > 0 && (condition->guaranteed_by & verdict->requested_levels) != 0;
}

static void count_cases(const struct rig_verdict *verdict, unsigned *tests, unsigned *failures, unsigned *errors)
{
    *failures = 0;
    *tests = *errors = run_failed(verdict);
    const bool unknown = is_undecided(verdict);
    enum rig_anomaly found;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) == 0)
            continue;
        ++*tests;
        *failures += level_failed(verdict, level);
        *errors += unknown && !level_failed(verdict, level);
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        ++*tests;
        bool there = rig_verdict_case_of(verdict, (enum rig_anomaly)anomaly, &found);
        *failures += there;
        *errors += !there && anomaly_undecided(verdict, anomaly);
    }
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        ++*tests;
        *failures += condition_failed(verdict, &verdict->effort.conditions[i]);
    }
    *tests += verdict->certified != NULL;
    *failures += rig_certificate_is_broken(verdict);
}

static void add_attribute(struct rig_buf *out, const char *name, const char *text)
{
    rig_buf_printf(out, " %s=\"", name);
    rig_markup_escape(out, text);
    rig_buf_add_char(out, '"');
}

static void add_property(struct rig_buf *out, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    rig_buf_printf(out, "      <property name=\"%s\"", name);
    add_attribute(out, "value", value);
    rig_buf_add_text(out, "/>\n");
}

static void begin_case(struct rig_buf *out, const char *suite, const char *kind, const char *name)
{
    rig_buf_add_text(out, "    <testcase classname=\"rig.");
    rig_markup_escape(out, suite);
    rig_buf_printf(out, ".%s\"", kind);
    add_attribute(out, "name", name);
    rig_buf_add_char(out, '>');
}

static void add_failure(struct rig_buf *out, const struct rig_verdict *verdict, enum rig_anomaly anomaly,
                        const char *message)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    rig_buf_add_text(out, "\n      <failure");
    add_attribute(out, "type", rig_anomaly_info(anomaly)->name);
    add_attribute(out, "message", message);
    rig_buf_add_char(out, '>');
    if (finding->witness_count > 0)
        rig_markup_escape(out, finding->witnesses[0].text);
    rig_buf_add_text(out, "</failure>\n    ");
}

static void add_undecided(struct rig_buf *out, const struct rig_verdict *verdict)
{
    rig_buf_add_text(out, "\n      <error type=\"undecided\"");
    const char *reason = verdict->unknown_reason != NULL ? verdict->unknown_reason : verdict->shortfall;
    add_attribute(out, "message", reason != NULL ? reason : "it is open whether there is one");
    rig_buf_add_text(out, "/>\n    ");
}

static void add_cases(struct rig_buf *out, const struct rig_verdict *verdict, const char *name)
{
    const bool unknown = is_undecided(verdict);
    if (run_failed(verdict)) {
        begin_case(out, name, "run", "completed");
        rig_buf_add_text(out, "\n      <error type=\"run-failed\"");
        add_attribute(out, "message", verdict->effort.failure);
        rig_buf_add_text(out, "/>\n    </testcase>\n");
    }
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) == 0)
            continue;
        const struct rig_level_result *result = &verdict->levels[level];
        begin_case(out, name, "levels", rig_level_info((enum rig_level)level)->name);
        if (level_failed(verdict, level))
            add_failure(out, verdict, result->because, result->reason);
        else if (unknown)
            add_undecided(out, verdict);
        rig_buf_add_text(out, "</testcase>\n");
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        begin_case(out, name, "anomalies", info->name);
        enum rig_anomaly found;
        if (rig_verdict_case_of(verdict, (enum rig_anomaly)anomaly, &found))
            add_failure(out, verdict, found, rig_anomaly_info(found)->definition);
        else if (anomaly_undecided(verdict, anomaly))
            add_undecided(out, verdict);
        rig_buf_add_text(out, "</testcase>\n");
    }
}

static void add_conditions(struct rig_buf *out, const struct rig_verdict *verdict, const char *name)
{
    for (uint32_t i = 0; i < verdict->effort.condition_count; i++) {
        const struct rig_table_condition *condition = &verdict->effort.conditions[i];
        begin_case(out, name, "conditions", condition->name);
        if (condition_failed(verdict, condition)) {
            struct rig_buf lines;
            rig_buf_init(&lines, 0);
            rig_condition_lines(&lines, condition);
            rig_buf_add_text(out, "\n      <failure type=\"condition\"");
            add_attribute(out, "message", condition->text);
            rig_buf_add_char(out, '>');
            rig_markup_escape(out, rig_buf_text(&lines));
            rig_buf_add_text(out, "</failure>\n    ");
            rig_buf_done(&lines);
        }
        rig_buf_add_text(out, "</testcase>\n");
    }
}

static void add_certificate(struct rig_buf *out, const struct rig_verdict *verdict, const char *name)
{
    if (verdict->certified == NULL)
        return;
    begin_case(out, name, "certificate", "agreement");
    if (rig_certificate_is_broken(verdict)) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_certificate_say_broken(&text, verdict);
        rig_buf_add_text(out, "\n      <failure type=\"certificate\"");
        add_attribute(out, "message", rig_buf_text(&text));
        rig_buf_add_char(out, '>');
        rig_buf_clear(&text);
        rig_certificate_witnesses(&text, verdict);
        rig_markup_escape(out, rig_buf_text(&text));
        rig_buf_add_text(out, "</failure>\n    ");
        rig_buf_done(&text);
    }
    rig_buf_add_text(out, "</testcase>\n");
}

void rig_report_junit(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                      struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    unsigned tests, failures, errors;
    count_cases(verdict, &tests, &failures, &errors);
    double seconds = (verdict->cost.read_ms + verdict->cost.infer_ms + verdict->cost.search_ms) / 1e3;
    if (run != NULL)
        seconds += run->took_s > 0 ? run->took_s : run->load_s;
    rig_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", name);
    rig_buf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n", tests, failures,
                   errors, seconds);
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
    add_cases(out, verdict, name);
    add_conditions(out, verdict, name);
    add_certificate(out, verdict, name);
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
