/* Lost appends: which are, which are not, and the list of all. Positions are also times in ns. */
#include "tests/unit/given_history.h"

#include <string.h>

#include "checker/judge/check.h"
#include "checker/prove/witness/verify.h"
#include "report/report.h"

struct fixture {
    struct rig_history *history;
    struct rig_verdict *verdict;
};

static void check(struct fixture *f, const char *notation)
{
    struct rig_err err = {0};
    struct rig_check_options options = {.max_witnesses = 2};
    f->history = given(notation);
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
    const uint64_t count = f.verdict->findings[RIG_ANOMALY_LOST_APPEND].count;
    assert_int_equal(f.verdict->lost.count, count);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_APPEND].exact, count > 0);
    if (count > 0)
        assert_int_equal(f.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    done(&f);
    return count;
}

static void an_append_is_lost_when_reads_that_began_later_never_show_it(void **state)
{
    (void)state;
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[]"), 1);
    assert_int_equal(lost_in("ok 0 0-1: ax1 ax2; ok 1 2-3: rx[]"), 2);
    assert_int_equal(lost_in("ok 0 0-1: ax1 rx[1]; ok 1 2-3: rx[]"), 1);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[2]; ok 2 6-7: rx[2]"), 1);
    /* A read that ended before the acknowledgement showed it. */
    assert_int_equal(lost_in("ok 0 0-3: ax1; ok 1 1-2: rx[1]; ok 2 4-5: rx[]"), 1);
}

static void an_append_is_lost_when_the_list_goes_on_without_it(void **state)
{
    (void)state;
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: ax2; ok 3 6-7: rx[2]"), 1);
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[1]; info 2 4-: ax2; ok 3 6-7: rx[2]"), 1);
    /* The later append was requested before the acknowledgement of the first: a stale copy may show it. */
    assert_int_equal(lost_in("ok 0 0-3: ax1; ok 1 1-2: ax2; ok 2 4-5: rx[2 1]; ok 3 6-7: rx[2]"), 0);
    /* It failed, and the read that shows it ends no list that went on. */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[1]; fail 2 4-5: ax2; ok 3 6-7: rx[2]"), 0);
}

static void an_append_that_may_be_there_is_not_lost(void **state)
{
    (void)state;
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: rx[1]"), 0); /* stale */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-6: rx[1]; ok 2 4-5: rx[]"), 0); /* shown by one that ends later */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx[1]; ok 2 4-5: rx[]"), 0); /* perhaps a stale copy */
    assert_int_equal(lost_in("ok 0 0-3: ax1; ok 1 2-4: rx[]"), 0);                  /* not acknowledged in time */
    assert_int_equal(lost_in("info 0 0-1: ax1; ok 1 2-3: rx[]"), 0);                /* never acknowledged */
    assert_int_equal(lost_in("ok 0 0-1: ax1; info 1 2-3: rx[] ay1; ok 2 4-5: ry[1]"), 0); /* unknown fate */
    assert_int_equal(lost_in("ok 0 0-1: ax1; ok 1 2-3: rx?"), 0);
}

/* Each of many keys loses one append: a few witnesses, but every row. */
static void all_are_listed(void **state)
{
    (void)state;
    struct fixture f;
    check(&f, "ok 0 0-1: aw1 ax1 ay1 az1; ok 7 2-3: aw2; ok 1 4-5: rw[2] rx[] ry[] rz[]");
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_APPEND].count, 4);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_APPEND].witness_count, 2);
    struct rig_buf table;
    rig_buf_init(&table, 0);
    rig_report_lost(f.verdict, &table);
    unsigned lines = 0;
    for (const char *at = rig_buf_text(&table); (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 5);
    assert_memory_equal(rig_buf_text(&table),
                        "transaction\tprocess\tacknowledged_s\tkey\tvalue\tread\tread_began_s\n1\t0\t", 65);
    rig_buf_done(&table);
    done(&f);
}

static void a_false_witness_is_rejected(void **state)
{
    (void)state;
    struct fixture f;
    struct rig_err err = {0};
    check(&f, "ok 0 0-1: ax1; ok 1 2-3: rx[]; ok 2 4-5: ax2; ok 3 6-7: rx[2]; ok 4 8-9: ay1; ok 5 10-11: ry[1]; "
              "ok 6 12-13: ry[]");
    struct rig_verifier *verifier = rig_verifier_new(f.history, true);
    assert_non_null(verifier);
    assert_int_equal(f.verdict->findings[RIG_ANOMALY_LOST_APPEND].count, 1);
    struct rig_witness witness = f.verdict->findings[RIG_ANOMALY_LOST_APPEND].witnesses[0];
    assert_int_equal(rig_verify_witness(verifier, &witness, &err), RIG_OK);
    witness.value = 2; /* which is read */
    witness.txns[0] = given_txn(f.history, 5);
    assert_int_equal(rig_verify_witness(verifier, &witness, &err), RIG_E_BUG);
    witness.value = 1; /* read, and then missed without a later append */
    witness.key = 1;
    witness.txns[0] = given_txn(f.history, 9);
    witness.txns[1] = given_txn(f.history, 13);
    assert_int_equal(rig_verify_witness(verifier, &witness, &err), RIG_E_BUG);
    rig_verifier_free(verifier);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_append_is_lost_when_reads_that_began_later_never_show_it),
        cmocka_unit_test(an_append_is_lost_when_the_list_goes_on_without_it),
        cmocka_unit_test(an_append_that_may_be_there_is_not_lost),
        cmocka_unit_test(all_are_listed),
        cmocka_unit_test(a_false_witness_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
