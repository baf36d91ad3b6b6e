#include "report/cases.h"

#include <string.h>

#include "base/bug.h"
#include "report/certificate_report.h"
#include "report/conditions.h"
#include "report/server_crashes.h"
#include "report/known_report.h"
#include "report/words.h"

struct visitor {
    const struct rig_verdict *verdict;
    rig_report_case_visit *visit;
    void *context;
    bool all_passed; /* so far */
};

static void show(struct visitor *visitor, const struct rig_report_case *test_case)
{
    RIG_INVARIANT(test_case->state == RIG_CASE_PASSED || (test_case->type != NULL && test_case->message != NULL));
    visitor->all_passed &= (test_case->state == RIG_CASE_PASSED || test_case->state == RIG_CASE_KNOWN);
    visitor->visit(test_case, visitor->context);
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

static struct rig_report_case passed_case(const char *kind, const char *name)
{
    return (struct rig_report_case){.state = RIG_CASE_PASSED, .kind = kind, .name = name, .anomaly = RIG_ANOMALY_COUNT};
}

static void leave_open(struct rig_report_case *test_case, const struct rig_verdict *verdict)
{
    const char *reason = verdict->unknown_reason != NULL ? verdict->unknown_reason : verdict->shortfall;
    test_case->state = RIG_CASE_OPEN;
    test_case->type = "undecided";
    test_case->message = reason != NULL ? reason : "it is open whether there is one";
}

static void fail_by(struct rig_report_case *test_case, const struct rig_verdict *verdict, enum rig_anomaly anomaly,
                    const char *message)
{
    const struct rig_finding *finding = &verdict->findings[anomaly];
    const char *definition = rig_anomaly_info(anomaly)->definition;
    test_case->state = rig_known_explains(verdict) ? RIG_CASE_KNOWN : RIG_CASE_FAILED;
    test_case->anomaly = anomaly;
    test_case->type = rig_anomaly_info(anomaly)->name;
    test_case->message = message != NULL ? message : definition;
    test_case->detail = finding->witness_count > 0 ? finding->witnesses[0].text : NULL;
}

static void show_run(struct visitor *visitor)
{
    if (visitor->verdict->effort.failure == NULL)
        return;
    struct rig_report_case test_case = passed_case("run", "completed");
    test_case.state = RIG_CASE_OPEN;
    test_case.type = "run-failed";
    test_case.message = visitor->verdict->effort.failure;
    show(visitor, &test_case);
}

static void show_levels(struct visitor *visitor)
{
    const struct rig_verdict *verdict = visitor->verdict;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) == 0)
            continue;
        const struct rig_level_result *result = &verdict->levels[level];
        struct rig_report_case test_case = passed_case("levels", rig_level_info((enum rig_level)level)->name);
        if (result->fate == RIG_FATE_REFUTED)
            fail_by(&test_case, verdict, result->because, result->reason);
        else if (is_undecided(verdict))
            leave_open(&test_case, verdict);
        show(visitor, &test_case);
    }
}

static void show_anomalies(struct visitor *visitor)
{
    const struct rig_verdict *verdict = visitor->verdict;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) == 0)
            continue;
        struct rig_report_case test_case = passed_case("anomalies", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        enum rig_anomaly found;
        if (rig_verdict_case_of(verdict, (enum rig_anomaly)anomaly, &found))
            fail_by(&test_case, verdict, found, NULL);
        else if (is_undecided(verdict) || (verdict->undecided_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
            leave_open(&test_case, verdict);
        show(visitor, &test_case);
    }
}

/* A broken condition that no requested level guarantees is no failure. */
static bool condition_failed(const struct rig_verdict *verdict, const struct rig_table_condition *condition)
{
    return condition->broken > 0 && (condition->guaranteed_by & verdict->requested_levels) != 0;
}

static void show_conditions(struct visitor *visitor)
{
    struct rig_buf lines;
    rig_buf_init(&lines, 0);
    for (uint32_t i = 0; i < visitor->verdict->effort.condition_count; i++) {
        const struct rig_table_condition *condition = &visitor->verdict->effort.conditions[i];
        struct rig_report_case test_case = passed_case("conditions", condition->name);
        if (condition_failed(visitor->verdict, condition)) {
            rig_buf_clear(&lines);
            rig_condition_lines(&lines, condition);
            test_case.state = RIG_CASE_FAILED;
            test_case.type = "condition";
            test_case.message = condition->text;
            test_case.detail = rig_buf_text(&lines);
        }
        show(visitor, &test_case);
    }
    rig_buf_done(&lines);
}

static void show_crashes(struct visitor *visitor)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (uint32_t i = 0; i < visitor->verdict->effort.crash_count; i++) {
        const struct rig_server_crash *crash = &visitor->verdict->effort.crashes[i];
        struct rig_report_case test_case = passed_case("run", "server-crash");
        rig_buf_clear(&text);
        rig_crash_say(&text, crash);
        if (crash->fails) {
            test_case.state = RIG_CASE_FAILED;
            test_case.type = "server-crash";
            test_case.message = rig_buf_text(&text);
            test_case.detail = crash->log_tail;
            show(visitor, &test_case);
            break; /* one case: names are unique */
        }
    }
    rig_buf_done(&text);
}

