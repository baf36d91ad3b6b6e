/* Components, real time and read skew on random graphs, against transitive closure. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/model/components.h"
#include "checker/decide/cycle/realtime.h"

enum { NODES = 12 };

struct graph {
    struct rig_arena arena;
    struct rig_graph graph;
    bool edge[NODES][NODES][3]; /* from, to, link */
    uint32_t before[NODES];
};

static void make(struct graph *g, struct rig_rng *rng, unsigned percent, bool forward)
{
    struct rig_links links;
    struct rig_err err = {0};
    memset(g, 0, sizeof *g);
    rig_arena_init(&g->arena, 0);
    assert_true(rig_links_init(&links, &g->arena, NODES, 0, 0));
    for (uint32_t from = 0; from < NODES; from++) {
        for (uint32_t to = 0; to < NODES; to++) {
            for (unsigned link = 0; link < 3; link++) {
                if (from == to || (forward && from > to) || rig_rng_below(rng, 100) >= percent)
                    continue;
                g->edge[from][to][link] = true;
                assert_true(rig_links_add(&links, from, to, (enum rig_link)link));
            }
        }
    }
    assert_int_equal(rig_graph_pack(&links, NULL, &g->arena, &g->graph, &err), RIG_OK);
    for (uint32_t i = 0; i < NODES; i++)
        g->before[i] = i >= 3 && rig_rng_below(rng, 3) == 0 ? i - 3 : RIG_NODE_NONE;
    g->graph.process_before = g->before;
}

/* One step in a view, from state to state; the split view follows its definition. */
static bool steps(const struct graph *g, const struct rig_view *view, uint32_t from, uint32_t to)
{
    uint32_t a = rig_view_node(view, from), b = rig_view_node(view, to);
    bool process = view->process && g->before[b] == a;
    if (!view->split) {
        for (unsigned link = 0; link < 3; link++) {
            if (g->edge[a][b][link] && (view->links >> link & 1))
                return true;
        }
        return process;
    }
    bool came_by_rw = from & 1, goes_by_rw = to & 1;
    if (goes_by_rw)
        return !came_by_rw && g->edge[a][b][RIG_LINK_RW] && (view->links & RIG_LINKS_RW);
    return process || (g->edge[a][b][RIG_LINK_WW] && (view->links & RIG_LINKS_WW)) ||
           (g->edge[a][b][RIG_LINK_WR] && (view->links & RIG_LINKS_WR));
}

static void close_over(const struct graph *g, const struct rig_view *view, bool reaches[2 * NODES][2 * NODES])
{
    uint32_t states = NODES * (view->split ? 2u : 1u);
    for (uint32_t i = 0; i < states; i++) {
        for (uint32_t j = 0; j < states; j++)
            reaches[i][j] = steps(g, view, i, j);
    }
    for (uint32_t k = 0; k < states; k++) {
        for (uint32_t i = 0; i < states; i++) {
            for (uint32_t j = 0; j < states; j++)
                reaches[i][j] |= reaches[i][k] && reaches[k][j];
        }
    }
}

static void compare(const struct graph *g, struct rig_view view)
{
    static bool reaches[2 * NODES][2 * NODES];
    struct rig_components components;
    struct rig_err err = {0};
    view.graph = &g->graph;
    close_over(g, &view, reaches);
    assert_int_equal(rig_components_find(view, &components, &err), RIG_OK);
    uint32_t place[2 * NODES];
    for (uint32_t i = 0; i < components.state_count; i++)
        place[components.order[i]] = i;
    for (uint32_t i = 0; i < components.state_count; i++) {
        assert_int_equal(components.component_of[i] != UINT32_MAX, reaches[i][i]);
        for (uint32_t j = 0; j < components.state_count; j++) {
            bool together = i != j && components.component_of[i] != UINT32_MAX &&
                            components.component_of[i] == components.component_of[j];
            assert_int_equal(together, i != j && reaches[i][j] && reaches[j][i]);
            if (reaches[i][j] && !reaches[j][i])
                assert_true(place[i] < place[j]);
        }
    }
    rig_components_done(&components);
}

static void components_agree_with_transitive_closure(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 20261121, 0);
    for (unsigned round = 0; round < 400; round++) {
        struct graph g;
        make(&g, &rng, 1 + round % 12, round % 5 == 0);
        for (unsigned links = 1; links <= RIG_LINKS_ALL; links++) {
            for (unsigned shape = 0; shape < 4; shape++)
                compare(&g, (struct rig_view){.links = links, .process = shape & 1, .split = shape & 2});
        }
        rig_arena_done(&g.arena);
    }
}

