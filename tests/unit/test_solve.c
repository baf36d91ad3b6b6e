/* The solver against brute force: all rules, along all orders, over all version orders of small random problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/buf.h"
#include "base/clock.h"
#include "checker/judge/check.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/case_search.h"
#include "checker/decide/solve/decide.h"
#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/near_serial.h"
#include "checker/decide/solve/solve.h"
#include "history/source/load.h"
#include "tests/unit/random_problem.h"
#include "tests/unit/slow_breach.h"

static const struct rig_solve_budget UNLIMITED = {.deadline_ns = INT64_MAX};

static struct rig_solution solve(const struct rig_problem *problem, const struct rig_rule *rule)
{
    struct rig_solution solution;
    struct rig_err err = {0};
    assert_int_equal(rig_solve(problem, rule, &UNLIMITED, &solution, &err), RIG_OK);
    return solution;
}

static void expect_core(const struct rig_problem *problem, const struct rig_rule *rule,
                        const struct rig_solution *solution)
{
    struct rig_problem part;
    assert_true(solution->core_count > 0);
    assert_true(rig_problem_part(problem, solution->core, solution->core_count, &part));
    assert_false(slow_breach_explains(&part, rule));
    rig_problem_done(&part);
}

static void expect_explanation(const struct rig_problem *problem, const struct rig_rule *rule,
                               const struct rig_solution *solution)
{
    struct rig_arc cycle[SLOW_TXNS];
    uint32_t seen = 0;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++)
        seen |= 1U << solution->place[txn];
    assert_int_equal(seen, (1U << problem->txn_count) - 1);
    for (size_t p = 0; p < problem->pairs.count; p++)
        assert_true(solution->place[problem->pairs.at[p].before] < solution->place[problem->pairs.at[p].after]);
    assert_int_equal(slow_breach_find(problem, rule, solution->place, cycle), 0);
}

static void compare(const struct rig_problem *problem, const struct rig_rule *rule, uint64_t seed, uint32_t counts[2])
{
    const bool expected = slow_breach_explains(problem, rule);
    struct rig_solution solution = solve(problem, rule);
    if (solution.answer != (expected ? RIG_ANSWER_YES : RIG_ANSWER_NO))
        fail_msg("seed %llu, form %d along %d: answer %d, expected %s", (unsigned long long)seed, (int)rule->form,
                 (int)rule->along, (int)solution.answer, expected ? "yes" : "no");
    if (expected)
        expect_explanation(problem, rule, &solution);
    else
        expect_core(problem, rule, &solution);
    counts[expected]++;
    rig_solution_done(&solution);
}

static void compare_all(uint64_t first_seed, uint32_t problems, uint32_t most)
{
    uint32_t counts[RIG_RULE_COUNT][2] = {{0}};
    for (uint64_t seed = first_seed; seed < first_seed + problems; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        rig_rng_init(&rng, seed, most);
        random_problem(&rng, most, &problem);
        for (int form = 0; form < RIG_RULE_COUNT; form++) {
            for (int along = 0; along < 3; along++) {
                const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
                compare(&problem, &rule, seed, counts[form]);
            }
        }
        rig_problem_done(&problem);
    }
    for (int form = RIG_RULE_FLOW; form < RIG_RULE_COUNT; form++) /* both answers occur */
        assert_true(counts[form][0] > problems / 50 && counts[form][1] > problems / 50);
}

static void test_brute_force(void **state)
{
    (void)state;
    compare_all(1, 6000, 4);
    compare_all(1, 2000, 5);
    compare_all(1, 300, 6);
}

/* A proof by cases, found by other code, confirms the refutation. */
static void expect_proof(const struct rig_problem *problem, const struct rig_rule *rule,
                         const struct rig_solution *solution)
{
    struct rig_problem part;
    struct rig_case_graph graph;
    struct rig_case_tree tree;
    struct rig_arena arena;
    bool writes_nothing[RANDOM_PROBLEM_TXNS];
    assert_true(rig_problem_part(problem, solution->core, solution->core_count, &part));
    for (uint32_t txn = 0; txn < part.txn_count; txn++)
        writes_nothing[txn] = part.txns.at[txn].first_write == part.txns.at[txn + 1].first_write;
    rig_arena_init(&arena, 0);
    assert_true(rig_case_graph_init(&graph, &part, rule, writes_nothing));
    assert_true(rig_case_search(&graph, INT64_MAX, 0, &arena, &tree));
    assert_non_null(tree.root);
    rig_case_graph_done(&graph);
    rig_arena_done(&arena);
    rig_problem_done(&part);
}

