/* Proofs by cases against brute force: all rules, along all orders, over small random problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "checker/decide/solve/case_graph.h"
#include "checker/decide/solve/case_search.h"
#include "checker/decide/solve/shrink.h"
#include "tests/unit/random_problem.h"
#include "tests/unit/slow_breach.h"

enum { LARGE_LINKS = 500, LARGE_TXNS = 3 * LARGE_LINKS, LARGE_KEYS = 1000 };

/* Follows the tree: each leaf is a cycle of distinct nodes that the rule forbids, whose edges hold in its case. */
static void replay(struct rig_case_graph *graph, const struct rig_case_node *node)
{
    struct rig_arc arcs[SLOW_TXNS];
    bool nothing[SLOW_TXNS];
    uint32_t seen = 0;
    if (node->first != NULL) {
        assert_int_equal(graph->value[node->pair], RIG_CASE_OPEN);
        graph->value[node->pair] = (uint8_t)node->supposed;
        replay(graph, node->first);
        graph->value[node->pair] = node->supposed == RIG_CASE_FORWARD ? RIG_CASE_BACKWARD : RIG_CASE_FORWARD;
        replay(graph, node->second);
        graph->value[node->pair] = RIG_CASE_OPEN;
        return;
    }
    assert_in_range(node->length, 2, SLOW_TXNS);
    for (uint32_t i = 0; i < node->length; i++) {
        const struct rig_case_arc *arc = &graph->arcs.at[node->cycle[i]];
        assert_true(arc->pair == RIG_CASE_NONE || graph->value[arc->pair] == arc->value);
        arcs[i] = arc->arc;
        nothing[i] = graph->writes_nothing[arc->arc.from];
        assert_int_equal(seen >> arcs[i].from & 1, 0);
        seen |= 1U << arcs[i].from;
        if (i > 0)
            assert_int_equal(arcs[i - 1].to, arcs[i].from);
    }
    assert_int_equal(arcs[node->length - 1].to, arcs[0].from);
    assert_true(rig_rule_forbids(graph->rule, arcs, node->length, nothing));
}

/* The leaves of the proof; 0: there is an explanation. */
static uint32_t prove(const struct rig_problem *problem, const struct rig_rule *rule)
{
    struct rig_arena arena;
    struct rig_case_graph graph;
    struct rig_case_tree tree;
    bool nothing[SLOW_TXNS];
    for (uint32_t i = 0; i < problem->txn_count; i++)
        nothing[i] = problem->txns.at[i].first_write == problem->txns.at[i + 1].first_write;
    rig_arena_init(&arena, 0);
    assert_true(rig_case_graph_init(&graph, problem, rule, nothing));
    assert_true(rig_case_search(&graph, INT64_MAX, INT64_C(1000000000), &arena, &tree));
    assert_false(tree.spent);
    const uint32_t leaves = tree.root == NULL ? 0 : rig_case_leaves(tree.root);
    if (tree.root != NULL)
        replay(&graph, tree.root);
    rig_case_graph_done(&graph);
    rig_arena_done(&arena);
    return leaves;
}

/* The same over pairs as they turn out to be needed. Gives the number of cycles of the proof, 0: there is an
 * explanation. */
static uint32_t prove_by_need(const struct rig_problem *problem, const struct rig_rule *rule)
{
    struct rig_arena arena;
    struct rig_case_pairs pairs = {0};
    bool nothing[LARGE_TXNS], explained = false;
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < problem->txn_count; i++)
        nothing[i] = problem->txns.at[i].first_write == problem->txns.at[i + 1].first_write;
    rig_arena_init(&arena, 0);
    assert_true(rig_case_pairs_forced(problem, rule, INT64_MAX, &pairs));
    while (leaves == 0 && !explained) {
        struct rig_case_graph graph;
        struct rig_case_tree tree;
        const size_t before = pairs.count;
        assert_true(rig_case_graph_init_given(&graph, problem, rule, nothing, &pairs));
        assert_false(graph.too_large);
        assert_true(rig_case_search(&graph, INT64_MAX, 0, &arena, &tree));
        assert_false(tree.spent);
        assert_true((tree.root == NULL) == (tree.model != NULL));
        if (tree.root != NULL) {
            leaves = rig_case_leaves(tree.root);
            if (problem->txn_count <= SLOW_TXNS)
                replay(&graph, tree.root);
        } else {
            enum rig_case_pairs_answer answer;
            assert_true(rig_case_pairs_missing(&graph, tree.model, INT64_MAX, &pairs, &answer));
            assert_true((answer == RIG_CASE_PAIRS_FOUND) == (pairs.count > before));
            explained = answer == RIG_CASE_PAIRS_EXPLAINED;
            assert_true(explained || answer == RIG_CASE_PAIRS_FOUND);
        }
        rig_case_graph_done(&graph);
    }
    rig_case_pairs_done(&pairs);
    rig_arena_done(&arena);
    return leaves;
}

