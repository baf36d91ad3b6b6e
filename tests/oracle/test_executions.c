/* The definitions of the second and the third oracle, by the smallest histories that tell two levels apart. */
#include "tests/unit/cmocka_first.h"

#include "tests/oracle/version_cases.h"

/* A history that the levels in `allowing` explain, and those in `refuting` do not; of lists and of registers. */
struct example {
    const char *name, *history;
    uint32_t allowing, refuting; /* bits of enum execution_kind */
    enum execution_order order;
    bool lists_only;
};

#define K(kind) (UINT32_C(1) << EXECUTION_##kind)

static const struct example examples[] = {
    {"lost update", "ok 0 0-2: rx[] ax1; ok 1 1-3: rx[] ax2",
     K(RC) | K(MAV) | K(ML) | K(MSR) | K(RA) | K(CC) | K(PREFIX),
     K(CS) | K(CV) | K(UA) | K(PSI) | K(SI) | K(PL3U) | K(RR) | K(SER), EXECUTION_PLAIN, false},
    {"write skew", "ok 0 0-2: rx[] ry[] ax1; ok 1 1-3: rx[] ry[] ay1",
     K(CS) | K(MSR) | K(CV) | K(UA) | K(PREFIX) | K(PSI) | K(SI), K(PL3U) | K(RR) | K(SER), EXECUTION_PLAIN, false},
    {"long fork", "ok 0 0-4: ax1; ok 1 1-5: ay1; ok 2 2-6: rx[1] ry[]; ok 3 3-7: ry[1] rx[]",
     K(CS) | K(ML) | K(CV) | K(RA) | K(CC) | K(UA) | K(PSI) | K(PL3U), K(MSR) | K(PREFIX) | K(SI) | K(RR) | K(SER),
     EXECUTION_PLAIN, false},
    {"read skew, the new version first", "ok 0 0-2: ax1 ay1; ok 1 1-3: rx[1] ry[]", K(RC) | K(CS),
     K(MAV) | K(ML) | K(MSR) | K(CV) | K(RA) | K(PL3U) | K(SER), EXECUTION_PLAIN, false},
    {"read skew, the old version first", "ok 0 0-2: ax1 ay1; ok 1 1-3: ry[] rx[1]", K(CS) | K(MAV) | K(ML) | K(MSR),
     K(CV) | K(RA) | K(PL3U) | K(SER), EXECUTION_PLAIN, false},
    {"a read repeated", "ok 0 0-2: ax1; ok 1 1-3: rx[] rx[1]", K(CS) | K(MAV) | K(ML) | K(MSR),
     K(CV) | K(RA) | K(RR) | K(SER), EXECUTION_PLAIN, false},
    {"missed through a read", "ok 0 0-3: ay1; ok 1 1-4: ry[1] ax1; ok 2 2-5: rx[1] ry[]",
     K(CS) | K(MAV) | K(RA) | K(UA), K(ML) | K(MSR) | K(CV) | K(CC) | K(PREFIX) | K(PSI) | K(PL3U), EXECUTION_PLAIN,
     false},
    {"unread appends of skewed writes", "ok 0 0-2: ry[] ay1 ax1; ok 1 1-3: rx[] ay2",
     K(RC) | K(MAV) | K(RA) | K(CC) | K(PREFIX) | K(MSR), K(UA) | K(PSI) | K(SI) | K(SER), EXECUTION_PLAIN, false},
    {"a later read of an older version", "ok 0 0-2: ax1; ok 1 1-3: rx[1] rx[]", K(RC) | K(CS), K(MAV) | K(ML) | K(MSR),
     EXECUTION_PLAIN, false},
    {"an own read that orders the appends", "ok 0 0-2: ax1 rx[1]; ok 1 1-3: rx[] ax2", K(RC) | K(RA), K(CS) | K(SER),
     EXECUTION_PLAIN, true},
    {"writes that missed each other's", "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1", K(CV) | K(PSI) | K(SI),
     K(PL3U) | K(SER), EXECUTION_PLAIN, false},
    {"the own session missed", "ok 0 0-1: ax1; ok 0 2-3: rx[]", K(RC) | K(SI) | K(SER), 0, EXECUTION_PLAIN, false},
    {"the own session missed, in its order", "ok 0 0-1: ax1; ok 0 2-3: rx[]", K(RC), K(SI) | K(SER), EXECUTION_SESSION,
     false},
    {"an earlier write missed, between processes", "ok 0 0-1: ax1; ok 1 2-3: rx[]", K(RC) | K(SI) | K(SER), 0,
     EXECUTION_SESSION, false},
    {"an earlier write missed, in real time", "ok 0 0-1: ax1; ok 1 2-3: rx[]", K(RC), K(SI) | K(SER), EXECUTION_STRONG,
     false},
    {"an unknown fate precedes nothing", "info 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: rx[1]", K(SI) | K(SER), 0,
     EXECUTION_STRONG, false},
    {"an own write not read", "ok 0 0-1: ax1 rx[]", K(RC) | K(CS) | K(MSR) | K(CV) | K(PL3U),
     K(RA) | K(SI) | K(RR) | K(SER), EXECUTION_PLAIN, false},
    {"a snapshot between two writes", "ok 0 0-2: ay1 rx[] ax1; ok 1 1-3: ay2 rx[] ax2", K(PREFIX) | K(CC) | K(RA),
     K(MSR) | K(CS) | K(UA) | K(SI), EXECUTION_PLAIN, false},
};

