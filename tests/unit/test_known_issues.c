/* Which verdicts known issues explain: no other anomaly hides behind a known one. */
#include "tests/unit/given_history.h"

#include "checker/judge/known_issues.h"
#include "history/model/history_excerpt.h"
#include "tests/oracle/small_execution.h"

/* Write skews of two transactions, on x and y, and on z and w. */
#define FIRST_SKEW  "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]; "
#define SECOND_SKEW "ok 3 10-12: rz[] aw1; ok 4 11-13: rw[] az1; ok 5 14-15: rz[1] rw[1]; "
/* A cycle of three transactions by rw edges, of which the first one is also in FIRST_SKEW. */
#define SHARED_SKEW                                                                                                    \
    "ok 0 0-20: rx[] ay1 rz[]; ok 1 1-21: ry[] ax1; ok 2 2-22: az1 rw[]; ok 3 3-23: aw1 ry[]; "                        \
    "ok 4 30-31: rx[1] ry[1] rz[1] rw[1]; "
#define CIRCLE "ok 6 20-22: az9 rw[9]; ok 7 21-23: aw9 rz[9]; "

static const struct rig_known_issue skew_of_two = {
    .name = "skew", .shape = {.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM), .transactions = {2, 2}}};

static enum rig_rc load_none(void *context, struct rig_history **history, struct rig_err *err)
{
    (void)context;
    (void)history;
    return rig_fail(err, RIG_E_INPUT, "the history is in memory");
}

/* Judges the history with its serializability asked for, and compares it with the issue. */
static struct rig_verdict *compared(const struct rig_history *history, const struct rig_known_issue *issue,
                                    uint32_t max_witnesses)
{
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_known_request request = {
        .issues = issue,
        .count = 1,
        .load = load_none,
        .check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE), .assumptions = RIG_ASSUMES_PREFILLED}};
    request.check.max_witnesses = max_witnesses;
    assert_int_equal(rig_check(history, &request.check, &verdict, &err), RIG_OK);
    if (rig_known_issues_compare(verdict, &request, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return verdict;
}

static void expect(const char *notation, const struct rig_known_issue *issue, uint32_t max_witnesses, bool explained)
{
    struct rig_history *history = given(notation);
    struct rig_verdict *verdict = compared(history, issue, max_witnesses);
    if (verdict->known->explained != explained)
        fail_msg("%s: %s", notation, verdict->known->why_not == NULL ? "explained" : verdict->known->why_not);
    assert_int_equal(verdict->valid, explained ? RIG_VALID_TRUE : RIG_VALID_FALSE);
    assert_int_equal(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(verdict->known->why_not == NULL, explained);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

static void known_ones_alone_are_explained(void **state)
{
    (void)state;
    for (uint32_t most = 1; most < 9; most += 7) {
        expect(FIRST_SKEW, &skew_of_two, most, true);
        expect(FIRST_SKEW SECOND_SKEW, &skew_of_two, most, true);
    }
}

static void another_anomaly_is_not_hidden(void **state)
{
    (void)state;
    struct rig_known_issue issue = skew_of_two;
    for (uint32_t most = 1; most < 9; most += 7) {
        expect(FIRST_SKEW CIRCLE, &skew_of_two, most, false);
        expect(SHARED_SKEW, &skew_of_two, most, false);
    }
    issue.shape.transactions.most = 3;
    expect(SHARED_SKEW, &issue, 1, true);
    issue.shape.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G1C);
    expect(FIRST_SKEW, &issue, 8, false);
    issue = skew_of_two;
    issue.shape.keeps = RIG_LEVEL_BIT(RIG_LEVEL_REPEATABLE_READ);
    expect(FIRST_SKEW, &issue, 8, false);
    issue = skew_of_two;
    issue.unlike = "it is about another database";
    expect(FIRST_SKEW, &issue, 8, false);
    issue = skew_of_two;
    issue.shape.acknowledged = true;
    expect(FIRST_SKEW, &issue, 8, true);
    expect("info 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]", &issue, 8, false);
}

/* The two transactions of a skew end 1 ms apart, and a third one that the first did not see is there or not. */
static void together_asks_for_a_third(void **state)
{
    (void)state;
    struct rig_known_issue issue = skew_of_two;
    issue.shape.together_ns = 3000000;
    expect(FIRST_SKEW, &issue, 8, false);
    expect("ok 0 0-3: rx[] ay1; ok 3 1-4: ax7; ok 1 2-9: rx[7] ry[] ax1; ok 2 20-21: rx[7 1] ry[1]", &issue, 8, true);
    issue.shape.together_ns = 500000;
    expect("ok 0 0-3: rx[] ay1; ok 3 1-4: ax7; ok 1 2-9: rx[7] ry[] ax1; ok 2 20-21: rx[7 1] ry[1]", &issue, 8, false);
}

/* -- random histories ---------------------------------------------------------------------------------------------- */

/* Whether the history refutes serializability when only the transactions in `whole`, bits, stay whole. */
static bool is_refuted(const struct rig_history *history, uint32_t whole)
{
    uint8_t keep[SMALL_TXNS], apart[SMALL_TXNS];
    struct rig_err err = {0};
    struct rig_history *parts = NULL;
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE),
                                              .assumptions = RIG_ASSUMES_PREFILLED};
    const struct rig_history_choice choice = {.txns = keep, .apart = apart};
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        keep[txn] = 1;
        apart[txn] = (whole >> txn & 1) == 0;
    }
    assert_int_equal(rig_history_excerpt_of(history, &choice, &parts, &err), RIG_OK);
    assert_int_equal(rig_check(parts, &options, &verdict, &err), RIG_OK);
    const bool refuted = verdict->valid == RIG_VALID_FALSE;
    rig_verdict_free(verdict);
    rig_history_free(parts);
    return refuted;
}

/* Every set of transactions that breaks serializability has one or two in it that break it alone. */
static void check_all_sets(const struct rig_history *history, const struct rig_verdict *verdict)
{
    static bool refuted[1 << 6];
    const uint32_t count = 1U << history->txn_count;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        if (anomaly != RIG_ANOMALY_G2_ITEM && finding->count > 0)
            assert_int_equal(finding->refutes & RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE), 0);
    }
    for (uint32_t set = 0; set < count; set++) {
        bool by_two = false;
        refuted[set] = is_refuted(history, set);
        for (uint32_t some = 1; some <= set && refuted[set]; some++)
            by_two |= (some & ~set) == 0 && __builtin_popcount(some) <= 2 && refuted[some];
        assert_int_equal(refuted[set], by_two);
    }
}

static void random_histories_hide_nothing(void **state)
{
    (void)state;
    static struct small_history small;
    uint32_t explained = 0, refused = 0;
    for (uint64_t number = 0; number < 6000; number++) {
        small_execution(5, number, (struct small_shape){.least = 3, .most = 6}, &small);
        struct rig_history *history = given_small(&small);
        struct rig_verdict *verdict = compared(history, &skew_of_two, 1 + (uint32_t)(number % 2) * 7);
        if (verdict->known->explained)
            check_all_sets(history, verdict);
        explained += verdict->known->explained;
        refused += verdict->known->why_not != NULL;
        rig_verdict_free(verdict);
        rig_history_free(history);
    }
    print_message("%u explained, %u not\n", explained, refused);
    assert_in_range(explained, 20, 6000);
    assert_in_range(refused, 100, 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ones_alone_are_explained), cmocka_unit_test(another_anomaly_is_not_hidden),
        cmocka_unit_test(together_asks_for_a_third), cmocka_unit_test(random_histories_hide_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
