/* The question that a level asks of lists: which reads, writes, orders and pairs are in it. */
#include "tests/unit/given_history.h"

#include "checker/infer/list_inference.h"
#include "checker/infer/list_problem.h"

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
    struct rig_problem problem;
};

static void build(struct fixture *f, const char *notation, const uint8_t *selected)
{
    struct rig_err err = {0};
    f->history = given(notation);
    rig_arena_init(&f->arena, 0);
    if (rig_infer_list_append(f->history, (struct rig_assumptions){0}, 8, &f->arena, &f->inference, &err) != RIG_OK ||
        rig_list_problem(&f->inference, selected, false, &f->problem, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_problem_done(&f->problem);
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

static bool has_pair(const struct rig_problem *problem, uint32_t before, uint32_t after)
{
    for (size_t i = 0; i < problem->pairs.count; i++) {
        if (problem->pairs.at[i].before == before && problem->pairs.at[i].after == after)
            return true;
    }
    return false;
}

static void reads_of_other_versions_are_in_it(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1 ax2; ok 1 2-3: rx[1 2] ax3 rx[1 2 3] ry[] rz?; ok 2 4-5: rx[1 2 3]", NULL);
    const struct rig_problem *p = &f.problem;
    assert_int_equal(p->txn_count, 3);
    assert_int_equal(p->writes.count, 2);
    assert_int_equal(p->writes.at[0].first_op, 0);
    assert_int_equal(p->writes.at[0].last_op, 1);
    /* The second read ends with the reader's own append: it is of the version before. The unknown one is not in it. */
    assert_int_equal(p->reads.count, 4);
    assert_int_equal(p->reads.at[0].writer, 0);
    assert_int_equal(p->reads.at[0].op, 0);
    assert_int_equal(p->reads.at[1].writer, 0);
    assert_int_equal(p->reads.at[1].op, 2);
    assert_int_equal(p->reads.at[2].writer, RIG_PROBLEM_INITIAL);
    assert_int_equal(p->reads.at[2].op, 3);
    assert_int_equal(p->reads.at[3].writer, 1);
    assert_int_equal(p->pairs.count, 1);
    assert_true(has_pair(p, 0, 1));
    done(&f);
}

static void unread_appends_come_last_in_any_order(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1] ax3; ok 3 6-7: ay1; ok 4 8-9: ay2", NULL);
    const struct rig_problem *p = &f.problem;
    assert_int_equal(p->pairs.count, 2);
    assert_true(has_pair(p, 0, 1));
    assert_true(has_pair(p, 0, 2));
    done(&f);
}

/* A transaction that reads its own first append, and then appends again, comes before all appends that no read shows.
 * */
static void a_version_stands_where_its_first_append_was_read(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2 rx[1 2] ax3; ok 2 4-5: ax4", NULL);
    assert_int_equal(f.problem.pairs.count, 2);
    assert_true(has_pair(&f.problem, 0, 1));
    assert_true(has_pair(&f.problem, 1, 2));
    done(&f);
}

static void processes_and_times_are_in_it(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; fail 0 2-3: ax2; ok 0 4-5: rx[1]; info 0 6-: ax3; ok 1 8-9: rx[1 3]", NULL);
    const struct rig_problem_txn *txns = f.problem.txns.at;
    assert_int_equal(f.problem.txn_count, 4);
    assert_int_equal(f.problem.session_count, 2);
    assert_true(f.problem.has_realtime);
    const uint32_t info = given_txn(f.history, RIG_POSITION_NONE);
    for (uint32_t node = 0; node < 4; node++) {
        assert_int_equal(txns[node].ended,
                         txns[node].txn == info ? UINT32_MAX : f.history->txns[txns[node].txn].complete_at);
        assert_int_equal(txns[node].invoked, f.history->txns[txns[node].txn].invoke_at);
        if (txns[node].txn == info)
            assert_int_equal(txns[node].before, 1);
    }
    assert_int_equal(txns[0].before, RIG_PROBLEM_NONE);
    assert_int_equal(txns[1].before, 0);
    done(&f);
}

/* The writer of a version that a selected transaction read is in it: else the overwriters would be unknown. */
static void a_part_has_the_writers_that_it_read_from(void **state)
{
    (void)state;
    struct fixture f;
    const uint8_t selected[] = {1, 0, 1, 1, 0};
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2 ry[]; ok 0 4-5: rx[1 2]; ok 3 6-7: ax3; ok 4 8-9: rx[1 2 3]", selected);
    const struct rig_problem *p = &f.problem;
    assert_int_equal(p->txn_count, 4);
    assert_int_equal(p->txns.at[2].before, 0);
    assert_int_equal(p->reads.at[p->txns.at[2].first_read].writer, 1);
    assert_int_equal(p->pairs.count, 2);
    assert_true(has_pair(p, 0, 1));
    assert_true(has_pair(p, 1, 3));
    done(&f);
}

static void keys_with_contradicting_reads_order_nothing(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, "ok 0 0-1: ax1; ok 1 2-3: ax2; ok 2 4-5: rx[1 2]; ok 3 6-7: rx[2 1] ry[]; ok 4 8-9: ay1", NULL);
    assert_int_equal(f.problem.pairs.count, 0);
    assert_int_equal(f.problem.reads.count, 1);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_of_other_versions_are_in_it),
        cmocka_unit_test(unread_appends_come_last_in_any_order),
        cmocka_unit_test(a_version_stands_where_its_first_append_was_read),
        cmocka_unit_test(processes_and_times_are_in_it),
        cmocka_unit_test(a_part_has_the_writers_that_it_read_from),
        cmocka_unit_test(keys_with_contradicting_reads_order_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
