/* The core of random graphs gives the same decision on cycles of every kind as the whole graph. */
#include "tests/unit/random_links.h"

#include "checker/decide/cycle/core.h"
#include "checker/decide/cycle/realtime.h"
#include "checker/model/orders.h"

enum { ROUNDS = 3000 };

/* The result for one view of a graph. */
struct found {
    uint32_t members;  /* of components */
    uint32_t violated; /* the transactions that violate real time, as bits */
};

static struct found look(const struct fixture *f, struct rig_view view)
{
    struct rig_err err = {0};
    struct rig_components components;
    struct rig_realtime realtime;
    struct found found = {0};
    assert_int_equal(rig_components_find(view, &components, &err), RIG_OK);
    assert_int_equal(rig_realtime_find(&f->history, &components, &realtime, &err), RIG_OK);
    for (size_t i = 0; i < components.list.count; i++)
        found.members += components.list.at[i].end - components.list.at[i].begin;
    for (size_t i = 0; i < realtime.violations.count; i++)
        found.violated |= 1u << rig_graph_txn(view.graph, realtime.violations.at[i]);
    rig_realtime_done(&realtime);
    rig_components_done(&components);
    return found;
}

static void make_whole(struct fixture *f, const uint8_t *committed, struct rig_graph *whole)
{
    struct rig_err err = {0};
    uint32_t *before = rig_arena_room(&f->arena, TXNS, sizeof *before);
    assert_non_null(before);
    assert_true(rig_process_order(&f->history, committed, &f->arena, before));
    assert_int_equal(rig_graph_pack(&f->links, NULL, &f->arena, whole, &err), RIG_OK);
    assert_int_equal(rig_graph_add_orders(&f->history, committed, before, &f->arena, whole, &err), RIG_OK);
}

/* Removes the edges of nodes that are not selected. */
static void restrict_to(struct rig_graph *graph, const uint8_t *selected)
{
    uint32_t kept = 0, begin = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t end = graph->first[node + 1];
        for (uint32_t i = begin; i < end; i++) {
            uint32_t edge = graph->edges[i];
            graph->edges[kept] = edge;
            kept += selected[node] && selected[rig_edge_node(edge)];
        }
        begin = end;
        graph->first[node + 1] = kept;
        uint32_t before = node < graph->txn_count ? graph->process_before[node] : RIG_NODE_NONE;
        if (before != RIG_NODE_NONE && !(selected[node] && selected[before]))
            graph->process_before[node] = RIG_NODE_NONE;
    }
}

static void compare(const struct fixture *f, const struct rig_graph *whole, const struct rig_graph *core,
                    unsigned round)
{
    for (unsigned links = 1; links <= RIG_LINKS_ALL; links++) {
        for (unsigned shape = 0; shape < 6; shape++) {
            struct rig_view view = {.links = links, .process = shape & 1, .split = shape & 2, .settled = shape & 4};
            view.graph = whole;
            struct found wanted = look(f, view);
            view.graph = core;
            struct found got = look(f, view);
            if (wanted.members != got.members || (!view.process && wanted.violated != got.violated))
                fail_msg("seed 31337, round %u, links %u, shape %u: %u members for %u, violated %x for %x", round,
                         links, shape, got.members, wanted.members, got.violated, wanted.violated);
        }
    }
}

static void assert_numbers_agree(const struct rig_graph *core)
{
    for (uint32_t node = 0; node < core->node_count; node++) {
        assert_int_equal(rig_graph_node(core, rig_graph_txn(core, node)), node);
        assert_true(node == 0 || core->nodes[node - 1] < core->nodes[node]);
        assert_int_equal(node < core->txn_count, core->nodes[node] < TXNS);
    }
}

/* With and without invocations, processes, relays, transactions of unknown fate and a selection. */
static void the_core_decides_as_the_whole_does(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 31337, 0);
    unsigned smaller = 0, empty = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct fixture f;
        struct rig_err err = {0};
        struct rig_graph whole, core;
        uint8_t committed[TXNS];
        memset(committed, 1, sizeof committed);
        make_history(&f, &rng, round % 9);
        make_links(&f, &rng, round % 13, round % 2 == 0);
        f.history.has_invocations = round % 4 != 0;
        for (uint32_t i = 0; i < TXNS; i++) {
            f.txns[i].process = (int32_t)rig_rng_below(&rng, 5);
            f.txns[i].invoke_at = f.history.has_invocations ? f.txns[i].invoke_at : RIG_POSITION_NONE;
        }
        if (round % 5 < 3)
            make_bundle(&f, &rng);
        uint8_t *selected = rig_arena_array(&f.arena, f.links.node_count, 1);
        assert_non_null(selected);
        memset(selected, 1, f.links.node_count);
        for (uint32_t i = 0; i < TXNS; i++)
            selected[i] = round % 3 != 0 || rig_rng_below(&rng, 10) != 0;
        make_whole(&f, committed, &whole);
        restrict_to(&whole, selected);
        assert_int_equal(rig_core_find(&f.links, &f.history, committed, round % 3 == 0 ? selected : NULL, &core, &err),
                         RIG_OK);
        assert_numbers_agree(&core);
        compare(&f, &whole, &core, round);
        smaller += core.node_count > 0 && core.node_count < whole.node_count / 2;
        empty += core.node_count == 0;
        rig_arena_done(&f.arena);
    }
    assert_true(smaller > ROUNDS / 20 && empty > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_core_decides_as_the_whole_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
