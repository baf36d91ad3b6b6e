#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "drivers/sim/engine_priv.h"

static const struct rig_hold no_hold;

static struct rig_sim_options options_of(enum rig_sim_isolation isolation)
{
    return (struct rig_sim_options){.isolation = isolation, .staleness = 10, .bug_rate = 1};
}

static struct rig_sim_engine *engine_of(const struct rig_sim_options *options, uint32_t session_count)
{
    struct rig_sim_engine *engine = rig_sim_engine_new(options, RIG_WORKLOAD_LIST_APPEND, 7, session_count);
    assert_non_null(engine);
    return engine;
}

static void run_to_end(struct rig_sim_engine *engine)
{
    for (int steps = 0; rig_sim_engine_busy_count(engine) > 0; steps++) {
        assert_true(steps < 100000);
        (void)rig_sim_engine_step(engine);
    }
}

static enum rig_outcome run_alone(struct rig_sim_engine *engine, uint32_t session, const struct rig_op *ops,
                                  uint32_t op_count, struct rig_sim_answer *answer)
{
    rig_sim_engine_begin(engine, session, ops, op_count, &no_hold);
    run_to_end(engine);
    rig_sim_engine_answer(engine, session, answer);
    return answer->outcome;
}

/* The list of a key once no transaction is open. */
static void assert_list(struct rig_sim_engine *engine, int64_t key, const int64_t *expected, uint32_t count)
{
    const struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = key};
    struct rig_sim_answer answer;
    assert_int_equal(run_alone(engine, 0, &op, 1, &answer), RIG_OUTCOME_OK);
    assert_int_equal(answer.reads[0].count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(answer.elements[answer.reads[0].first_element + i], expected[i]);
}

/* append 1, [append 2, append to another key 3], append 4; the operations in brackets are rolled back. */
static void roll_back_within(enum rig_sim_bug bug, const int64_t *expected, uint32_t count, uint32_t elsewhere)
{
    const int64_t other[] = {3};
    const struct rig_op ops[] = {{.kind = RIG_OP_APPEND, .key = 5, .value = 1},
                                 {.kind = RIG_OP_APPEND, .key = 5, .value = 2},
                                 {.kind = RIG_OP_APPEND, .key = 6, .value = 3},
                                 {.kind = RIG_OP_APPEND, .key = 5, .value = 4}};
    const struct rig_rollback rollback = {.from = 1, .to = 3};
    for (int isolation = 0; isolation < RIG_SIM_ISOLATION_COUNT; isolation++) {
        struct rig_sim_options options = options_of((enum rig_sim_isolation)isolation);
        options.bug = bug;
        struct rig_sim_engine *engine = engine_of(&options, 1);
        rig_sim_engine_begin(engine, 0, ops, 4, &no_hold);
        rig_sim_engine_roll_back_within(engine, 0, &rollback);
        run_to_end(engine);
        assert_list(engine, 5, expected, count);
        assert_list(engine, 6, other, elsewhere);
        rig_sim_engine_free(engine);
    }
}

static void rolled_back_writes_are_gone(void **state)
{
    (void)state;
    roll_back_within(RIG_SIM_BUG_NONE, (const int64_t[]){1, 4}, 2, 0);
    roll_back_within(RIG_SIM_BUG_SAVEPOINT_LEAK, (const int64_t[]){1, 2, 4}, 3, 1);
    roll_back_within(RIG_SIM_BUG_SAVEPOINT_LOSS, (const int64_t[]){4}, 1, 0);
}

/* The same two appends, the transaction rolled back in place of its commit. */
static void a_transaction_rolls_back_at_its_end(void **state)
{
    (void)state;
    const int64_t expected[] = {1};
    const struct rig_op ops[] = {{.kind = RIG_OP_APPEND, .key = 5, .value = 1},
                                 {.kind = RIG_OP_APPEND, .key = 5, .value = 2}};
    struct rig_sim_options options = options_of(RIG_SIM_SERIALIZABLE);
    struct rig_sim_engine *engine = engine_of(&options, 1);
    struct rig_sim_answer answer;
    rig_sim_engine_begin(engine, 0, ops, 1, &no_hold);
    run_to_end(engine);
    rig_sim_engine_begin(engine, 0, ops + 1, 1, &no_hold);
    rig_sim_engine_roll_back_at_end(engine, 0);
    run_to_end(engine);
    rig_sim_engine_outcome(engine, 0, &answer);
    assert_int_equal(answer.outcome, RIG_OUTCOME_FAIL);
    assert_string_equal(answer.error_code, RIG_ROLLED_BACK_CODE);
    assert_list(engine, 5, expected, 1);
    rig_sim_engine_free(engine);
}

