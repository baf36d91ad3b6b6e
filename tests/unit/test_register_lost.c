/*
 * Lost writes: which are, and which are not (checker/infer/register_lost.h). The notation is that of lists: an append
 * is a write, and a read shows the last element. Positions are also times.
 */
#include "tests/unit/given_history.h"

#include "checker/judge/check.h"
#include "checker/prove/witness/verify.h"
#include "tests/model/as_registers.h"

struct fixture {
    struct rig_history *history;
    struct rig_verdict *verdict;
};

static void check(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    struct rig_check_options options = {.max_witnesses = 2};
    struct rig_history *lists = given(notation);
    f->history = as_registers(lists, 0, 0);
    rig_history_free(lists);
    if (rig_check(f->history, &options, &f->verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_verdict_free(f->verdict);
    rig_history_free(f->history);
}

static uint64_t lost_in(const char *notation)
{
    struct fixture f;
    check(&f, notation);
    const uint64_t count = f.verdict->findings[RIG_ANOMALY_LOST_WRITE].count;
    assert_int_equal(f.verdict->lost.count, count);
    if (count > 0)
        assert_int_equal(f.verdict->levels[RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION].fate, RIG_FATE_REFUTED);
    done(&f);
    return count;
}

static void a_write_is_lost_when_a_later_read_shows_an_older_version(void **state)
{
    (void)state;
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[]"), 1);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1]"), 1);
    /* Acknowledged by a reader, not by its writer. */
    assert_int_equal(lost_in("info 0 0-: ax1; ok 1 1-2: rx[1]; ok 2 3-4: ax2; ok 3 5-6: rx[1]"), 1);
    /* Read before the write, by the transaction itself. */
    assert_int_equal(lost_in("ok 0 0-3: ax1; ok 1 1-4: rx[1] ax2; ok 2 5-6: rx[1]"), 1);
    /* A failed write overwrites nothing. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; fail 2 4-5: ax3; ok 3 6-7: rx[1]"), 1);
    /* Only the last one: it overwrote the others. */
    assert_int_equal(lost_in("ok 0 0-1: ax1 ax2; ok 1 2-3: rx[]"), 1);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[]"), 1);
}

static void a_write_is_lost_when_the_key_goes_on_without_it(void **state)
{
    (void)state;
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1] ax3; ok 3 6-7: rx[3]"), 1);
    /* By several updates. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1] ax3; ok 3 6-7: rx[3] ax4; ok 0 8-9: rx[4]"),
                     1);
    /* After a read that showed it. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[2]; ok 3 6-7: rx[1] ax3; ok 0 8-9: rx[3]"), 1);
    /* The update may have been made before. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-4: ax2; ok 2 3-7: rx[1] ax3; ok 3 5-6: rx[2]; ok 0 8-9: rx[3]"), 0);
}

static void a_write_that_may_be_overwritten_or_there_is_not_lost(void **state)
{
    (void)state;
    /* Overwritten by a blind write, which came before the read or may have. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1]; ok 3 6-7: ax3; ok 0 8-9: rx[3]"), 0);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 3-4: ax2; info 2 2-: ax3; ok 3 5-6: rx[1]"), 0);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-7: ax3; ok 3 5-6: rx[1]"), 0);
    /* Shown after the read, and before it by one that is not a stale copy for certain. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: rx[1]"), 0);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[2]; ok 3 6-7: rx[1]"), 0);
    /* Shown by a read that ended later. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-6: rx[1]; ok 2 4-5: rx[]"), 0);
    /* The versions are of the same time. */
    assert_int_equal(lost_in("ok 0 0-2: ax1; ok 1 1-3: ax2; ok 2 4-5: rx[1]"), 0);
    /* Not acknowledged, or not in time; a reader of unknown fate; an own read. */
    assert_int_equal(lost_in("info 0 0-: ax1; ok 1 2-3: rx[]"), 0);
    assert_int_equal(lost_in("ok 0 0-3: ax1; ok 1 2-4: rx[]"), 0);
    assert_int_equal(lost_in("ok 0 0-1: ax1; info 1 2-: rx[]"), 0);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ay1; ok 2 4-5: rx?"), 0);
}

static void a_false_witness_is_rejected(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_err err = {0};
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: ay1; ok 3 6-7: ry[1]; ok 0 8-9: ry[]");
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_WRITE].count, 1);
    struct rig_verifier *verifier = rig_verifier_new(f.history, true);
    struct rig_witness witness = f.verdict->findings[RIG_ANOMALY_LOST_WRITE].witnesses[0];
    assert_non_null(verifier);
    assert_int_equal(rig_verify_witness(verifier, &witness, &err), RIG_OK);
    witness.key = given_key(f.history, 'y'); /* shown, and then missed: perhaps by a stale copy */
    witness.txns[0] = given_txn(f.history, 5);
    witness.txns[1] = given_txn(f.history, 9);
    assert_int_equal(rig_verify_witness(verifier, &witness, &err), RIG_E_BUG);
    rig_verifier_free(verifier);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_lost_when_a_later_read_shows_an_older_version),
        cmocka_unit_test(a_write_is_lost_when_the_key_goes_on_without_it),
        cmocka_unit_test(a_write_that_may_be_overwritten_or_there_is_not_lost),
        cmocka_unit_test(a_false_witness_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
