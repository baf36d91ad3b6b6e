/* The minimum of evidence: each missing part makes a valid verdict undecided, and nothing else does. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/check.h"
#include "checker/judge/minimum.h"

static const char clean[] = "ok 0 0-1: ax1; ok 1 2-3: rx[1] ax2; ok 0 4-5: rx[1 2]";
static const char skew[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]";
static const struct rig_minimum asked = {.acknowledged = 3, .load = 0.9, .answering = 0.8};
static const struct rig_effort whole = {.known = true, .acknowledged = 3, .load = 0.9, .answering = 0.8};

struct judged {
    enum rig_valid valid;
    char reason[512], shortfall[512];
};

static struct judged judge(const char *notation, const struct rig_minimum *minimum, const struct rig_effort *effort,
                           const struct rig_scope *scope)
{
    struct rig_err err = {0};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)};
    struct rig_history *history = given(notation);
    struct rig_verdict *verdict = NULL;
    assert_int_equal(rig_check(history, &options, &verdict, &err), RIG_OK);
    verdict->scope.truncated = scope->truncated;
    verdict->scope.damaged_at = scope->damaged_at;
    verdict->scope.damaged_bytes = scope->damaged_bytes;
    verdict->scope.faults = scope->faults;
    verdict->scope.fault_count = scope->fault_count;
    assert_int_equal(rig_verdict_weigh(verdict, minimum, effort, &err), RIG_OK);
    struct judged judged = {.valid = verdict->valid};
    (void)snprintf(judged.reason, sizeof judged.reason, "%s",
                   verdict->unknown_reason == NULL ? "" : verdict->unknown_reason);
    (void)snprintf(judged.shortfall, sizeof judged.shortfall, "%s",
                   verdict->shortfall == NULL ? "" : verdict->shortfall);
    assert_int_equal(judged.valid == RIG_VALID_UNKNOWN, verdict->unknown_reason != NULL);
    rig_verdict_free(verdict);
    rig_history_free(history);
    return judged;
}

static const struct rig_scope unharmed = {.fault_count = 0};

/* Undecided without an anomaly; with one it stays an anomaly, and the shortfall is reported beside it. */
static void assert_short(const struct rig_minimum *minimum, const struct rig_effort *effort,
                         const struct rig_scope *scope, const char *reason)
{
    const struct judged of_clean = judge(clean, minimum, effort, scope);
    assert_int_equal(of_clean.valid, RIG_VALID_UNKNOWN);
    assert_string_equal(of_clean.reason, reason);
    const struct judged of_skew = judge(skew, minimum, effort, scope);
    assert_int_equal(of_skew.valid, RIG_VALID_FALSE);
    assert_string_equal(of_skew.shortfall, reason);
}

static void assert_enough(const struct rig_minimum *minimum, const struct rig_effort *effort,
                          const struct rig_scope *scope)
{
    const struct judged judged = judge(clean, minimum, effort, scope);
    assert_string_equal(judged.shortfall, "");
    assert_int_equal(judged.valid, RIG_VALID_TRUE);
}

/* A condition of a program refutes, or leaves open, what a requested level guarantees, and nothing else. */
static void conditions_are_weighed(void **state)
{
    (void)state;
    struct rig_table_condition conditions[2] = {
        {.name = "sum", .text = "t", .source = "s", .guaranteed_by = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)},
        {.name = "other", .text = "t", .source = "s", .guaranteed_by = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE)}};
    struct rig_effort effort = whole;
    effort.conditions = conditions;
    effort.condition_count = 2;
    assert_enough(&asked, &effort, &unharmed);
    conditions[1].broken = 1;
    assert_enough(&asked, &effort, &unharmed);
    conditions[1].broken = 0;
    conditions[1].problem = "no answer";
    assert_enough(&asked, &effort, &unharmed);
    conditions[0].problem = "no answer";
    assert_short(&asked, &effort, &unharmed, "the condition sum was not checked: no answer");
    conditions[0] = (struct rig_table_condition){
        .name = "sum", .text = "t", .source = "s", .guaranteed_by = conditions[0].guaranteed_by, .broken = 3};
    assert_int_equal(judge(clean, &asked, &effort, &unharmed).valid, RIG_VALID_FALSE);
    assert_int_equal(judge("", &asked, &effort, &unharmed).valid, RIG_VALID_FALSE);
}

static void enough_is_enough(void **state)
{
    (void)state;
    assert_enough(&asked, &whole, &unharmed);
    assert_enough(&RIG_MINIMUM_OF_HISTORY, NULL, &unharmed);
    const struct rig_minimum nothing = {.load = 0};
    const struct rig_effort none = {.known = true};
    assert_enough(&nothing, &none, &unharmed);
}

