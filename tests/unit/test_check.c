/* The checker from history to fates, summary and witness texts. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/check.h"

struct fixture {
    struct rig_history *history;
    struct rig_verdict *verdict;
};

static void check(struct fixture *f, const char *notation, uint64_t levels)
{
    struct rig_err err = {0};
    struct rig_check_options options = {.levels = levels, .assumptions = RIG_ASSUMES_PREFILLED};
    f->history = given(notation);
    if (rig_check(f->history, &options, &f->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_verdict_free(f->verdict);
    rig_history_free(f->history);
}

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)

static void a_clean_history_holds_every_decidable_level(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1] ax2; ok 0 4-5: rx[1 2]", 0);
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->requested_levels, L(STRICT_SERIALIZABLE));
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        assert_int_equal(f.verdict->levels[level].fate, RIG_FATE_HELD);
    assert_string_equal(f.verdict->summary, "This history keeps strict-serializable.");
    done(&f);
}

static void the_requested_levels_decide(void **state)
{
    (void)state;
    static const char skew[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]";
    struct fixture f;
    check(&f, skew, L(SNAPSHOT_ISOLATION));
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->weakest_refuted, L(REPEATABLE_READ) | L(UPDATE_SERIALIZABLE));
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION].fate, RIG_FATE_HELD);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_UPDATE_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_string_equal(f.verdict->summary,
                        "This history keeps strong-snapshot-isolation; it breaks update-serializable (G2-item: T2 and "
                        "T3) and repeatable-read (G2-item: T2 and T3).");
    done(&f);
    check(&f, skew, L(SNAPSHOT_ISOLATION) | L(SERIALIZABLE));
    assert_int_equal(f.verdict->valid, RIG_VALID_FALSE);
    done(&f);
}

static void nothing_observed_is_held_and_no_evidence(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: ay2; info 2 4-5: az1", 0);
    assert_int_equal(f.verdict->valid, RIG_VALID_UNKNOWN);
    assert_non_null(f.verdict->unknown_reason);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    done(&f);
    check(&f, "fail 0 0-1: ax1; info 1 2-3: rx[1]", 0);
    assert_int_equal(f.verdict->valid, RIG_VALID_UNKNOWN);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    assert_non_null(
        strstr(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].reason, "no transaction is known to have committed"));
    done(&f);
}

static void one_fractured_read_contradicts_no_other(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1 ax2; ok 1 2-3: rx[2]", 0);
    const char *reason = f.verdict->levels[RIG_LEVEL_READ_UNCOMMITTED].reason;
    assert_int_equal(f.verdict->levels[RIG_LEVEL_READ_UNCOMMITTED].fate, RIG_FATE_NOT_REFUTED);
    assert_non_null(strstr(reason, "shows an append without an earlier one of the same transaction"));
    assert_null(strstr(reason, "contradict"));
    done(&f);
}

/* The writer of 3 to z, of unknown fate, may have aborted: then what it read orders nothing. */
static void read_uncommitted_needs_no_unknown_fate(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-2: ax1 ay1; ok 1 1-3: ax2 ay2; info 2 4-5: rx[1 2] ry[2 1] az3; ok 3 6-7: rz[3]", 0);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRONG_READ_UNCOMMITTED].fate, RIG_FATE_HELD);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_READ_COMMITTED].fate, RIG_FATE_REFUTED);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_G0].count, 0);
    done(&f);
}

/* Each order of the appends to z makes a read skew of the write skew. */
static void unread_appends_are_decided_by_cases(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-2: rx[] ay1 az1; ok 1 1-3: ry[] ax1 az2; ok 2 4-5: rx[1] ry[1]", L(SNAPSHOT_ISOLATION));
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].fate, RIG_FATE_REFUTED);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].because, RIG_ANOMALY_NO_VERSION_ORDER);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_PREFIX].fate, RIG_FATE_HELD);
    assert_int_equal(f.verdict->valid, RIG_VALID_FALSE);
    done(&f);
}

/* Without a level below them that is refuted, the appends have an order. */
static void unread_appends_may_leave_a_level(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-2: rx[] ay1 az1; ok 1 1-3: ry[] ax1; ok 3 6-8: az2; ok 2 4-5: rx[1] ry[1]",
          L(SNAPSHOT_ISOLATION));
    assert_int_equal(f.verdict->scope.unordered_keys, 1);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].fate, RIG_FATE_HELD);
    assert_non_null(strstr(f.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].reason, "in some order of the appends"));
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    done(&f);
}

static void unknown_reads_leave_everything_open(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[1] ry?", L(SERIALIZABLE));
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_NOT_REFUTED);
    assert_non_null(strstr(f.verdict->levels[RIG_LEVEL_SERIALIZABLE].reason, "results of 1 read are not known"));
    done(&f);
}