static void expect_no_breach(const struct rig_problem *problem, const struct rig_rule *rule,
                             const struct rig_solution *solution)
{
    struct rig_breaches found = {0};
    assert_true(rig_breach_find(problem, rule, solution->place, 1, INT64_MAX, &found));
    assert_int_equal(found.ends.count, 0);
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
}

static void test_larger(void **state)
{
    (void)state;
    enum { PROBLEMS = 250 };
    uint32_t counts[RIG_RULE_COUNT][2] = {{0}};
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        rig_rng_init(&rng, seed, RANDOM_PROBLEM_TXNS);
        random_problem(&rng, RANDOM_PROBLEM_TXNS, &problem);
        for (int form = 0; form < RIG_RULE_COUNT; form++) {
            for (int along = 0; along < 3; along++) {
                const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
                struct rig_solution solution = solve(&problem, &rule);
                counts[form][solution.answer == RIG_ANSWER_YES]++;
                if (solution.answer == RIG_ANSWER_YES)
                    expect_no_breach(&problem, &rule, &solution);
                else
                    expect_proof(&problem, &rule, &solution);
                rig_solution_done(&solution);
            }
        }
        rig_problem_done(&problem);
    }
    for (int form = RIG_RULE_CONSISTENT; form < RIG_RULE_COUNT; form++) /* both answers occur */
        assert_true(counts[form][0] > PROBLEMS / 10 && counts[form][1] > PROBLEMS / 10);
}

static void test_nothing(void **state)
{
    (void)state;
    struct rig_problem problem = {0};
    assert_true(rig_problem_finish(&problem));
    struct rig_solution solution = solve(&problem, rig_level_rule(RIG_LEVEL_SERIALIZABLE));
    assert_int_equal(solution.answer, RIG_ANSWER_YES);
    rig_solution_done(&solution);
    rig_problem_done(&problem);
}

/* Blind writes of one key by two sessions: only those of the same session are ordered. */
static void blind_writes(struct rig_problem *problem, uint32_t count)
{
    *problem = (struct rig_problem){0};
    for (uint32_t txn = 0; txn < count; txn++) {
        const struct rig_problem_txn added = {
            .txn = txn, .session = txn % 2, .before = txn < 2 ? RIG_PROBLEM_NONE : txn - 2, .ended = UINT32_MAX};
        assert_true(rig_problem_add_txn(problem, &added));
        assert_true(rig_problem_add_write(problem, 0, 0));
    }
    assert_true(rig_problem_finish(problem));
}

static void test_budget(void **state)
{
    (void)state;
    const struct rig_solve_budget nothing = {0};
    struct rig_problem problem;
    struct rig_solution solution;
    struct rig_err err = {0};
    blind_writes(&problem, 4000);
    assert_int_equal(
        rig_solve(&problem, rig_level_rule(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE), &nothing, &solution, &err), RIG_OK);
    assert_int_equal(solution.answer, RIG_ANSWER_SPENT);
    assert_null(solution.place);
    assert_null(solution.core);
    assert_true(solution.pairs.open > 0 && solution.pairs.open <= 4000 * 3999 / 2);
    rig_solution_done(&solution);
    solution = solve(&problem, rig_level_rule(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE));
    assert_int_equal(solution.answer, RIG_ANSWER_YES);
    rig_solution_done(&solution);
    rig_problem_done(&problem);
}

/* Also where the order of all versions is known: no level is decided after the deadline, and none before it is left. */
static void test_budget_of_orders(void **state)
{
    (void)state;
    const uint64_t levels = RIG_LEVEL_BIT(RIG_LEVEL_CURSOR_STABILITY) | RIG_LEVEL_BIT(RIG_LEVEL_SNAPSHOT_ISOLATION);
    const struct rig_history history = {.workload = RIG_WORKLOAD_LIST_APPEND};
    struct rig_problem problem = {0};
    struct rig_decisions decisions;
    struct rig_err err = {0};
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    for (uint32_t txn = 0; txn < 3; txn++) {
        assert_true(rig_problem_add_txn(
            &problem,
            &(struct rig_problem_txn){.txn = txn, .session = txn, .before = RIG_PROBLEM_NONE, .ended = UINT32_MAX}));
        assert_true(rig_problem_add_write(&problem, txn, 0));
    }
    assert_true(rig_problem_finish(&problem));
    for (int spent = 0; spent < 2; spent++) {
        const struct rig_solve_budget budget = {.deadline_ns = spent ? 0 : INT64_MAX};
        assert_int_equal(rig_decide(&problem, &history, levels, &budget, &arena, &decisions, &err), RIG_OK);
        assert_int_equal(decisions.spent, spent ? levels : 0);
        assert_int_equal(decisions.held, spent ? 0 : levels);
        rig_decisions_done(&decisions);
    }
    rig_arena_done(&arena);
    rig_problem_done(&problem);
}

