/* Whether links are clean, on random ones, compared with components and real time on their graph. */
#include "tests/unit/random_links.h"

#include "checker/decide/cycle/core.h"
#include "checker/decide/cycle/realtime.h"

enum { ROUNDS = 20000 };

static bool expected(const struct fixture *f, const struct rig_graph *graph, bool real_time)
{
    struct rig_err err = {0};
    struct rig_components components;
    struct rig_realtime realtime;
    struct rig_view view = {.graph = graph, .links = RIG_LINKS_ALL};
    assert_int_equal(rig_components_find(view, &components, &err), RIG_OK);
    assert_int_equal(rig_realtime_find(&f->history, &components, &realtime, &err), RIG_OK);
    bool clean = components.list.count == 0 && (!real_time || realtime.violations.count == 0);
    rig_realtime_done(&realtime);
    rig_components_done(&components);
    return clean;
}

static bool any_info(const struct fixture *f)
{
    bool any = false;
    for (uint32_t i = 0; i < TXNS; i++)
        any |= f->txns[i].outcome == RIG_OUTCOME_INFO;
    return any;
}

static void clean_means_no_component_and_no_violation(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 90125, 0);
    unsigned counted[2] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct fixture f;
        struct rig_err err = {0};
        struct rig_graph graph;
        bool clean = false, real_time = round % 3 != 0;
        make_history(&f, &rng, round % 7);
        make_links(&f, &rng, round % 11, round % 2 == 0);
        if (round % 5 < 2)
            make_bundle(&f, &rng);
        assert_int_equal(rig_graph_pack(&f.links, NULL, &f.arena, &graph, &err), RIG_OK);
        bool wanted = expected(&f, &graph, real_time);
        assert_int_equal(rig_core_is_empty(&f.links, real_time ? &f.history : NULL, NULL, &clean, &err), RIG_OK);
        if (clean && !wanted)
            fail_msg("seed 90125, round %u: not clean", round);
        if (wanted && !clean && !(real_time && any_info(&f)))
            fail_msg("seed 90125, round %u: clean", round);
        counted[clean]++;
        rig_arena_done(&f.arena);
    }
    assert_true(counted[0] > ROUNDS / 10 && counted[1] > ROUNDS / 10);
}

/* Too deep for recursion. */
static void a_chain_that_leads_back_is_walked(void **state)
{
    (void)state;
    enum { LONG = 1000000 };
    for (unsigned closed = 0; closed < 2; closed++) {
        struct rig_arena arena;
        struct rig_links links;
        struct rig_err err = {0};
        bool clean = false;
        rig_arena_init(&arena, 0);
        assert_true(rig_links_init(&links, &arena, LONG, 0, LONG));
        for (uint32_t i = 0; i + 1 < LONG; i++)
            assert_true(rig_links_add(&links, i + 1, i, RIG_LINK_WR));
        if (closed)
            assert_true(rig_links_add(&links, 0, LONG - 1, RIG_LINK_WR));
        assert_int_equal(rig_core_is_empty(&links, NULL, NULL, &clean, &err), RIG_OK);
        assert_int_equal(clean, !closed);
        rig_arena_done(&arena);
    }
}

/* An edge from the later transaction of a process to the earlier one, past others that overlap both and each other. */
static void an_edge_against_the_order_of_a_process_is_found_at_any_distance(void **state)
{
    (void)state;
    enum { COUNT = 1000, FIRST = 50, UNCOMMITTED = FIRST + 1 };
    static const uint32_t distances[] = {2, 3, 100, 255, 256, 257, 258, 900};
    for (size_t d = 0; d < sizeof distances / sizeof distances[0] * 2; d++) {
        static struct rig_txn txns[COUNT];
        static uint8_t committed[COUNT];
        const uint32_t last = FIRST + distances[d / 2];
        const bool same = d % 2 == 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            txns[i] = (struct rig_txn){.invoke_at = i, .complete_at = COUNT + i, .process = (int32_t)i};
            committed[i] = i != UNCOMMITTED;
        }
        txns[last].process = txns[UNCOMMITTED].process;
        if (same)
            txns[FIRST].process = txns[last].process;
        const struct rig_history history = {.txns = txns, .txn_count = COUNT, .has_invocations = true, .in_turn = true};
        struct rig_arena arena;
        struct rig_links links;
        struct rig_err err = {0};
        bool clean = false;
        rig_arena_init(&arena, 0);
        assert_true(rig_links_init(&links, &arena, COUNT, 0, COUNT));
        assert_true(rig_links_add(&links, last, FIRST, RIG_LINK_RW));
        assert_int_equal(rig_core_is_empty(&links, &history, committed, &clean, &err), RIG_OK);
        if (clean == same)
            fail_msg("distance %u, of %s process: %s", distances[d / 2], same ? "one" : "another",
                     clean ? "clean" : "not clean");
        rig_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_means_no_component_and_no_violation),
        cmocka_unit_test(a_chain_that_leads_back_is_walked),
        cmocka_unit_test(an_edge_against_the_order_of_a_process_is_found_at_any_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