static void witnesses_speak_plainly(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]", 0);
    assert_string_equal(f.verdict->findings[RIG_ANOMALY_G2_ITEM].witnesses[0].text,
                        "G2-item: T2 and T3 form a cycle of 2 transactions\n"
                        "  T2 = process 0, 0.000000 s - 0.002000 s: [r 0 []] [append 1 1]\n"
                        "  T3 = process 1, 0.001000 s - 0.003000 s: [r 1 []] [append 0 1]\n"
                        "  - T2 before T3: T2 read key 0 as [] and did not see T3's append of 1.\n"
                        "  - T3 before T2: T3 read key 1 as [] and did not see T2's append of 1.\n"
                        "  No order can have each of them before the next: a contradiction.  "
                        "Refutes: repeatable-read, update-serializable and every stronger level.");
    done(&f);
}

static void many_unread_appends_stay_linear(void **state)
{
    (void)state;
    /* 3,000 transactions that each read x as empty and append to it, never read: 9 million pairs, if written out. */
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    struct rig_err err = {0};
    for (uint32_t i = 0; i < 3000; i++) {
        struct rig_op ops[] = {{RIG_OP_READ_LIST, 0, 0}, {RIG_OP_APPEND, 0, i + 1}};
        struct rig_read reads[] = {{.state = RIG_READ_NIL}, {.state = RIG_READ_UNKNOWN}};
        struct rig_txn_input input = {.invoke_ns = i,
                                      .complete_ns = 10000 + i,
                                      .invoke_at = i,
                                      .complete_at = 10000 + i,
                                      .process = i,
                                      .outcome = RIG_OUTCOME_OK,
                                      .ops = ops,
                                      .reads = reads,
                                      .op_count = 2};
        assert_int_equal(rig_history_builder_add(builder, &input, &err), RIG_OK);
    }
    struct fixture f;
    struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    assert_int_equal(rig_history_builder_finish(builder, &f.history, &err), RIG_OK);
    assert_int_equal(rig_check(f.history, &options, &f.verdict, &err), RIG_OK);
    assert_true(f.verdict->edge_count[RIG_EDGE_RW] < 10000);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_UPDATE].count, 2999);
    assert_true(f.verdict->findings[RIG_ANOMALY_G2_ITEM].witness_count > 0);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_G2_ITEM].witnesses[0].txn_count, 2);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_READ_COMMITTED].fate, RIG_FATE_HELD);
    done(&f);
}

static void a_single_read_and_append_at_the_tail_is_no_cycle(void **state)
{
    (void)state;
    struct rig_history_builder *builder = rig_history_builder_new(RIG_WORKLOAD_LIST_APPEND, 0);
    struct rig_err err = {0};
    /* 100 pure readers and 100 pure writers of x, and one that reads and then appends: none may depend on itself. */
    for (uint32_t i = 0; i <= 200; i++) {
        struct rig_op ops[] = {{RIG_OP_READ_LIST, 0, 0}, {RIG_OP_APPEND, 0, i + 1}};
        struct rig_read reads[] = {{.state = RIG_READ_NIL}, {.state = RIG_READ_UNKNOWN}};
        bool writer = i >= 100 && i < 200, both = i == 200;
        struct rig_txn_input input = {.invoke_ns = i,
                                      .complete_ns = 10000 + i,
                                      .invoke_at = i,
                                      .complete_at = 10000 + i,
                                      .process = i,
                                      .outcome = RIG_OUTCOME_OK,
                                      .ops = writer ? ops + 1 : ops,
                                      .reads = writer ? reads + 1 : reads,
                                      .op_count = both ? 2 : 1};
        assert_int_equal(rig_history_builder_add(builder, &input, &err), RIG_OK);
    }
    struct fixture f;
    struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    assert_int_equal(rig_history_builder_finish(builder, &f.history, &err), RIG_OK);
    assert_int_equal(rig_check(f.history, &options, &f.verdict, &err), RIG_OK);
    assert_int_equal(f.verdict->valid, RIG_VALID_TRUE);
    assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    done(&f);
}

static void other_workloads_are_refused(void **state)
{
    (void)state;
    struct rig_history history = {.workload = RIG_WORKLOAD_COUNT};
    struct rig_check_options options = {.assumptions = RIG_ASSUMES_PREFILLED};
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_check(&history, &options, &verdict, &err), RIG_E_INPUT);
    assert_null(verdict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_history_holds_every_decidable_level),
        cmocka_unit_test(the_requested_levels_decide),
        cmocka_unit_test(nothing_observed_is_held_and_no_evidence),
        cmocka_unit_test(one_fractured_read_contradicts_no_other),
        cmocka_unit_test(read_uncommitted_needs_no_unknown_fate),
        cmocka_unit_test(unread_appends_are_decided_by_cases),
        cmocka_unit_test(unread_appends_may_leave_a_level),
        cmocka_unit_test(unknown_reads_leave_everything_open),
        cmocka_unit_test(witnesses_speak_plainly),
        cmocka_unit_test(many_unread_appends_stay_linear),
        cmocka_unit_test(a_single_read_and_append_at_the_tail_is_no_cycle),
        cmocka_unit_test(other_workloads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
