/* The full checks of graphs find each fault in them. */
#include "tests/unit/cmocka_first.h"

#include "checker/model/graph.h"

struct fixture {
    struct rig_arena arena;
    struct rig_links links;
    uint32_t relay; /* the first of two: the other one is relay + 1 */
};

/* 0 -> 1 -> 2 -> 3 as own edges, 2 -> 1 backwards, and 0 -> relay -> next relay -> 3. */
static int start(void **state)
{
    static struct fixture f;
    rig_arena_init(&f.arena, 0);
    bool made = rig_links_init(&f.links, &f.arena, 4, 0, 1);
    for (uint32_t txn = 0; made && txn < 3; txn++)
        made = rig_links_add(&f.links, txn, txn + 1, RIG_LINK_WR);
    made = made && rig_links_add(&f.links, 0, 3, RIG_LINK_RW) && rig_links_add(&f.links, 2, 1, RIG_LINK_RW);
    f.links.read_count = f.links.chained_count;
    made = made && rig_links_add_nodes(&f.links, 2, &f.relay) && rig_links_add(&f.links, 0, f.relay, RIG_LINK_RW) &&
           rig_links_add(&f.links, f.relay, f.relay + 1, RIG_LINK_THROUGH) &&
           rig_links_add(&f.links, f.relay + 1, 3, RIG_LINK_THROUGH);
    *state = &f;
    return made ? 0 : 1;
}

static int end(void **state)
{
    struct fixture *f = *state;
    rig_arena_done(&f->arena);
    return 0;
}

static void pack(struct fixture *f, struct rig_graph *graph)
{
    struct rig_err err = {0};
    assert_int_equal(rig_graph_pack(&f->links, NULL, &f->arena, graph, &err), RIG_OK);
}

static void sound_ones_pass(void **state)
{
    struct fixture *f = *state;
    struct rig_graph graph;
    static const uint8_t committed[] = {1, 1, 1, 1};
    pack(f, &graph);
    /* 0 -> 3 was chained behind 2 -> 3, which no visit in completion order does. */
    assert_false(rig_links_are_sound(&f->links, committed));
    f->links.read_count = 0;
    assert_true(rig_links_are_sound(&f->links, committed));
    assert_true(rig_links_are_sound(&f->links, NULL));
    assert_true(rig_graph_is_sound(&graph));
}

static void edges_of_the_uncommitted_are_found(void **state)
{
    struct fixture *f = *state;
    f->links.read_count = 0;
    assert_false(rig_links_are_sound(&f->links, (const uint8_t[]){0, 1, 1, 1}));
    assert_false(rig_links_are_sound(&f->links, (const uint8_t[]){1, 1, 1, 0}));
}

static void a_backward_edge_without_its_mark_is_found(void **state)
{
    struct fixture *f = *state;
    f->links.read_count = 0;
    f->links.late_before[1] = 0;
    assert_false(rig_links_are_sound(&f->links, NULL));
}

/* 3 -> relay -> next relay -> 2: code that adds edges out of relays has to mark. */
static void a_backward_way_through_relays_without_its_mark_is_found(void **state)
{
    struct fixture *f = *state;
    f->links.read_count = 0;
    assert_true(rig_links_add(&f->links, 3, f->relay, RIG_LINK_RW));
    assert_true(rig_links_are_sound(&f->links, NULL));
    assert_true(rig_links_add(&f->links, f->relay + 1, 2, RIG_LINK_THROUGH));
    assert_false(rig_links_are_sound(&f->links, NULL));
    f->links.late_before[2] = 1;
    assert_true(rig_links_are_sound(&f->links, NULL));
}

static void relays_in_a_cycle_are_found(void **state)
{
    struct fixture *f = *state;
    struct rig_graph graph;
    f->links.read_count = 0;
    pack(f, &graph);
    assert_int_equal(graph.edges[graph.first[f->relay]], rig_edge_of(0, RIG_LINK_RW));
    graph.edges[graph.first[f->relay]] = rig_edge_of(f->relay + 1, RIG_LINK_THROUGH);
    assert_false(rig_graph_is_sound(&graph));
    assert_true(rig_links_add(&f->links, f->relay + 1, f->relay, RIG_LINK_THROUGH));
    assert_false(rig_links_are_sound(&f->links, NULL));
}

static void relays_of_another_shape_are_found(void **state)
{
    struct fixture *f = *state;
    struct rig_graph graph;
    f->links.read_count = 0;
    pack(f, &graph);
    graph.edges[graph.first[f->relay]] = rig_edge_of(0, RIG_LINK_THROUGH);
    assert_false(rig_graph_is_sound(&graph));
    assert_true(rig_links_add(&f->links, f->relay, 3, RIG_LINK_RW));
    assert_false(rig_links_are_sound(&f->links, NULL));
}

static void a_part_with_wrong_numbers_is_found(void **state)
{
    struct fixture *f = *state;
    struct rig_graph graph;
    struct rig_err err = {0};
    uint32_t nodes[] = {1, 2, 3}, place[] = {RIG_NODE_NONE, 0, 1, 2, RIG_NODE_NONE, RIG_NODE_NONE};
    const struct rig_subgraph part = {.txn_count = 3, .node_count = 3, .nodes = nodes, .place = place};
    assert_int_equal(rig_graph_pack(&f->links, &part, &f->arena, &graph, &err), RIG_OK);
    assert_true(rig_graph_is_sound(&graph));
    place[2] = 2;
    assert_false(rig_graph_is_sound(&graph));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sound_ones_pass, start, end),
        cmocka_unit_test_setup_teardown(edges_of_the_uncommitted_are_found, start, end),
        cmocka_unit_test_setup_teardown(a_backward_edge_without_its_mark_is_found, start, end),
        cmocka_unit_test_setup_teardown(a_backward_way_through_relays_without_its_mark_is_found, start, end),
        cmocka_unit_test_setup_teardown(relays_in_a_cycle_are_found, start, end),
        cmocka_unit_test_setup_teardown(relays_of_another_shape_are_found, start, end),
        cmocka_unit_test_setup_teardown(a_part_with_wrong_numbers_is_found, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