/* Past the deadline nothing that has no explanation is explained, by any rule. */
static void test_budget_of_refuted(void **state)
{
    (void)state;
    const struct rig_solve_budget nothing = {0};
    uint32_t refuted = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        rig_rng_init(&rng, seed, 4);
        random_problem(&rng, 4, &problem);
        for (int form = 0; form < RIG_RULE_COUNT; form++) {
            const struct rig_rule rule = {(enum rig_rule_form)form, RIG_ALONG_PROCESS, false, false};
            struct rig_solution solution;
            struct rig_err err = {0};
            if (slow_breach_explains(&problem, &rule))
                continue;
            assert_int_equal(rig_solve(&problem, &rule, &nothing, &solution, &err), RIG_OK);
            assert_int_not_equal(solution.answer, RIG_ANSWER_YES);
            rig_solution_done(&solution);
            refuted++;
        }
        rig_problem_done(&problem);
    }
    assert_true(refuted > 50);
}

/* Two transactions, each before the other by the order of one key: no order of the nodes keeps both pairs. */
static void test_circle_of_pairs(void **state)
{
    (void)state;
    const uint64_t levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_UNCOMMITTED) | RIG_LEVEL_BIT(RIG_LEVEL_CURSOR_STABILITY);
    static const char lines[] = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"append\",0,1],[\"append\",1,1]]}\n"
                                "{\"type\":\"ok\",\"process\":1,\"value\":[[\"append\",0,2],[\"append\",1,2]]}\n";
    const struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_LIST_APPEND};
    struct rig_history *history = NULL;
    const struct rig_solve_budget shrinks_for_1_s = {.deadline_ns = rig_clock_now_ns() + 4 * RIG_NS_PER_S};
    struct rig_problem problem = {0};
    struct rig_decisions decisions;
    struct rig_err err = {0};
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    if (rig_history_parse("given", lines, sizeof lines - 1, &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    for (uint32_t txn = 0; txn < 2; txn++) {
        assert_true(rig_problem_add_txn(
            &problem,
            &(struct rig_problem_txn){.txn = txn, .session = txn, .before = RIG_PROBLEM_NONE, .ended = UINT32_MAX}));
        for (uint32_t key = 0; key < 2; key++)
            assert_true(rig_problem_add_write(&problem, key, key));
    }
    for (uint32_t key = 0; key < 2; key++)
        assert_true(
            rig_problem_add_pair(&problem, &(struct rig_problem_pair){.before = key, .after = 1 - key, .key = key}));
    assert_true(rig_problem_finish(&problem));
    assert_int_equal(rig_decide(&problem, history, levels, &shrinks_for_1_s, &arena, &decisions, &err), RIG_OK);
    assert_int_equal(decisions.held, 0);
    assert_int_equal(decisions.refuted, levels);
    rig_decisions_done(&decisions);
    rig_arena_done(&arena);
    rig_problem_done(&problem);
    rig_history_free(history);
}

/* Numbers of nodes have 32 bits: a larger problem is left open, before anything is done with it. */
static void test_too_large(void **state)
{
    (void)state;
    const struct rig_problem problem = {.txn_count = UINT32_C(1) << 31};
    struct rig_solution solution = solve(&problem, rig_level_rule(RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION));
    assert_int_equal(solution.answer, RIG_ANSWER_SPENT);
    assert_true(solution.too_large);
    rig_solution_done(&solution);
}

/* Transactions that write the same keys are one pair each, however many keys they share. */
static void test_open_pairs(void **state)
{
    (void)state;
    enum { TXNS = 3, KEYS = 1000 };
    const struct rig_solve_budget nothing = {0};
    struct rig_problem problem = {0};
    struct rig_solution solution;
    struct rig_err err = {0};
    for (uint32_t txn = 0; txn < TXNS; txn++) {
        assert_true(rig_problem_add_txn(
            &problem,
            &(struct rig_problem_txn){.txn = txn, .session = txn, .before = RIG_PROBLEM_NONE, .ended = UINT32_MAX}));
        for (uint32_t key = txn == 1; key < KEYS; key++)
            assert_true(rig_problem_add_write(&problem, key, key));
    }
    assert_true(rig_problem_finish(&problem));
    assert_int_equal(
        rig_solve(&problem, rig_level_rule(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE), &nothing, &solution, &err), RIG_OK);
    assert_int_equal(solution.answer, RIG_ANSWER_SPENT);
    assert_false(solution.too_large);
    assert_int_equal(solution.pairs.open, TXNS * (TXNS - 1) / 2);
    rig_solution_done(&solution);
    rig_problem_done(&problem);
}

/* As many sessions as transactions: all clocks would take 36 MB. */
static void many_sessions(struct rig_problem *problem, uint32_t count)
{
    *problem = (struct rig_problem){0};
    for (uint32_t txn = 0; txn < 2 * count; txn++) {
        const struct rig_problem_txn added = {.txn = txn,
                                              .session = txn % count,
                                              .before = txn < count ? RIG_PROBLEM_NONE : txn - count,
                                              .ended = UINT32_MAX};
        assert_true(rig_problem_add_txn(problem, &added));
        assert_true(rig_problem_add_write(problem, txn % 10, 0));
    }
    assert_true(rig_problem_finish(problem));
}

static void test_memory(void **state)
{
    (void)state;
    const struct rig_rule *rule = rig_level_rule(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE);
    struct rig_solve_budget budget = {.deadline_ns = INT64_MAX, .limit_bytes = 1};
    struct rig_problem problem;
    struct rig_solution solution;
    struct rig_err err = {0};
    many_sessions(&problem, 3000);
    assert_int_equal(rig_solve(&problem, rule, &budget, &solution, &err), RIG_OK);
    assert_int_equal(solution.answer, RIG_ANSWER_SPENT);
    assert_true(solution.too_large);
    rig_solution_done(&solution);
    budget.limit_bytes = 24 << 20;
    assert_int_equal(rig_solve(&problem, rule, &budget, &solution, &err), RIG_OK);
    assert_int_equal(solution.answer, RIG_ANSWER_YES);
    assert_false(solution.too_large);
    rig_solution_done(&solution);
    rig_problem_done(&problem);
}

/* Clocks of fewer chains where they must take less memory. */
static void test_clocks(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    const struct rig_rule *rule = rig_level_rule(RIG_LEVEL_STRONG_SESSION_SERIALIZABLE);
    struct rig_problem problem;
    struct rig_rule_frame frame;
    struct rig_forced all, some;
    many_sessions(&problem, 3000);
    assert_true(rig_rule_frame_init(&frame, &problem, rule));
    uint32_t *sequence = calloc(frame.node_count, sizeof sequence[0]);
    for (uint32_t node = 0; node < frame.node_count; node++)
        sequence[node] = node;
    assert_true(rig_forced_init(&all, &problem, &frame, sequence));
    assert_true(rig_forced_init_within(&some, &problem, &frame, sequence, BYTES));
    assert_int_equal(all.clocks.chains.count, 3000);
    assert_in_range(some.clocks.chains.count, 1, BYTES / sizeof(uint32_t) / frame.node_count + 1);
    rig_forced_done(&all);
    rig_forced_done(&some);
    rig_rule_frame_done(&frame);
    rig_problem_done(&problem);
    free(sequence);
}

/* The order that is nearest to a serial execution of the problem, in `place`, with so much memory; whether it is
 * serial. */
static bool near_serial(const struct rig_problem *problem, size_t limit_bytes, uint32_t *sorted, uint32_t *place)
{
    const struct rig_rule rule = {RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false};
    const struct rig_solve_budget budget = {INT64_MAX, limit_bytes};
    struct rig_rule_frame frame;
    struct rig_order_graph graph;
    struct rig_order_cycles cycles = {0};
    uint32_t rank[SLOW_TXNS];
    bool is_serial = false;
    assert_true(rig_rule_frame_init(&frame, problem, &rule) && rig_order_graph_init(&graph, problem, &frame));
    for (uint32_t node = 0; node < problem->txn_count; node++)
        rank[node] = problem->txn_count - node; /* far from a serial execution */
    assert_true(rig_order_graph_sort(&graph, rank, sorted, &cycles));
    if (cycles.ends.count == 0) {
        memcpy(place, sorted, problem->txn_count * sizeof place[0]);
        assert_true(rig_near_serial_improve(&graph, RIG_NEAR_SERIAL_BEST, &budget, place, &is_serial));
    }
    rig_order_edges_done(&cycles.edges);
    rig_order_ends_done(&cycles.ends);
    rig_order_graph_done(&graph);
    rig_rule_frame_done(&frame);
    return is_serial;
}

/* Less memory than the moves take in any case leaves the order as it was sorted, and says nothing of it. */
static void test_near_serial_memory(void **state)
{
    (void)state;
    uint32_t serial = 0, moved = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        uint32_t sorted[SLOW_TXNS], place[SLOW_TXNS] = {0}, other[SLOW_TXNS] = {0};
        rig_rng_init(&rng, seed, 7);
        random_problem(&rng, 6, &problem);
        const size_t bytes = problem.txn_count * sizeof place[0];
        if (near_serial(&problem, 0, sorted, place)) {
            serial++;
            moved += memcmp(sorted, place, bytes) != 0;
            assert_true(near_serial(&problem, 1 << 20, sorted, other));
            assert_memory_equal(place, other, bytes);
            assert_false(near_serial(&problem, (size_t)problem.txn_count * 28 - 1, sorted, other));
            assert_memory_equal(sorted, other, bytes);
        }
        rig_problem_done(&problem);
    }
    assert_true(serial > 500 && moved > 10);
}