static void options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_READ_COMMITTED);
    options.bug = RIG_SIM_BUG_STALE_READ;
    struct rig_err err = {0};
    assert_int_equal(rig_sim_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "bug `stale-read` needs snapshots, which `isolation: read-committed` does not have; "
                                  "use `snapshot-isolation` or `serializable`");
    err = (struct rig_err){0};
    options.bug = RIG_SIM_BUG_DUPLICATE_APPEND;
    assert_int_equal(rig_sim_options_check(&options, RIG_WORKLOAD_RW_REGISTER, &err), RIG_E_PLAN);
    assert_string_equal(err.text,
                        "bug `duplicate-append` is one of the workloads `list-append`, `append-register`, `log`");
    err = (struct rig_err){0};
    options.bug = RIG_SIM_BUG_NONE;
    assert_int_equal(rig_sim_options_check(&options, RIG_WORKLOAD_MUTEX, &err), RIG_E_PLAN);
    assert_string_equal(err.text, "`isolation: read-committed` has no effect on single operations, each of which is "
                                  "atomic; leave it out");
    err = (struct rig_err){0};
    assert_int_equal(rig_sim_options_check(&options, RIG_WORKLOAD_PREDICATE, &err), RIG_OK);
    options.bug = RIG_SIM_BUG_DUPLICATE_APPEND;
    err = (struct rig_err){0};
    assert_int_equal(rig_sim_options_check(&options, RIG_WORKLOAD_LIST_APPEND, &err), RIG_OK);
}

/* Between others' commits, the session's own reads see exactly what the transaction wrote. */
static void lists_grow_by_commit(void **state)
{
    (void)state;
    for (int64_t isolation = 0; isolation < RIG_SIM_ISOLATION_COUNT; isolation++) {
        struct rig_sim_options options = options_of((enum rig_sim_isolation)isolation);
        struct rig_sim_engine *engine = engine_of(&options, 2);
        struct rig_sim_answer answer;
        const struct rig_op first[] = {{RIG_OP_APPEND, 1, 10}, {RIG_OP_APPEND, 1, 11}, {RIG_OP_READ_LIST, 1, 0}};
        assert_int_equal(run_alone(engine, 0, first, 3, &answer), RIG_OUTCOME_OK);
        assert_int_equal(answer.reads[2].count, 2);
        const struct rig_op second[] = {{RIG_OP_APPEND, 1, 12}};
        assert_int_equal(run_alone(engine, 1, second, 1, &answer), RIG_OUTCOME_OK);
        assert_string_equal(answer.error_code, "");
        const int64_t expected[] = {10, 11, 12};
        assert_list(engine, 1, expected, 3);
        assert_list(engine, 2, NULL, 0);
        rig_sim_engine_free(engine);
    }
}

static void registers_hold_the_last_write(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_SERIALIZABLE);
    struct rig_sim_engine *engine = engine_of(&options, 1);
    struct rig_sim_answer answer;
    const struct rig_op ops[] = {
        {RIG_OP_READ_REGISTER, 4, 0}, {RIG_OP_WRITE, 4, 5}, {RIG_OP_WRITE, 4, 6}, {RIG_OP_READ_REGISTER, 4, 0}};
    assert_int_equal(run_alone(engine, 0, ops, 4, &answer), RIG_OUTCOME_OK);
    assert_int_equal(answer.reads[0].state, RIG_READ_NIL);
    assert_int_equal(answer.reads[3].state, RIG_READ_SEEN);
    assert_int_equal(answer.reads[3].value, 6);
    rig_sim_engine_free(engine);
}

static void every_loss_of_an_answer_has_its_outcome(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_SERIALIZABLE);
    options.loss_rate = 1;
    struct rig_sim_engine *engine = engine_of(&options, 1);
    unsigned fail_count = 0, info_count = 0;
    for (int64_t i = 0; i < 200; i++) {
        const struct rig_op op = {RIG_OP_APPEND, 1, i + 1};
        struct rig_sim_answer answer;
        (void)run_alone(engine, 0, &op, 1, &answer);
        assert_true(answer.session_lost);
        assert_string_not_equal(answer.error_code, "");
        if (answer.outcome == RIG_OUTCOME_FAIL)
            assert_int_equal(answer.phase, RIG_PHASE_OPERATION);
        else
            assert_int_equal(answer.phase, RIG_PHASE_COMMIT);
        fail_count += answer.outcome == RIG_OUTCOME_FAIL;
        info_count += answer.outcome == RIG_OUTCOME_INFO;
    }
    assert_int_equal(fail_count + info_count, 200);
    assert_true(fail_count > 0 && info_count > 0);
    struct rig_sim_counts counts;
    counts = engine->counts;
    assert_int_equal(counts.commits + counts.aborts, 200);
    assert_true(counts.commits > 0 && counts.commits < info_count);
    rig_sim_engine_free(engine);
}

