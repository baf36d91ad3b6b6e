/* The question that a level asks of registers: which reads, writes, orders and pairs are in it. */
#include "tests/unit/cmocka_first.h"

#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "checker/infer/register_inference.h"
#include "checker/infer/register_problem.h"
#include "history/source/load.h"

#define EVENT(type, process, value) "{\"type\":\"" type "\",\"process\":" process ",\"value\":" value "}\n"
#define TXN(process, value)         EVENT("invoke", process, value) EVENT("ok", process, value)

struct fixture {
    struct rig_history *history;
    struct rig_arena arena;
    struct rig_inference inference;
    struct rig_problem problem;
};

static void build(struct fixture *f, const char *lines, unsigned assumptions, const uint8_t *selected)
{
    struct rig_err err = {0};
    struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER};
    rig_arena_init(&f->arena, 0);
    if (rig_history_parse("given", lines, strlen(lines), &options, &f->history, &err) != RIG_OK ||
        rig_infer_registers(f->history, (struct rig_assumptions){.made = assumptions}, 8, &f->arena, &f->inference,
                            &err) != RIG_OK ||
        rig_register_problem(&f->inference, selected, false, &f->problem, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static void done(struct fixture *f)
{
    rig_problem_done(&f->problem);
    rig_inference_done(&f->inference);
    rig_arena_done(&f->arena);
    rig_history_free(f->history);
}

static void reads_of_others_and_last_writes_are_in_it(void **state)
{
    (void)state;
    struct fixture f;
    build(&f,
          TXN("0", "[[\"w\",1,1],[\"r\",1,1],[\"w\",1,2],[\"w\",2,1]]")
              TXN("1", "[[\"r\",2,1],[\"r\",1,2],[\"r\",3,null]]") EVENT("invoke", "2", "[[\"w\",3,9]]")
                  EVENT("fail", "2", "[[\"w\",3,9]]"),
          0, NULL);
    const struct rig_problem *p = &f.problem;
    assert_int_equal(p->txn_count, 2);
    assert_int_equal(p->writes.count, 2);
    assert_int_equal(p->writes.at[0].first_op, 0);
    assert_int_equal(p->writes.at[0].last_op, 2);
    assert_int_equal(p->reads.count, 3);
    assert_int_equal(p->reads.at[0].writer, 0);
    assert_int_equal(p->reads.at[0].op, 0);
    assert_int_equal(p->reads.at[2].writer, RIG_PROBLEM_INITIAL);
    assert_int_equal(rig_problem_write_of(p, 0, p->reads.at[0].key), 1);
    done(&f);
}

/* A transaction of unknown fate is in it once its write was read; then it precedes nothing. */
static void unknown_fates_precede_nothing(void **state)
{
    (void)state;
    struct fixture f;
    build(&f,
          TXN("0", "[[\"w\",1,1]]") EVENT("invoke", "0", "[[\"w\",1,2]]") EVENT("info", "0", "[[\"w\",1,2]]")
              EVENT("invoke", "3", "[[\"w\",1,5]]") EVENT("info", "3", "[[\"w\",1,5]]") TXN("0", "[[\"r\",1,2]]"),
          0, NULL);
    const struct rig_problem_txn *txns = f.problem.txns.at;
    assert_int_equal(f.problem.txn_count, 3);
    assert_int_equal(f.problem.session_count, 1);
    assert_int_equal(txns[0].before, RIG_PROBLEM_NONE);
    assert_int_equal(txns[1].before, 0);
    assert_int_equal(txns[2].before, 0);
    assert_int_equal(txns[1].ended, UINT32_MAX);
    assert_true(txns[0].ended < txns[1].invoked && txns[0].ended < txns[2].invoked);
    done(&f);
}

static void assumptions_give_pairs(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"r\",1,1],[\"w\",1,2]]") TXN("1", "[[\"w\",1,3]]"),
          RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS), NULL);
    assert_int_equal(f.problem.pairs.count, 1);
    assert_int_equal(f.problem.pairs.at[0].before, 0);
    assert_int_equal(f.problem.pairs.at[0].after, 1);
    assert_int_equal(f.problem.pairs.at[0].source, RIG_ORDER_WFR);
    assert_int_equal(f.problem.pairs.at[0].a, 1);
    done(&f);
}