/* Write skews of which no read shows the order of the appends, one pair of clients after the other. */
static struct rig_history *many_skews(uint32_t count)
{
    const struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_LIST_APPEND};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (unsigned i = 0; i < 2 * count; i += 2) {
        rig_buf_printf(
            &text,
            "{\"type\":\"invoke\",\"process\":0,\"value\":[[\"r\",%u,null],[\"append\",%u,1],[\"append\",%u,1]]}\n"
            "{\"type\":\"invoke\",\"process\":1,\"value\":[[\"r\",%u,null],[\"append\",%u,2]]}\n"
            "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",%u,[]],[\"append\",%u,1],[\"append\",%u,1]]}\n"
            "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",%u,[]],[\"append\",%u,2]]}\n",
            i + 1, i + 1, i, i, i + 1, i + 1, i + 1, i, i, i + 1);
    }
    if (rig_history_parse("given", rig_buf_text(&text), text.size, &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_buf_done(&text);
    return history;
}

/* Under a growing limit a check is refused, then leaves the levels that need the solver open for it, then decides them.
 * */
static void test_verdict_short_of_memory(void **state)
{
    (void)state;
    enum stage { REFUSED, OPEN, DECIDED } stage = REFUSED;
    uint32_t seen[DECIDED + 1] = {0};
    struct rig_history *history = many_skews(1000);
    for (size_t limit = 64 << 10; limit <= 1 << 28; limit += limit / 4) {
        const struct rig_check_options check = {.limit_bytes = limit};
        struct rig_verdict *verdict = NULL;
        struct rig_err err = {0};
        const enum rig_rc rc = rig_check(history, &check, &verdict, &err);
        enum stage now = REFUSED;
        if (rc == RIG_OK) {
            const struct rig_level_result *level = &verdict->levels[RIG_LEVEL_CONSISTENT_VIEW];
            now = level->fate == RIG_FATE_REFUTED ? DECIDED : OPEN;
            assert_int_equal(strstr(level->reason, "--max-memory") != NULL, now == OPEN);
        } else {
            assert_int_equal(rc, RIG_E_LIMIT);
        }
        rig_verdict_free(verdict);
        assert_true(now >= stage);
        stage = now;
        seen[now]++;
    }
    assert_true(seen[REFUSED] > 0 && seen[OPEN] > 0 && seen[DECIDED] > 0);
    rig_history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_pairs),       cmocka_unit_test(test_near_serial_memory),
        cmocka_unit_test(test_memory),           cmocka_unit_test(test_verdict_short_of_memory),
        cmocka_unit_test(test_clocks),           cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_brute_force),      cmocka_unit_test(test_larger),
        cmocka_unit_test(test_budget),           cmocka_unit_test(test_budget_of_refuted),
        cmocka_unit_test(test_circle_of_pairs),  cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_budget_of_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
