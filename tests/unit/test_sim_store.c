#include "tests/unit/cmocka_first.h"

#include "drivers/sim/sim_store.h"

static void keys_are_made_once(void **state)
{
    (void)state;
    struct rig_sim_store store;
    rig_sim_store_init(&store);
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(rig_sim_store_key(&store, i * -7919), i);
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(rig_sim_store_key(&store, i * -7919), i);
    assert_int_equal(store.keys.count, 1000);
    rig_sim_store_done(&store);
}

static void lists_share_their_beginning(void **state)
{
    (void)state;
    struct rig_sim_store store;
    rig_sim_store_init(&store);
    uint32_t root = rig_sim_store_add_node(&store, RIG_SIM_NO_NODE, 1, 1);
    uint32_t left = rig_sim_store_add_node(&store, root, 2, 2);
    uint32_t right = rig_sim_store_add_node(&store, root, 3, 3);
    uint32_t longer = rig_sim_store_add_node(&store, right, 4, 4);
    int64_t list[3];
    assert_int_equal(rig_sim_node_depth(&store, RIG_SIM_NO_NODE), 0);
    assert_int_equal(rig_sim_node_depth(&store, left), 2);
    rig_sim_node_list(&store, left, list);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 2);
    assert_int_equal(rig_sim_node_depth(&store, longer), 3);
    rig_sim_node_list(&store, longer, list);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 3);
    assert_int_equal(list[2], 4);
    rig_sim_store_done(&store);
}

/* Commits 3 (site 0), 5 (site 1), 8 (site 0). */
static void snapshots_show_the_last_commit_of_each_site(void **state)
{
    (void)state;
    struct rig_sim_store store;
    rig_sim_store_init(&store);
    assert_int_equal(rig_sim_store_key(&store, 42), 0);
    struct rig_sim_key *key = &store.keys.at[0];
    assert_int_equal(rig_sim_key_latest(key), RIG_SIM_NO_NODE);
    const struct rig_sim_version versions[] = {{.commit = 3, .node = 30, .site = 0},
                                               {.commit = 5, .node = 50, .site = 1},
                                               {.commit = 8, .node = 80, .site = 0}};
    for (size_t i = 0; i < 3; i++)
        assert_true(rig_sim_versions_add(&key->versions, versions[i]));
    const struct {
        struct rig_sim_snapshot snapshot;
        uint32_t node;
    } cases[] = {
        {{{2, 2}}, RIG_SIM_NO_NODE}, {{{3, 3}}, 30}, {{{7, 4}}, 30}, {{{2, 5}}, 50}, {{{7, 7}}, 50}, {{{8, 4}}, 80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(rig_sim_key_at(key, &cases[i].snapshot), cases[i].node);
    assert_int_equal(rig_sim_key_latest(key), 80);
    rig_sim_store_done(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_made_once),
        cmocka_unit_test(lists_share_their_beginning),
        cmocka_unit_test(snapshots_show_the_last_commit_of_each_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