static void show_certificate(struct visitor *visitor)
{
    if (visitor->verdict->certified == NULL)
        return;
    struct rig_buf sentence, witnesses;
    rig_buf_init(&sentence, 0);
    rig_buf_init(&witnesses, 0);
    struct rig_report_case test_case = passed_case("certificate", "agreement");
    if (rig_certificate_is_broken(visitor->verdict)) {
        rig_certificate_say_broken(&sentence, visitor->verdict);
        rig_certificate_witnesses(&witnesses, visitor->verdict);
        test_case.state = RIG_CASE_FAILED;
        test_case.type = "certificate";
        test_case.message = rig_buf_text(&sentence);
        test_case.detail = rig_buf_text(&witnesses);
    }
    show(visitor, &test_case);
    rig_buf_done(&sentence);
    rig_buf_done(&witnesses);
}

/* An issue that has to appear and did not is open. The other ones are never the reason of a verdict. */
static void show_known(struct visitor *visitor)
{
    const struct rig_known_issues *known = visitor->verdict->known;
    struct rig_buf line;
    rig_buf_init(&line, 0);
    for (uint32_t i = 0; known != NULL && i < known->count; i++) {
        const struct rig_known_outcome *outcome = &known->outcomes[i];
        struct rig_report_case test_case = passed_case("known", outcome->issue->name);
        rig_buf_clear(&line);
        rig_known_say(&line, outcome);
        if (outcome->witness != NULL) {
            test_case.state = RIG_CASE_KNOWN;
            test_case.type = rig_anomaly_info(outcome->witness->anomaly)->name;
            test_case.message = rig_buf_text(&line);
            test_case.detail = outcome->witness->text;
            test_case.anomaly = outcome->witness->anomaly;
        } else if (known->required) {
            test_case.state = RIG_CASE_OPEN;
            test_case.type = "undecided";
            test_case.message = rig_buf_text(&line);
        }
        show(visitor, &test_case);
    }
    rig_buf_done(&line);
}

/* The verdict itself, where it is not valid although every request passed: a level that has to be held, for
 * instance. */
static void show_rest(struct visitor *visitor)
{
    const struct rig_verdict *verdict = visitor->verdict;
    if (verdict->valid == RIG_VALID_TRUE || !visitor->all_passed)
        return;
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_verdict(&line, verdict);
    struct rig_report_case test_case = passed_case("run", "verdict");
    leave_open(&test_case, verdict);
    if (verdict->valid == RIG_VALID_FALSE) {
        test_case.state = RIG_CASE_FAILED;
        test_case.type = "verdict";
    }
    test_case.message = rig_buf_text(&line);
    show(visitor, &test_case);
    rig_buf_done(&line);
}

void rig_report_cases_visit(const struct rig_verdict *verdict, rig_report_case_visit *visit, void *context)
{
    RIG_REQUIRE(verdict != NULL && visit != NULL);
    struct visitor visitor = {.verdict = verdict, .visit = visit, .context = context, .all_passed = true};
    show_run(&visitor);
    show_levels(&visitor);
    show_anomalies(&visitor);
    show_conditions(&visitor);
    show_crashes(&visitor);
    show_certificate(&visitor);
    show_known(&visitor);
    show_rest(&visitor);
}

void rig_report_case_say(struct rig_buf *out, const struct rig_report_case *test_case)
{
    const char *message = test_case->message == NULL ? "" : test_case->message;
    const char *detail = test_case->detail == NULL ? "" : test_case->detail;
    const bool repeats = strncmp(detail, message, strlen(message)) == 0;
    if (!repeats || *detail == '\0')
        rig_words_clean(out, message, false);
    if (!repeats && *detail != '\0')
        rig_buf_add_char(out, '\n');
    rig_words_clean(out, detail, true);
}