static void check(const struct example *example, const struct small_history *history)
{
    struct executions executions;
    struct case_answers cases;
    executions_find(history, EXECUTION_PREFILLED, &executions);
    version_cases_find(history, &cases);
    for (int kind = EXECUTION_RC; kind < EXECUTION_KINDS; kind++) {
        const bool allowed = (example->allowing >> kind & 1) != 0, refuted = (example->refuting >> kind & 1) != 0;
        const bool exists = executions.exists[kind][example->order];
        if (!allowed && !refuted)
            continue;
        if (exists != allowed || (cases.answer[kind][example->order] == CASES_YES) != allowed)
            fail_msg("%s (%s): level %d: expected %d, executions %d, cases %d", example->name,
                     history->registers ? "registers" : "lists", kind, allowed, exists,
                     (int)cases.answer[kind][example->order]);
    }
}

static void examples_tell_levels_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct small_history history;
        assert_true(small_parse(examples[i].history, &history));
        check(&examples[i], &history);
        history.registers = true;
        if (!examples[i].lists_only)
            check(&examples[i], &history);
    }
}

/* Each pair of writers, either way round, leaves one contradiction: only the cases together refute. */
static void crossed_reads_refute_by_cases(void **state)
{
    static const char text[] = "ok 0 0-8: ax1; ok 1 1-9: ax2; ok 2 2-10: ay1; ok 3 3-11: ay2; ok 4 4-12: rx[1] ry[2]; "
                               "ok 5 5-13: rx[2] ry[1]; ok 6 6-14: rx[1] ry[1]; ok 7 7-15: rx[2] ry[2]";
    struct small_history history;
    struct case_answers cases;
    (void)state;
    assert_true(small_parse(text, &history));
    history.registers = true;
    version_cases_find(&history, &cases);
    assert_int_equal(cases.answer[EXECUTION_SER][EXECUTION_PLAIN], CASES_NO);
    assert_true(cases.split[EXECUTION_SER][EXECUTION_PLAIN] > 0);
    assert_int_equal(cases.answer[EXECUTION_PREFIX][EXECUTION_PLAIN], CASES_NO);
    assert_int_equal(cases.answer[EXECUTION_PSI][EXECUTION_PLAIN], CASES_YES);
    history.txn_count = 7;
    version_cases_find(&history, &cases);
    assert_int_equal(cases.answer[EXECUTION_SER][EXECUTION_PLAIN], CASES_YES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_tell_levels_apart),
                                       cmocka_unit_test(crossed_reads_refute_by_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