/* A history of NODES transactions with random intervals, for real time only. */
static void make_intervals(struct rig_history *history, struct rig_txn *txns, struct rig_rng *rng)
{
    uint32_t at = 0;
    bool open[NODES] = {0}, ended[NODES] = {0};
    for (uint32_t left = 2 * NODES; left > 0;) {
        uint32_t i = (uint32_t)rig_rng_below(rng, NODES);
        if (ended[i])
            continue;
        if (open[i]) {
            txns[i].complete_at = at++;
            ended[i] = true;
        } else {
            txns[i] = (struct rig_txn){.invoke_at = at++};
            txns[i].outcome = rig_rng_below(rng, 8) == 0 ? RIG_OUTCOME_INFO : RIG_OUTCOME_OK;
            open[i] = true;
        }
        left--;
    }
    *history = (struct rig_history){.txns = txns, .txn_count = NODES, .has_invocations = true};
}

static void real_time_agrees_with_every_edge_written_out(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 4711, 0);
    unsigned violated = 0, kept = 0;
    for (unsigned round = 0; round < 3000; round++) {
        struct graph g;
        struct rig_txn txns[NODES + 1] = {0};
        struct rig_history history;
        make(&g, &rng, 1 + round % 6, round % 2 == 0);
        make_intervals(&history, txns, &rng);
        for (unsigned split = 0; split < 2; split++) {
            struct rig_view view = {.graph = &g.graph, .links = RIG_LINKS_ALL, .split = split};
            static bool reaches[2 * NODES][2 * NODES];
            close_over(&g, &view, reaches);
            bool expected[NODES] = {false}; /* by every path from every transaction invoked later */
            uint32_t expected_count = 0;
            uint32_t twice = split ? 2 : 1;
            for (uint32_t a = 0; a < NODES; a++) {
                for (uint32_t b = 0; b < NODES; b++) {
                    bool path = reaches[a * twice][b * twice] || (split && reaches[a * twice][b * twice + 1]);
                    expected[b] |= path && rig_txn_end(&history, b) < txns[a].invoke_at;
                }
            }
            struct rig_components components;
            struct rig_realtime realtime;
            struct rig_err err = {0};
            assert_int_equal(rig_components_find(view, &components, &err), RIG_OK);
            assert_int_equal(rig_realtime_find(&history, &components, &realtime, &err), RIG_OK);
            for (uint32_t b = 0; b < NODES; b++) {
                bool found = false;
                for (size_t i = 0; i < realtime.violations.count; i++)
                    found |= realtime.violations.at[i] == b;
                assert_int_equal(found, expected[b]);
                expected_count += expected[b];
            }
            violated += expected_count > 0;
            kept += expected_count == 0;
            rig_realtime_done(&realtime);
            rig_components_done(&components);
        }
        rig_arena_done(&g.arena);
    }
    assert_true(violated > 100 && kept > 100);
}

/* Two components and a single node; then each way in which that can be wrong. */
static void what_is_no_partition_in_order_is_found(void **state)
{
    (void)state;
    static const uint32_t cycle[][2] = {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}, {3, 4}};
    struct rig_arena arena;
    struct rig_links links;
    struct rig_graph graph;
    struct rig_components c;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    assert_true(rig_links_init(&links, &arena, 5, 0, 0));
    for (size_t i = 0; i < sizeof cycle / sizeof cycle[0]; i++)
        assert_true(rig_links_add(&links, cycle[i][0], cycle[i][1], RIG_LINK_WW));
    assert_int_equal(rig_graph_pack(&links, NULL, &arena, &graph, &err), RIG_OK);
    struct rig_view view = {.graph = &graph, .links = RIG_LINKS_ALL};
    assert_int_equal(rig_components_find(view, &c, &err), RIG_OK);
    assert_int_equal(c.list.count, 2);
    assert_true(rig_components_are_sound(&c));
    uint32_t kept = c.order[4];
    c.order[4] = c.order[3]; /* one state twice */
    assert_false(rig_components_are_sound(&c));
    c.order[4] = c.order[0]; /* one behind its successors */
    c.order[0] = kept;
    assert_false(rig_components_are_sound(&c));
    c.order[0] = c.order[4];
    c.order[4] = kept;
    assert_true(rig_components_are_sound(&c));
    c.list.at[0].end++;
    assert_false(rig_components_are_sound(&c));
    c.list.at[0].end--;
    c.component_of[kept] = 0;
    assert_false(rig_components_are_sound(&c));
    rig_components_done(&c);
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_agree_with_transitive_closure),
        cmocka_unit_test(real_time_agrees_with_every_edge_written_out),
        cmocka_unit_test(what_is_no_partition_in_order_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
