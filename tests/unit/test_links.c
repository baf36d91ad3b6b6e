/* Links and the graph made of them. */
#include "tests/unit/cmocka_first.h"

#include "checker/model/graph.h"

static void assert_edges(const struct rig_graph *graph, uint32_t node, const uint32_t *edges, uint32_t count)
{
    assert_int_equal(graph->first[node + 1] - graph->first[node], count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(graph->edges[graph->first[node] + i], edges[i]);
}

static void edges_keep_the_order_of_their_readers(void **state)
{
    (void)state;
    struct rig_arena arena;
    struct rig_links links;
    struct rig_graph graph;
    struct rig_err err = {0};
    uint32_t relay;
    rig_arena_init(&arena, 0);
    assert_true(rig_links_init(&links, &arena, 4, 8, 1));
    links.own_first[0] = links.own_first[1] = links.own_first[2] = 0;
    links.own[0] = rig_edge_of(0, RIG_LINK_WR);
    links.own[1] = rig_edge_of(1, RIG_LINK_WW);
    links.own_first[3] = links.own_first[4] = 2;
    assert_true(rig_links_add(&links, 0, 2, RIG_LINK_RW));
    assert_true(rig_links_add(&links, 1, 2, RIG_LINK_RW));
    assert_true(rig_links_add(&links, 3, 2, RIG_LINK_RW));
    links.read_count = links.chained_count;
    assert_true(rig_links_add_nodes(&links, 1, &relay));
    assert_int_equal(relay, 4);
    assert_true(rig_links_add(&links, 0, relay, RIG_LINK_RW));
    assert_true(rig_links_add(&links, relay, 2, RIG_LINK_THROUGH));
    assert_true(rig_links_add(&links, 0, 2, RIG_LINK_WW));
    assert_int_equal(rig_graph_pack(&links, NULL, &arena, &graph, &err), RIG_OK);
    const uint32_t into_2[] = {rig_edge_of(0, RIG_LINK_RW), rig_edge_of(1, RIG_LINK_RW),
                               rig_edge_of(0, RIG_LINK_WR), rig_edge_of(1, RIG_LINK_WW),
                               rig_edge_of(3, RIG_LINK_RW), rig_edge_of(4, RIG_LINK_THROUGH),
                               rig_edge_of(0, RIG_LINK_WW)};
    assert_edges(&graph, 2, into_2, 7);
    assert_edges(&graph, 4, (const uint32_t[]){rig_edge_of(0, RIG_LINK_RW)}, 1);
    assert_edges(&graph, 3, NULL, 0);
    assert_int_equal(graph.node_count, 5);
    assert_int_equal(links.late_before[2], 1);
    assert_int_equal(links.late_before[1], 0);
    rig_arena_done(&arena);
}

static void rooms_grow(void **state)
{
    (void)state;
    struct rig_arena arena;
    struct rig_links links;
    struct rig_graph graph;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    assert_true(rig_links_init(&links, &arena, 2, 0, 0));
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t first;
        assert_true(rig_links_add_nodes(&links, 3, &first));
        assert_int_equal(first, 2 + 3 * i);
        assert_true(rig_links_add(&links, 0, first + 1, RIG_LINK_RW));
        assert_true(rig_links_add(&links, first + 1, 1, RIG_LINK_THROUGH));
    }
    assert_int_equal(rig_graph_pack(&links, NULL, &arena, &graph, &err), RIG_OK);
    assert_int_equal(graph.first[2] - graph.first[1], 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_edges(&graph, 3 + 3 * i, (const uint32_t[]){rig_edge_of(0, RIG_LINK_RW)}, 1);
    assert_int_equal(graph.link_count[RIG_LINK_RW], 1000);
    rig_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_keep_the_order_of_their_readers),
        cmocka_unit_test(rooms_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
