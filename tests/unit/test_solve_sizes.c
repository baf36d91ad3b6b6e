/*
 * How the solver's time grows with shapes of histories in which a careless search is quadratic: eight times the size
 * must not take much more than eight times as long.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/rng.h"
#include "checker/model/orders.h"
#include "checker/model/level.h"
#include "checker/decide/solve/solve.h"

enum { GROWTH = 8, MOST_GROWTH = 52, ATTEMPTS = 5 };

/* Shorter times are noise; a build that checks everything takes about eight times as long. */
static const double least_s = RIG_COSTLY_CHECKS ? 0.032 : 0.004;

static void add_txn(struct rig_problem *problem, uint32_t session, uint32_t *last)
{
    const uint32_t txn = problem->txn_count;
    const struct rig_problem_txn added = {
        .txn = txn, .session = session, .before = last[session], .invoked = 2 * txn, .ended = 2 * txn + 1};
    assert_true(rig_problem_add_txn(problem, &added));
    last[session] = txn;
}

static void add_read(struct rig_problem *problem, uint32_t op, uint32_t key, uint32_t writer)
{
    assert_true(rig_problem_add_read(problem, &(struct rig_problem_read){op, key, writer}));
}

static void add_write(struct rig_problem *problem, uint32_t key, uint32_t op)
{
    assert_true(rig_problem_add_write(problem, key, op));
}

static uint32_t *sessions(uint32_t count)
{
    uint32_t *last = malloc(((size_t)count + 1) * sizeof last[0]);
    assert_non_null(last);
    memset(last, 0xff, ((size_t)count + 1) * sizeof last[0]);
    return last;
}

/* One session that reads only, two that write. */
static void read_only_session(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(3), shown[2] = {RIG_PROBLEM_INITIAL, RIG_PROBLEM_INITIAL};
    for (uint32_t i = 0; i < size; i++) {
        if (i % (size / 4) == size / 8) {
            for (uint32_t session = 1; session < 3; session++) {
                add_txn(problem, session, last);
                add_write(problem, 0, 0);
                add_write(problem, session, 1);
                shown[session - 1] = problem->txn_count - 1;
            }
        }
        add_txn(problem, 0, last);
        add_read(problem, 0, 1, shown[0]);
        add_read(problem, 1, 2, shown[1]);
    }
    free(last);
}

/* Updates of unknown fate between the transactions of a session that reads only: nothing follows them. */
static void read_only_session_with_leaves(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(2);
    for (uint32_t i = 0; i < size; i++) {
        add_txn(problem, 0, last);
        const uint32_t reader = last[0];
        add_read(problem, 0, 0, RIG_PROBLEM_INITIAL);
        if (i % 2 == 0) {
            add_txn(problem, 0, last);
            add_write(problem, 1 + i % 64, 0);
            last[0] = reader;
        }
    }
    free(last);
}

/* Many read the initial state of a key that many write. */
static void initial_readers(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(40);
    for (uint32_t i = 0; i < size; i++) {
        add_txn(problem, i % 20, last);
        add_read(problem, 0, 0, RIG_PROBLEM_INITIAL);
        add_write(problem, 1, 1);
    }
    for (uint32_t i = 0; i < size; i++) {
        add_txn(problem, 20 + i % 20, last);
        add_write(problem, 0, 0);
    }
    free(last);
}

/* Many read a version of a key that many overwrite, each after it has read it, too. */
static void readers_of_one_version(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(41);
    add_txn(problem, 40, last);
    add_write(problem, 0, 0);
    add_write(problem, 2, 1);
    for (uint32_t i = 0; i < size; i++) {
        add_txn(problem, i % 20, last);
        add_read(problem, 0, 0, 0);
        add_write(problem, 1, 1);
    }
    for (uint32_t i = 0; i < size; i++) {
        add_txn(problem, 20 + i % 20, last);
        add_read(problem, 0, 2, 0);
        add_write(problem, 0, 1);
    }
    free(last);
}

/* Many update one version, as an assumption says; nothing explains that. */
static void updates_of_one_version(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(21);
    add_txn(problem, 20, last);
    add_write(problem, 0, 0);
    for (uint32_t i = 1; i <= size; i++) {
        add_txn(problem, i % 20, last);
        add_read(problem, 0, 0, 0);
        add_write(problem, 0, 1);
        const struct rig_problem_pair pair = {.before = 0, .after = i, .source = RIG_ORDER_WFR};
        assert_true(rig_problem_add_pair(problem, &pair));
    }
    free(last);
}