/* Process order leads over the transactions that are not part of the question. */
static void a_part_of_the_history_is_a_question(void **state)
{
    (void)state;
    struct fixture f;
    const uint8_t selected[] = {1, 0, 1};
    build(&f, TXN("0", "[[\"w\",1,1]]") TXN("0", "[[\"w\",1,2]]") TXN("0", "[[\"r\",1,2],[\"r\",1,1]]"), 0, selected);
    assert_int_equal(f.problem.txn_count, 2);
    assert_int_equal(f.problem.txns.at[1].txn, 2);
    assert_int_equal(f.problem.txns.at[1].before, 0);
    assert_int_equal(f.problem.reads.count, 1);
    assert_int_equal(f.problem.reads.at[0].writer, 0);
    done(&f);
}

/* One transaction that wrote all keys: the write that a read returned is found among the key's writers. */
static void a_transaction_may_write_many_keys(void **state)
{
    (void)state;
    enum { KEYS = 40 };
    struct rig_problem p = {0};
    for (uint32_t txn = 0; txn < 3; txn++) {
        assert_true(rig_problem_add_txn(&p, &(struct rig_problem_txn){.txn = txn, .before = RIG_PROBLEM_NONE}));
        for (uint32_t key = 0; key < KEYS; key++)
            assert_true(rig_problem_add_write(&p, (key * 7 + txn) % KEYS, key));
    }
    assert_true(rig_problem_finish(&p));
    for (uint32_t txn = 0; txn < 3; txn++) {
        for (uint32_t key = 0; key < KEYS; key++) {
            const uint32_t write = rig_problem_write_of(&p, txn, key);
            assert_int_equal(p.writes.at[write].key, key);
            assert_int_equal(p.write_txn[write], txn);
        }
    }
    rig_problem_done(&p);
}

/* The first and the last of equal reads are in it. */
static void equal_reads_are_in_it_twice(void **state)
{
    (void)state;
    struct fixture f;
    build(&f,
          TXN("0", "[[\"w\",1,1],[\"w\",2,1]]")
              TXN("1", "[[\"r\",1,1],[\"r\",1,1],[\"r\",2,1],[\"r\",3,null],[\"r\",1,1],[\"r\",3,null],[\"r\",1,1]]")
                  TXN("2", "[[\"r\",1,1],[\"r\",1,1]]"),
          0, NULL);
    const struct rig_problem *p = &f.problem;
    const uint32_t ops[] = {0, 2, 3, 5, 6, 0, 1};
    assert_int_equal(p->reads.count, sizeof ops / sizeof ops[0]);
    for (size_t i = 0; i < p->reads.count; i++)
        assert_int_equal(p->reads.at[i].op, ops[i]);
    done(&f);
}

/* The problem's size does not grow with repeated reads, and neither does the search for own versions, quadratically. */
static void repeated_reads_cost_little(void **state)
{
    (void)state;
    enum { READS = 100000 };
    static const char *const begin[] = {"[[\"w\",1,1],[\"w\",2,1]", "[[\"r\",1,1]", "[[\"r\",4,1]"};
    static const char *const read[] = {",[\"r\",2,1]", ",[\"r\",1,1]", ",[\"r\",4,1]"};
    static const char *const end[] = {"]", "]", ",[\"w\",4,1]]"}; /* the last: future-reads */
    struct rig_buf text;
    struct fixture f;
    const clock_t before = clock();
    rig_buf_init(&text, 0);
    for (unsigned txn = 0; txn < 3; txn++) {
        rig_buf_printf(&text, "{\"type\":\"ok\",\"process\":%u,\"value\":%s", txn, begin[txn]);
        for (unsigned i = 0; i < READS; i++)
            rig_buf_add_text(&text, read[txn]);
        rig_buf_printf(&text, "%s}\n", end[txn]);
    }
    build(&f, rig_buf_text(&text), 0, NULL);
    assert_int_equal(f.problem.reads.count, 2);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 2.0); /* scans for each read take 10 s */
    rig_buf_done(&text);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_reads_are_in_it_twice),
        cmocka_unit_test(repeated_reads_cost_little),
        cmocka_unit_test(reads_of_others_and_last_writes_are_in_it),
        cmocka_unit_test(unknown_fates_precede_nothing),
        cmocka_unit_test(assumptions_give_pairs),
        cmocka_unit_test(a_part_of_the_history_is_a_question),
        cmocka_unit_test(a_transaction_may_write_many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