static void aborts_leave_nothing(void **state)
{
    (void)state;
    for (int64_t isolation = 0; isolation < RIG_SIM_ISOLATION_COUNT; isolation++) {
        struct rig_sim_options options = options_of((enum rig_sim_isolation)isolation);
        options.abort_rate = 0.5;
        struct rig_sim_engine *engine = engine_of(&options, 1);
        int64_t expected[40];
        uint32_t count = 0;
        for (int64_t i = 0; i < 40; i++) {
            const struct rig_op op = {RIG_OP_APPEND, 1, i + 1};
            struct rig_sim_answer answer;
            if (run_alone(engine, 0, &op, 1, &answer) == RIG_OUTCOME_OK)
                expected[count++] = i + 1;
        }
        assert_in_range(count, 5, 35);
        struct rig_sim_answer answer;
        const struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = 1};
        while (run_alone(engine, 0, &op, 1, &answer) != RIG_OUTCOME_OK)
            continue;
        assert_int_equal(answer.reads[0].count, count);
        assert_memory_equal(answer.elements, expected, count * sizeof expected[0]);
        rig_sim_engine_free(engine);
    }
}

static void held_for_a_time(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_SERIALIZABLE);
    struct rig_sim_engine *engine = engine_of(&options, 1);
    const struct rig_op op = {RIG_OP_APPEND, 1, 1};
    const struct rig_hold hold = {.wanted = true, .before_op = 1, .duration_ns = 500 * RIG_SIM_TICK_NS};
    rig_sim_engine_begin(engine, 0, &op, 1, &hold);
    run_to_end(engine);
    struct rig_sim_answer answer;
    rig_sim_engine_answer(engine, 0, &answer);
    assert_int_equal(answer.outcome, RIG_OUTCOME_OK);
    assert_in_range(answer.complete_ns - answer.invoke_ns, 500 * RIG_SIM_TICK_NS, 510 * RIG_SIM_TICK_NS);
    rig_sim_engine_free(engine);
}

/* Session 0 is held until three others have committed; it keeps its old snapshot until then. */
static void held_for_other_commits(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_SNAPSHOT);
    struct rig_sim_engine *engine = engine_of(&options, 2);
    const struct rig_op read = {.kind = RIG_OP_READ_LIST, .key = 1};
    const struct rig_hold hold = {.wanted = true, .before_op = 0, .other_commits = 3};
    rig_sim_engine_begin(engine, 0, &read, 1, &hold);
    uint32_t commit_count = 0;
    struct rig_op op = {RIG_OP_APPEND, 1, 1};
    rig_sim_engine_begin(engine, 1, &op, 1, &no_hold);
    while (engine->sessions[0].busy) {
        if (rig_sim_engine_step(engine) != 1)
            continue;
        commit_count++;
        op.value++;
        rig_sim_engine_begin(engine, 1, &op, 1, &no_hold);
    }
    assert_true(commit_count >= 3);
    struct rig_sim_answer answer;
    rig_sim_engine_answer(engine, 0, &answer);
    assert_true(answer.reads[0].count + 3 <= commit_count + 1);
    rig_sim_engine_free(engine);
}

/* All sessions wait for commits that none can make: they must go on all the same, also with locks between them. */
static void holds_that_cannot_be_met_end(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_REPEATABLE_READ);
    struct rig_sim_engine *engine = engine_of(&options, 3);
    const struct rig_op ops[] = {{RIG_OP_APPEND, 1, 1}, {RIG_OP_APPEND, 1, 2}, {RIG_OP_APPEND, 1, 3}};
    const struct rig_hold hold = {.wanted = true, .before_op = 1, .other_commits = 1000};
    for (uint32_t i = 0; i < 3; i++)
        rig_sim_engine_begin(engine, i, &ops[i], 1, &hold);
    run_to_end(engine);
    for (uint32_t i = 0; i < 3; i++) {
        struct rig_sim_answer answer;
        rig_sim_engine_answer(engine, i, &answer);
        assert_int_equal(answer.outcome, RIG_OUTCOME_OK);
    }
    rig_sim_engine_free(engine);
}