/* One transaction reads many keys of as many transactions. */
static void long_reader(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(21);
    for (uint32_t i = 0; i < 2 * size; i++) {
        add_txn(problem, i % 20, last);
        add_write(problem, i % size, 0);
    }
    add_txn(problem, 20, last);
    for (uint32_t i = 0; i < size; i++)
        add_read(problem, i, i, i % 2 == 0 ? i : size + i);
    free(last);
}

/* A few transactions write the same keys; readers see each of them. */
static void wide_transactions(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(6);
    for (uint32_t writer = 0; writer < 3; writer++) {
        add_txn(problem, writer, last);
        for (uint32_t key = 0; key < size; key++)
            add_write(problem, key, key);
    }
    for (uint32_t reader = 0; reader < 3; reader++) {
        add_txn(problem, 3 + reader, last);
        for (uint32_t key = 0; key < size; key++)
            add_read(problem, key, key, reader);
    }
    free(last);
}

/* As many sessions as a third of the transactions, on one key. */
static void many_sessions(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(size), shown = RIG_PROBLEM_INITIAL;
    for (uint32_t i = 0; i < 3 * size; i++) {
        add_txn(problem, i % size, last);
        if (shown != RIG_PROBLEM_INITIAL || i == 0)
            add_read(problem, 0, 0, shown);
        if (i % 4 != 3)
            continue;
        add_write(problem, 0, 1);
        shown = problem->txn_count - 1;
    }
    free(last);
}

static void blind_sessions(struct rig_problem *problem, uint32_t size)
{
    uint32_t *last = sessions(size);
    for (uint32_t i = 0; i < 3 * size; i++) {
        add_txn(problem, i % size, last);
        add_write(problem, 0, 0);
    }
    free(last);
}

/* A serial execution of reads and blind writes, whose sessions stand one after the other. */
static void reads_by_session(struct rig_problem *problem, uint32_t size)
{
    enum { SESSIONS = 20 };
    struct step {
        uint32_t session, key, shown, node; /* shown: a step, or INITIAL */
        bool reads;
    } *steps = calloc(size, sizeof steps[0]);
    uint32_t *latest = sessions(size), *last = sessions(SESSIONS), node = 0;
    struct rig_rng rng;
    rig_rng_init(&rng, 1, 0);
    assert_non_null(steps);
    for (uint32_t i = 0; i < size; i++) {
        struct step *step = &steps[i];
        step->session = (uint32_t)rig_rng_below(&rng, SESSIONS);
        step->key = (uint32_t)rig_rng_below(&rng, size / 10);
        step->reads = rig_rng_below(&rng, 2) == 0;
        step->shown = latest[step->key];
        latest[step->key] = step->reads ? step->shown : i;
    }
    for (uint32_t session = 0; session < SESSIONS; session++) {
        for (uint32_t i = 0; i < size; i++)
            steps[i].node = steps[i].session == session ? node++ : steps[i].node;
    }
    for (uint32_t session = 0; session < SESSIONS; session++) {
        for (uint32_t i = 0; i < size; i++) {
            if (steps[i].session != session)
                continue;
            add_txn(problem, session, last);
            problem->txns.at[steps[i].node].ended = UINT32_MAX;
            if (steps[i].reads)
                add_read(problem, 0, steps[i].key,
                         steps[i].shown == RIG_PROBLEM_INITIAL ? RIG_PROBLEM_INITIAL : steps[steps[i].shown].node);
            else
                add_write(problem, steps[i].key, 0);
        }
    }
    free(steps);
    free(latest);
    free(last);
}

struct shape {
    const char *name;
    void (*make)(struct rig_problem *problem, uint32_t size);
    uint32_t size;
};