/* The rest has no explanation, and each part of it without one transaction has one. */
static void expect_minimal(const struct rig_problem *problem, const struct rig_rule *rule)
{
    const struct rig_solve_budget unlimited = {.deadline_ns = INT64_MAX};
    const uint32_t all[SLOW_TXNS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct rig_shrunk shrunk;
    struct rig_problem part;
    struct rig_err err = {0};
    assert_int_equal(rig_shrink(problem, rule, all, problem->txn_count, &unlimited, &shrunk, &err), RIG_OK);
    assert_true(shrunk.minimal && shrunk.count >= 2);
    assert_true(rig_problem_part(problem, shrunk.nodes, shrunk.count, &part));
    assert_true(prove(&part, rule) > 0);
    rig_problem_done(&part);
    for (uint32_t without = 0; without < shrunk.count; without++) {
        uint32_t kept[SLOW_TXNS], count = 0;
        for (uint32_t i = 0; i < shrunk.count; i++) {
            if (i != without)
                kept[count++] = shrunk.nodes[i];
        }
        assert_true(rig_problem_part(problem, kept, count, &part));
        assert_true(slow_breach_explains(&part, rule));
        rig_problem_done(&part);
    }
    rig_shrunk_done(&shrunk);
}

static void compare_all(uint32_t problems, uint32_t most, uint32_t *longest)
{
    uint32_t proofs = 0;
    for (uint64_t seed = 0; seed < problems; seed++) {
        struct rig_rng rng;
        struct rig_problem problem;
        rig_rng_init(&rng, seed, most);
        random_problem(&rng, most, &problem);
        for (int form = 0; form < RIG_RULE_COUNT; form++) {
            for (int along = 0; along < RIG_ALONG_COUNT; along++) {
                const struct rig_rule rule = {(enum rig_rule_form)form, (enum rig_along)along, false, false};
                const uint32_t leaves = prove(&problem, &rule);
                if ((leaves == 0) != slow_breach_explains(&problem, &rule))
                    fail_msg("seed %llu, form %d along %d: %u cycles", (unsigned long long)seed, form, along, leaves);
                if ((leaves == 0) != (prove_by_need(&problem, &rule) == 0))
                    fail_msg("seed %llu, form %d along %d: %u cycles, not by need", (unsigned long long)seed, form,
                             along, leaves);
                proofs += leaves > 1;
                *longest = leaves > *longest ? leaves : *longest;
                if (leaves > 0)
                    expect_minimal(&problem, &rule);
            }
        }
        rig_problem_done(&problem);
    }
    assert_true(proofs > problems / 10);
}

static void test_brute_force(void **state)
{
    (void)state;
    uint32_t longest = 0;
    compare_all(1000, 4, &longest);
    compare_all(400, 5, &longest);
    compare_all(40, 6, &longest);
    assert_true(longest > 2);
}

/* ---- many transactions ---- */

struct link {
    uint32_t first, second, reader; /* nodes: two writers of the key `3 * i`, and one that reads the second one's */
};

static struct link link_of(uint32_t i)
{
    return (struct link){3 * i, 3 * i + 1, 3 * i + 2};
}

static void add_txn(struct rig_problem *problem)
{
    const uint32_t node = problem->txn_count;
    const struct rig_problem_txn txn = {
        .txn = node, .session = node, .before = RIG_PROBLEM_NONE, .ended = RIG_PROBLEM_NONE};
    assert_true(rig_problem_add_txn(problem, &txn));
}

static void add_read(struct rig_problem *problem, uint32_t key, uint32_t writer, uint32_t *op)
{
    assert_true(rig_problem_add_read(problem, &(struct rig_problem_read){(*op)++, key, writer}));
}

/*
 * A chain of forced pairs: first -> reader over key 3 i + 1 makes "first before second" of link i; with first -> first
 * of the link before over key 3 i + 1, and second -> reader of the next one over key 3 i + 2, that of link i + 1
 * follows. The last second -> first closes it. Nothing less than all pairs refutes a level.
 */
static void make_chain(struct rig_problem *problem, uint32_t links)
{
    *problem = (struct rig_problem){0};
    for (uint32_t i = 0; i < links; i++) {
        const uint32_t key = 3 * i;
        uint32_t op = 0;
        add_txn(problem);
        if (i + 1 < links)
            add_read(problem, key + 4, link_of(i + 1).first, &op);
        else
            add_read(problem, key + 2, link_of(i).second, &op);
        assert_true(rig_problem_add_write(problem, key, op++) && rig_problem_add_write(problem, key + 1, op++));
        add_txn(problem);
        assert_true(rig_problem_add_write(problem, key, 0) && rig_problem_add_write(problem, key + 2, 1));
        add_txn(problem);
        op = 0;
        add_read(problem, key, link_of(i).second, &op);
        if (i > 0)
            add_read(problem, key - 1, link_of(i - 1).second, &op);
        else
            add_read(problem, 1, link_of(0).first, &op);
    }
    assert_true(rig_problem_finish(problem));
}

static void test_long_chain(void **state)
{
    (void)state;
    const struct rig_rule rules[] = {{RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false},
                                     {RIG_RULE_SNAPSHOT, RIG_ALONG_PLAIN, true, false},
                                     {RIG_RULE_CONSISTENT, RIG_ALONG_PLAIN, true, false},
                                     {RIG_RULE_SERIAL, RIG_ALONG_PROCESS, true, false}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct rig_problem problem;
        make_chain(&problem, LARGE_LINKS);
        assert_int_equal(prove_by_need(&problem, &rules[i]), LARGE_LINKS + 1);
        rig_problem_done(&problem);
    }
}

/* Three transactions that write the same thousand keys are three pairs, not three thousand. */
static void test_parallel_edges(void **state)
{
    (void)state;
    const bool nothing[] = {false, false, false};
    const struct rig_rule rule = {RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false};
    struct rig_problem problem = {0};
    struct rig_case_graph graph;
    for (uint32_t node = 0; node < 3; node++) {
        add_txn(&problem);
        for (uint32_t key = 0; key < LARGE_KEYS; key++)
            assert_true(rig_problem_add_write(&problem, key, key));
    }
    assert_true(rig_problem_finish(&problem));
    assert_true(rig_case_graph_init(&graph, &problem, &rule, nothing));
    assert_false(graph.too_large);
    assert_int_equal(graph.pairs.count, 3);
    assert_int_equal(graph.arcs.count, 6);
    rig_case_graph_done(&graph);
    rig_problem_done(&problem);
}

/* ---- cases in each other ---- */

/* A search over given pairs on a thread with a small stack. */
struct deep {
    struct rig_problem problem;
    struct rig_case_pairs pairs;
    uint32_t leaves, nested;
    bool has_model;
};

static void *search_deep(void *argument)
{
    const struct rig_rule rule = {RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false};
    struct deep *deep = argument;
    struct rig_arena arena;
    struct rig_case_graph graph;
    struct rig_case_tree tree;
    bool *nothing = calloc(deep->problem.txn_count, sizeof nothing[0]);
    rig_arena_init(&arena, 0);
    assert_true(rig_case_graph_init_given(&graph, &deep->problem, &rule, nothing, &deep->pairs));
    assert_true(rig_case_search(&graph, INT64_MAX, 0, &arena, &tree));
    assert_false(tree.spent);
    deep->has_model = tree.model != NULL;
    deep->leaves = tree.root == NULL ? 0 : rig_case_leaves(tree.root);
    deep->nested = tree.root == NULL ? 0 : tree.root->nested;
    for (size_t pair = 0; pair < graph.pairs.count; pair++)
        assert_int_equal(graph.value[pair], RIG_CASE_OPEN);
    rig_case_graph_done(&graph);
    rig_arena_done(&arena);
    free(nothing);
    return NULL;
}

static void run_deep(struct deep *deep, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    assert_true(rig_problem_finish(&deep->problem));
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
    assert_int_equal(pthread_create(&thread, &attributes, search_deep, deep), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    rig_problem_done(&deep->problem);
    rig_case_pairs_done(&deep->pairs);
}

/* Pairs that nothing orders: each is a case in the one before. */
static void test_free_pairs(void **state)
{
    (void)state;
    enum { PAIRS = 1500, STACK_BYTES = 128 << 10 };
    struct deep deep = {0};
    for (uint32_t key = 0; key < PAIRS; key++) {
        add_txn(&deep.problem);
        assert_true(rig_problem_add_write(&deep.problem, key, 0));
        add_txn(&deep.problem);
        assert_true(rig_problem_add_write(&deep.problem, key, 0));
        assert_true(rig_case_pairs_add(&deep.pairs, (struct rig_case_pair){2 * key, 2 * key + 1, key}));
    }
    run_deep(&deep, STACK_BYTES);
    assert_true(deep.has_model);
}

/*
 * Steps of one chain: a -> b -> the next step's a, and the last b -> the first a. Each a comes before its b, or nothing
 * explains c and d: one that saw a and c's version comes before d, which b saw; the other one comes before c. Readers
 * of a's version only make more edges.
 */
enum step_txn { STEP_A, STEP_B, STEP_C, STEP_D, STEP_SAW_C, STEP_SAW_D, STEP_READER, STEP_TXNS = STEP_READER + 4 };

static void add_deep_step(struct deep *deep, uint32_t step, uint32_t steps)
{
    struct rig_problem *problem = &deep->problem;
    const uint32_t first = step * STEP_TXNS, before = (step == 0 ? steps - 1 : step - 1) * STEP_TXNS, key = 5 * step;
    const uint32_t before_key = 5 * (step == 0 ? steps - 1 : step - 1);
    for (uint32_t role = 0; role < STEP_TXNS; role++) {
        uint32_t op = 0;
        add_txn(problem);
        switch (role) {
        case STEP_A: /* keys: 0 of a and b, 1 of c and d, 2 only of a, b's 3, c's and d's 4 */
            add_read(problem, before_key + 3, before + STEP_B, &op);
            assert_true(rig_problem_add_write(problem, key, op) && rig_problem_add_write(problem, key + 2, op + 1));
            break;
        case STEP_B:
            add_read(problem, 5 * steps + 2 * step, first + STEP_C, &op);
            add_read(problem, 5 * steps + 2 * step + 1, first + STEP_D, &op);
            assert_true(rig_problem_add_write(problem, key, op) && rig_problem_add_write(problem, key + 3, op + 1));
            break;
        case STEP_C:
        case STEP_D:
            assert_true(rig_problem_add_write(problem, key + 1, op) &&
                        rig_problem_add_write(problem, 5 * steps + 2 * step + (role == STEP_D), op + 1));
            break;
        case STEP_SAW_C:
        case STEP_SAW_D:
            add_read(problem, key + 2, first + STEP_A, &op);
            add_read(problem, key + 1, first + (role == STEP_SAW_C ? STEP_C : STEP_D), &op);
            break;
        default:
            add_read(problem, key, first + STEP_A, &op);
        }
    }
    assert_true(rig_case_pairs_add(&deep->pairs, (struct rig_case_pair){first + STEP_A, first + STEP_B, key}) &&
                rig_case_pairs_add(&deep->pairs, (struct rig_case_pair){first + STEP_C, first + STEP_D, key + 1}));
}

/* Each step takes a case of its own: splits of c and d come to nothing before all steps are split, so that a tree of
 * them would have 2^steps leaves. Looking deeper first refutes "a before b" in each step by itself. */
static void test_deep_cases(void **state)
{
    (void)state;
    enum { STEPS = 100, STACK_BYTES = 64 << 10 };
    struct deep deep = {0};
    for (uint32_t step = 0; step < STEPS; step++)
        add_deep_step(&deep, step, STEPS);
    run_deep(&deep, STACK_BYTES);
    assert_false(deep.has_model);
    assert_int_equal(deep.leaves, 2 * STEPS + 1);
    assert_in_range(deep.nested, 1, 2);
}

/* The deadline comes before a cycle is found: the order does not count as an explanation. */
static void test_spent(void **state)
{
    (void)state;
    const struct rig_rule rule = {RIG_RULE_SERIAL, RIG_ALONG_PLAIN, true, false};
    const bool nothing[] = {false, false};
    const uint8_t model[] = {RIG_CASE_FORWARD};
    struct rig_problem problem = {0};
    struct rig_case_graph graph;
    struct rig_case_pairs pairs = {0};
    enum rig_case_pairs_answer answer;
    for (uint32_t node = 0; node < 2; node++) {
        uint32_t op = 0;
        add_txn(&problem);
        add_read(&problem, 0, RIG_PROBLEM_INITIAL, &op);
        assert_true(rig_problem_add_write(&problem, 0, op));
    }
    assert_true(rig_problem_finish(&problem));
    assert_true(rig_case_pairs_add(&pairs, (struct rig_case_pair){0, 1, 0}));
    assert_true(rig_case_graph_init_given(&graph, &problem, &rule, nothing, &pairs));
    assert_true(rig_case_pairs_missing(&graph, model, 0, &pairs, &answer));
    assert_int_equal(answer, RIG_CASE_PAIRS_SPENT);
    assert_true(rig_case_pairs_missing(&graph, model, INT64_MAX, &pairs, &answer));
    assert_int_equal(answer, RIG_CASE_PAIRS_FOUND);
    rig_case_graph_done(&graph);
    rig_case_pairs_done(&pairs);
    rig_problem_done(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brute_force),    cmocka_unit_test(test_long_chain),
                                       cmocka_unit_test(test_parallel_edges), cmocka_unit_test(test_free_pairs),
                                       cmocka_unit_test(test_deep_cases),     cmocka_unit_test(test_spent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