static void each_share_has_its_minimum(void **state)
{
    (void)state;
    struct rig_effort effort = whole;
    effort.acknowledged = 2;
    assert_short(&asked, &effort, &unharmed, "2 transactions of the load were acknowledged (minimum.acknowledged: 3)");
    effort = whole;
    effort.load = 0.8999;
    assert_short(&asked, &effort, &unharmed, "89.9 % of the planned load was carried out (minimum.load: 90 %)");
    effort.interrupted = true;
    effort.load = 0.006;
    assert_short(&asked, &effort, &unharmed,
                 "the run was interrupted when 0.6 % of the planned load was carried out (minimum.load: 90 %)");
    effort = whole;
    effort.answering = 0.25;
    assert_short(&asked, &effort, &unharmed,
                 "the database answered during 25 % of the load's time (minimum.answering: 80 %)");
    effort.load = 0;
    assert_short(&asked, &effort, &unharmed,
                 "0 % of the planned load was carried out (minimum.load: 90 %); the database answered during 25 % of "
                 "the load's time (minimum.answering: 80 %)");
}

static void a_run_that_failed_or_left_nothing_is_no_evidence(void **state)
{
    (void)state;
    struct rig_effort effort = whole;
    effort.failure = "nemesis: cannot heal";
    assert_short(&asked, &effort, &unharmed, "the run failed: nemesis: cannot heal");
    const struct rig_effort lost = {.lost = true};
    assert_int_equal(judge(clean, &asked, &lost, &unharmed).valid, RIG_VALID_UNKNOWN);
    const struct rig_minimum lenient = {.acknowledged = 1};
    assert_enough(&lenient, &lost, &unharmed);
}

static void a_record_that_is_not_whole_is_no_evidence(void **state)
{
    (void)state;
    const struct rig_scope cut = {.truncated = true},
                           damaged = {.truncated = true, .damaged_at = 300, .damaged_bytes = 41};
    const char *where = "the record is damaged at byte 300: the last 41 bytes were not checked";
    const struct rig_minimum lenient = {.acknowledged = 1};
    assert_short(&asked, &whole, &cut, "the record was cut, and does not show the end of the run");
    assert_enough(&lenient, NULL, &cut);
    assert_short(&asked, &whole, &damaged, where);
    assert_short(&lenient, NULL, &damaged, where);
}

static void faults_that_were_wanted_have_to_strike(void **state)
{
    (void)state;
    const char *none = "none of the plan's faults took effect";
    struct rig_effort effort = whole;
    effort.planned_faults = 2;
    assert_short(&asked, &effort, &unharmed, none);
    const struct rig_fault_event events[] = {
        {.injection = 1, .step = RIG_FAULT_INJECT, .fault = "kill", .targets = "", .text = ""},
        {.injection = 1, .step = RIG_FAULT_INJECTED, .failed = true, .fault = "kill", .targets = "", .text = "gone"},
        {.injection = 1, .step = RIG_FAULT_HEALED, .fault = "kill", .targets = "", .text = ""},
        {.injection = 2, .step = RIG_FAULT_INJECTED, .fault = "kill", .targets = "", .text = "seen"}};
    struct rig_scope scope = {.faults = events, .fault_count = 3};
    assert_short(&asked, &effort, &scope, none);
    assert_short(&asked, NULL, &scope, none); /* the history itself shows it */
    scope.fault_count = 4;
    assert_enough(&asked, &effort, &scope);
    assert_enough(&asked, NULL, &scope);
}

/* The reference's lattice neither refutes nor proves update serializability where there is write skew. */
static void held_can_be_insisted_on(void **state)
{
    (void)state;
    struct rig_err err = {0};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_UPDATE_SERIALIZABLE) |
                                                        RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED),
                                              .lattice = RIG_LATTICE_REFERENCE};
    for (int held = 0; held < 2; held++) {
        struct rig_minimum minimum = asked;
        minimum.held = held == 1;
        struct rig_history *history = given(skew);
        struct rig_verdict *verdict = NULL;
        assert_int_equal(rig_check(history, &options, &verdict, &err), RIG_OK);
        assert_int_equal(rig_verdict_weigh(verdict, &minimum, &whole, &err), RIG_OK);
        assert_int_equal(verdict->valid, held == 1 ? RIG_VALID_UNKNOWN : RIG_VALID_TRUE);
        if (held == 1)
            assert_non_null(strstr(verdict->unknown_reason, "update-serializable is not proven to hold"));
        rig_verdict_free(verdict);
        rig_history_free(history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_is_enough),
        cmocka_unit_test(conditions_are_weighed),
        cmocka_unit_test(each_share_has_its_minimum),
        cmocka_unit_test(a_run_that_failed_or_left_nothing_is_no_evidence),
        cmocka_unit_test(a_record_that_is_not_whole_is_no_evidence),
        cmocka_unit_test(faults_that_were_wanted_have_to_strike),
        cmocka_unit_test(held_can_be_insisted_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