/* Two sessions that lock two keys in opposite order: over many tries some deadlock, and one of each pair goes on. */
static void deadlocks_end_one_of_two(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_READ_COMMITTED);
    struct rig_sim_engine *engine = engine_of(&options, 2);
    unsigned deadlock_count = 0;
    for (int64_t i = 0; i < 100; i++) {
        const struct rig_op forth[] = {{RIG_OP_APPEND, 1, 2 * i}, {RIG_OP_APPEND, 2, 2 * i}};
        const struct rig_op back[] = {{RIG_OP_APPEND, 2, 2 * i + 1}, {RIG_OP_APPEND, 1, 2 * i + 1}};
        rig_sim_engine_begin(engine, 0, forth, 2, &no_hold);
        rig_sim_engine_begin(engine, 1, back, 2, &no_hold);
        run_to_end(engine);
        struct rig_sim_answer first, second;
        rig_sim_engine_answer(engine, 0, &first);
        rig_sim_engine_answer(engine, 1, &second);
        assert_true(first.outcome == RIG_OUTCOME_OK || second.outcome == RIG_OUTCOME_OK);
        deadlock_count += strcmp(first.error_code, "deadlock") == 0 || strcmp(second.error_code, "deadlock") == 0;
    }
    assert_true(deadlock_count > 10);
    rig_sim_engine_free(engine);
}

static void cancelled_transactions_fail(void **state)
{
    (void)state;
    for (int64_t isolation = 0; isolation < RIG_SIM_ISOLATION_COUNT; isolation++) {
        struct rig_sim_options options = options_of((enum rig_sim_isolation)isolation);
        struct rig_sim_engine *engine = engine_of(&options, 1);
        const struct rig_op ops[] = {{RIG_OP_APPEND, 1, 1}, {RIG_OP_APPEND, 2, 1}};
        for (int steps = 0; steps <= 3; steps++) {
            rig_sim_engine_begin(engine, 0, ops, 2, &no_hold);
            for (int i = 0; i < steps; i++)
                assert_int_equal(rig_sim_engine_step(engine), RIG_SIM_NONE);
            rig_sim_engine_cancel(engine, 0);
            struct rig_sim_answer answer;
            rig_sim_engine_answer(engine, 0, &answer);
            assert_int_equal(answer.outcome, RIG_OUTCOME_FAIL);
            assert_true(answer.session_lost);
            assert_true(answer.complete_ns > answer.invoke_ns);
        }
        assert_list(engine, 1, NULL, 0);
        rig_sim_engine_free(engine);
    }
}

/* One worker: transactions come one after the other, in the order of their invocations, and none conflicts. */
static void workers_take_turns(void **state)
{
    (void)state;
    enum { SESSIONS = 9, ROUNDS = 20 };
    for (int64_t workers = 0; workers <= 1; workers++) {
        struct rig_sim_options options = options_of(RIG_SIM_SNAPSHOT);
        options.workers = workers;
        struct rig_sim_engine *engine = engine_of(&options, SESSIONS);
        const struct rig_op ops[] = {{RIG_OP_READ_LIST, 1, 0}, {RIG_OP_APPEND, 1, 1}};
        struct rig_sim_counts counts;
        for (uint32_t i = 0; i < SESSIONS; i++)
            rig_sim_engine_begin(engine, SESSIONS - 1 - i, ops, 2, &no_hold);
        for (uint32_t done = 0; done < SESSIONS * ROUNDS;) {
            uint32_t session = rig_sim_engine_step(engine);
            if (session == RIG_SIM_NONE)
                continue;
            if (workers == 1)
                assert_int_equal(session, done % SESSIONS);
            done++;
            rig_sim_engine_begin(engine, session, ops, 2, &no_hold);
        }
        counts = engine->counts;
        if (workers == 1)
            assert_int_equal(counts.conflicts, 0);
        else
            assert_true(counts.conflicts > SESSIONS * ROUNDS / 2);
        for (uint32_t i = 0; i < SESSIONS; i++)
            rig_sim_engine_cancel(engine, i);
        assert_int_equal(rig_sim_engine_busy_count(engine), 0);
        rig_sim_engine_free(engine);
    }
}

