/* Which witness of a verdict has the shape of a known anomaly: each shape here differs from one that fits in one
 * respect. */
#include "tests/unit/given_history.h"

#include "checker/judge/check.h"
#include "checker/judge/known_anomaly.h"

/* A write skew of two, with columns set by each test; serializable alone is refuted. */
static const char skew[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]";

struct judged {
    struct rig_history *history;
    struct rig_columns columns;
    struct rig_verdict *verdict;
};

static void judge(struct judged *judged)
{
    struct rig_err err = {0};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE),
                                              .assumptions = RIG_ASSUMES_PREFILLED};
    judged->history = given(skew);
    rig_columns_init(&judged->columns, 0);
    judged->history->columns = &judged->columns;
    assert_int_equal(rig_check(judged->history, &options, &judged->verdict, &err), RIG_OK);
}

static void release(struct judged *judged)
{
    rig_verdict_free(judged->verdict);
    judged->history->columns = NULL;
    rig_columns_done(&judged->columns);
    rig_history_free(judged->history);
}

static const struct rig_known_anomaly fits = {.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM),
                                              .keeps = RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION),
                                              .transactions = {2, 2}};

static bool finds(const struct judged *judged, struct rig_known_anomaly known)
{
    const struct rig_witness *witness = rig_known_anomaly_find(&known, judged->verdict);
    return witness != NULL && (known.anomalies & RIG_ANOMALY_BIT(witness->anomaly)) != 0;
}

static void test_names_levels_and_sizes(void **state)
{
    struct judged judged;
    struct rig_known_anomaly known = fits;
    (void)state;
    judge(&judged);
    assert_true(finds(&judged, known));
    known.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G1C);
    assert_false(finds(&judged, known));
    known.anomalies |= RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM);
    assert_true(finds(&judged, known));
    known.keeps |= RIG_LEVEL_BIT(RIG_LEVEL_REPEATABLE_READ);
    assert_false(finds(&judged, known));
    known.keeps = 0;
    known.transactions = (struct rig_count_range){3, 0};
    assert_false(finds(&judged, known));
    known.transactions = (struct rig_count_range){0, 1};
    assert_false(finds(&judged, known));
    known.transactions = (struct rig_count_range){0, 0};
    assert_true(finds(&judged, known));
    release(&judged);
}

static void test_nodes(void **state)
{
    struct judged judged;
    struct rig_known_anomaly known = fits;
    (void)state;
    judge(&judged);
    known.nodes = (struct rig_count_range){1, 0};
    assert_false(finds(&judged, known)); /* unknown nodes are none */
    assert_true(rig_columns_set(&judged.columns, RIG_COLUMN_NODE, given_txn(judged.history, 2), 4));
    assert_true(rig_columns_set(&judged.columns, RIG_COLUMN_NODE, given_txn(judged.history, 3), 4));
    assert_true(finds(&judged, known));
    known.nodes = (struct rig_count_range){2, 0};
    assert_false(finds(&judged, known));
    assert_true(rig_columns_set(&judged.columns, RIG_COLUMN_NODE, given_txn(judged.history, 2), 5));
    assert_true(finds(&judged, known));
    known.nodes = (struct rig_count_range){0, 1};
    assert_false(finds(&judged, known));
    release(&judged);
}

static void test_commits_meanwhile(void **state)
{
    struct judged judged;
    struct rig_known_anomaly few = fits, many = fits;
    (void)state;
    judge(&judged);
    few.meanwhile = (struct rig_count_range){0, 999};
    many.meanwhile = (struct rig_count_range){1000, 0};
    assert_true(finds(&judged, few)); /* no transaction was held */
    assert_false(finds(&judged, many));
    assert_true(rig_columns_set(&judged.columns, RIG_COLUMN_MEANWHILE, given_txn(judged.history, 2), 1000));
    assert_false(finds(&judged, few));
    assert_true(finds(&judged, many));
    release(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_levels_and_sizes),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_commits_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