static const struct shape shapes[] = {
    {"a session that reads only", read_only_session, 2000},
    {"a session that reads only, and leaves", read_only_session_with_leaves, 1000},
    {"readers of an initial state", initial_readers, 500},
    {"readers of one version", readers_of_one_version, 500},
    {"updates of one version", updates_of_one_version, 500},
    {"a transaction with many reads", long_reader, 500},
    {"transactions with many writes", wide_transactions, 1000},
    {"many sessions", many_sessions, 100},
    {"many sessions that write", blind_sessions, 400},
    {"reads in the order of sessions", reads_by_session, 2500},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_of(const struct shape *shape, uint32_t size, const struct rig_rule *rule)
{
    const struct rig_solve_budget budget = {.deadline_ns = INT64_MAX};
    struct rig_problem problem = {.has_realtime = true};
    double best = 1e9;
    shape->make(&problem, size);
    assert_true(rig_problem_finish(&problem));
    for (int i = 0; i < 2; i++) {
        struct rig_solution solution;
        struct rig_err err = {0};
        const double begin = seconds();
        assert_int_equal(rig_solve(&problem, rule, &budget, &solution, &err), RIG_OK);
        const double took = seconds() - begin;
        best = took < best ? took : best;
        rig_solution_done(&solution);
    }
    rig_problem_done(&problem);
    return best;
}

/* UPDATE_ATOMIC looks at the versions between those that an update read and its own (breach.c): here, at all of them.
 * */
static bool is_square(const struct shape *shape, const struct rig_rule *rule)
{
    return shape->make == updates_of_one_version && rule->form == RIG_RULE_UPDATE_ATOMIC;
}

/* On a busy machine the processor's caches serve other programs, too: a time that is too long is measured again. */
static bool grows_linearly_by(const struct shape *shape, const struct rig_rule *rule)
{
    const double most_growth = is_square(shape, rule) ? MOST_GROWTH * GROWTH : MOST_GROWTH;
    bool linear = false;
    for (int i = 0; !linear && i < ATTEMPTS; i++) {
        const double small = time_of(shape, shape->size, rule), large = time_of(shape, GROWTH * shape->size, rule);
        linear = large <= most_growth * (small > least_s ? small : least_s);
        if (!linear || getenv("RIG_SHOW_TIMES") != NULL)
            print_message("%s, form %d along %d: %.2f ms, then %.2f ms%s\n", shape->name, rule->form, rule->along,
                          1e3 * small, 1e3 * large, linear ? "" : " <<<");
    }
    return linear;
}

/* By the rule of each level, each once. */
static void grows_linearly(void **state)
{
    bool asked[RIG_RULE_COUNT][RIG_ALONG_COUNT] = {{false}}, linear = true;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct rig_rule *rule = rig_level_rule((enum rig_level)level);
        if (!asked[rule->form][rule->along])
            linear = grows_linearly_by(*state, rule) && linear;
        asked[rule->form][rule->along] = true;
    }
    assert_true(linear);
}

/*
 * One process has acknowledged transactions, and as many without a completion, which were invoked early: these stand at
 * the end, and follow one of the first.
 */
static double time_of_process_order(uint32_t size)
{
    struct rig_txn *txns = calloc((size_t)2 * size + 1, sizeof txns[0]);
    uint8_t *committed = malloc((size_t)2 * size);
    uint32_t *before = malloc((size_t)2 * size * sizeof before[0]);
    struct rig_arena arena;
    double best = 1e9;
    assert_true(txns != NULL && committed != NULL && before != NULL);
    for (uint32_t i = 0; i < size; i++) {
        txns[i] = (struct rig_txn){.outcome = RIG_OUTCOME_OK, .invoke_at = 4 * i, .complete_at = 4 * i + 1};
        txns[size + i] = (struct rig_txn){
            .outcome = RIG_OUTCOME_INFO, .invoke_at = 4 * (i % (size / 4)) + 2, .complete_at = RIG_POSITION_NONE};
    }
    memset(committed, 1, (size_t)2 * size);
    const struct rig_history history = {.txns = txns, .txn_count = 2 * size, .has_invocations = true};
    rig_arena_init(&arena, 0);
    for (int i = 0; i < 3; i++) {
        const double begin = seconds();
        assert_true(rig_process_order(&history, committed, &arena, before));
        const double took = seconds() - begin;
        best = took < best ? took : best;
        for (uint32_t txn = 0; txn < size; txn++) {
            assert_int_equal(before[txn], txn == 0 ? RIG_NODE_NONE : txn - 1);
            assert_int_equal(before[size + txn], txn % (size / 4));
        }
    }
    rig_arena_done(&arena);
    free(txns);
    free(committed);
    free(before);
    return best;
}

static void process_order(void **state)
{
    (void)state;
    bool linear = false;
    for (int i = 0; !linear && i < ATTEMPTS; i++) {
        const double small = time_of_process_order(4000), large = time_of_process_order(GROWTH * 4000);
        if (getenv("RIG_SHOW_TIMES") != NULL)
            print_message("process order: %.2f ms, then %.2f ms\n", 1e3 * small, 1e3 * large);
        linear = large <= MOST_GROWTH * (small > least_s ? small : least_s);
    }
    assert_true(linear);
}

/* With an argument only the shapes whose names contain it. */
int main(int argc, char **argv)
{
    enum { SHAPES = sizeof shapes / sizeof shapes[0] };
    struct CMUnitTest tests[SHAPES + 1];
    for (size_t i = 0; i < SHAPES; i++)
        tests[i] = (struct CMUnitTest){
            .name = shapes[i].name, .test_func = grows_linearly, .initial_state = (void *)(uintptr_t)&shapes[i]};
    tests[SHAPES] = (struct CMUnitTest)cmocka_unit_test(process_order);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests("solve_sizes", tests, SHAPES + 1, NULL, NULL);
}