/* Lists of one origin are equal as far as they reach, even with lost, reordered and uncommitted appends. */
static void equal_origins_have_equal_elements(void **state)
{
    (void)state;
    enum { SESSIONS = 5, READS = 4000, MOST = 4096 };
    static const enum rig_sim_bug bugs[] = {RIG_SIM_BUG_NONE, RIG_SIM_BUG_LOST_UPDATE, RIG_SIM_BUG_REORDERED_APPEND,
                                            RIG_SIM_BUG_DIRTY_READ, RIG_SIM_BUG_DUPLICATE_APPEND};
    for (size_t b = 0; b < sizeof bugs / sizeof bugs[0]; b++) {
        static int64_t known[MOST];
        uint32_t known_count = 0, whole_count = 0, read_count = 0;
        uint64_t origin = 0;
        struct rig_sim_options options = options_of(RIG_SIM_SNAPSHOT);
        options.bug = bugs[b];
        options.bug_rate = 0.2;
        options.abort_rate = 0.1;
        struct rig_sim_engine *engine = engine_of(&options, SESSIONS);
        struct rig_op ops[SESSIONS][2];
        for (uint32_t i = 0; i < SESSIONS; i++) {
            ops[i][0] = (struct rig_op){RIG_OP_APPEND, 1, 1000 + i};
            ops[i][1] = (struct rig_op){RIG_OP_READ_LIST, 1, 0};
            rig_sim_engine_begin(engine, i, ops[i], 2, &no_hold);
        }
        while (read_count < READS) {
            uint32_t session = rig_sim_engine_step(engine);
            if (session == RIG_SIM_NONE)
                continue;
            const struct rig_sim_list *list = &rig_sim_engine_lists(engine, session)[1];
            struct rig_sim_answer answer;
            read_count++;
            if (list->origin != 0 && list->origin == origin) {
                uint32_t both = list->origin_count < known_count ? list->origin_count : known_count;
                assert_memory_equal(list->elements, known, both * sizeof known[0]);
            }
            assert_true(list->count < MOST && list->origin_count <= list->count);
            whole_count += list->count > 0 && list->origin_count == list->count;
            if (list->origin != origin || list->origin_count > known_count) {
                origin = list->origin;
                known_count = list->origin_count;
                if (known_count > 0)
                    memcpy(known, list->elements, known_count * sizeof known[0]);
            }
            rig_sim_engine_answer(engine, session, &answer);
            assert_int_equal(answer.reads[1].count, list->count);
            ops[session][0].value = 2000 + read_count;
            rig_sim_engine_begin(engine, session, ops[session], 2, &no_hold);
        }
        assert_true(whole_count > READS / 20);
        rig_sim_engine_free(engine);
    }
}

static void forgotten_keys_are_empty(void **state)
{
    (void)state;
    struct rig_sim_options options = options_of(RIG_SIM_SERIALIZABLE);
    struct rig_sim_engine *engine = engine_of(&options, 1);
    struct rig_sim_answer answer;
    for (int64_t i = 0; i < 3; i++) {
        const struct rig_op ops[] = {{RIG_OP_APPEND, 1, 10 + i}, {RIG_OP_APPEND, 2, 20 + i}};
        assert_int_equal(run_alone(engine, 0, ops, 2, &answer), RIG_OUTCOME_OK);
        rig_sim_engine_forget(engine, 1);
        rig_sim_engine_forget(engine, 3);
    }
    const int64_t expected[] = {20, 21, 22};
    assert_list(engine, 1, NULL, 0);
    assert_list(engine, 2, expected, 3);
    rig_sim_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolled_back_writes_are_gone),
        cmocka_unit_test(a_transaction_rolls_back_at_its_end),
        cmocka_unit_test(options_that_do_not_fit_are_refused),
        cmocka_unit_test(lists_grow_by_commit),
        cmocka_unit_test(registers_hold_the_last_write),
        cmocka_unit_test(every_loss_of_an_answer_has_its_outcome),
        cmocka_unit_test(aborts_leave_nothing),
        cmocka_unit_test(held_for_a_time),
        cmocka_unit_test(held_for_other_commits),
        cmocka_unit_test(holds_that_cannot_be_met_end),
        cmocka_unit_test(deadlocks_end_one_of_two),
        cmocka_unit_test(cancelled_transactions_fail),
        cmocka_unit_test(workers_take_turns),
        cmocka_unit_test(equal_origins_have_equal_elements),
        cmocka_unit_test(forgotten_keys_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
