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
    assert_int_equal(rig_sim_store_key(&store, 7), 0);
    struct rig_sim_key *key = &store.keys.at[0];
    uint32_t root = rig_sim_key_add_node(key, RIG_SIM_NO_NODE, 1, 1);
    uint32_t left = rig_sim_key_add_node(key, root, 2, 2);
    uint32_t right = rig_sim_key_add_node(key, root, 3, 3);
    uint32_t longer = rig_sim_key_add_node(key, right, 4, 4);
    int64_t list[3];
    assert_int_equal(rig_sim_key_depth(key, RIG_SIM_NO_NODE), 0);
    assert_int_equal(rig_sim_key_depth(key, left), 2);
    rig_sim_key_list(key, left, 0, list);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 2);
    assert_int_equal(rig_sim_key_depth(key, longer), 3);
    rig_sim_key_list(key, longer, 1, list);
    assert_int_equal(list[0], 3);
    assert_int_equal(list[1], 4);
    rig_sim_store_done(&store);
}

static void extend(struct rig_sim_store *store, struct rig_sim_key *key, uint32_t tip)
{
    assert_true(rig_sim_key_reserve(key, tip));
    rig_sim_store_extend(store, key, tip);
}

/* 1 2 is committed, then 1 3 4 on top of 1, then 5 on top of that. */
static void the_trunk_follows_commits(void **state)
{
    (void)state;
    struct rig_sim_store store;
    rig_sim_store_init(&store);
    assert_int_equal(rig_sim_store_key(&store, 7), 0);
    struct rig_sim_key *key = &store.keys.at[0];
    uint32_t root = rig_sim_key_add_node(key, RIG_SIM_NO_NODE, 1, 1);
    uint32_t left = rig_sim_key_add_node(key, root, 2, 1);
    extend(&store, key, left);
    uint64_t first_origin = key->origin;
    assert_int_equal(key->trunk.count, 2);
    assert_int_equal(rig_sim_key_on_trunk(key, root), 1);
    uint32_t right = rig_sim_key_add_node(key, root, 3, 2);
    uint32_t longer = rig_sim_key_add_node(key, right, 4, 2);
    assert_int_equal(rig_sim_key_on_trunk(key, longer), 1);
    extend(&store, key, longer);
    uint64_t second_origin = key->origin;
    assert_int_not_equal(first_origin, second_origin);
    assert_int_equal(rig_sim_key_on_trunk(key, left), 1);
    extend(&store, key, rig_sim_key_add_node(key, longer, 5, 3));
    assert_int_equal(key->origin, second_origin);
    const int64_t expected[] = {1, 3, 4, 5};
    assert_int_equal(key->trunk.count, 4);
    assert_memory_equal(key->trunk.at, expected, sizeof expected);
    rig_sim_store_done(&store);
}

static void forgotten_keys_begin_anew(void **state)
{
    (void)state;
    struct rig_sim_store store;
    rig_sim_store_init(&store);
    rig_sim_store_forget(&store, 5);
    uint64_t last_origin = 0;
    for (int64_t name = 0; name < 1000; name++) {
        uint32_t index = rig_sim_store_key(&store, name);
        struct rig_sim_key *key = &store.keys.at[index];
        assert_true(index < 2 && key->origin > last_origin && key->name == name);
        assert_int_equal(rig_sim_key_latest(key), RIG_SIM_NO_NODE);
        assert_int_equal(key->trunk.count + key->nodes.count, 0);
        extend(&store, key, rig_sim_key_add_node(key, RIG_SIM_NO_NODE, name, 1));
        last_origin = key->origin;
        if (name > 0)
            rig_sim_store_forget(&store, name - 1);
    }
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
        cmocka_unit_test(the_trunk_follows_commits),
        cmocka_unit_test(forgotten_keys_begin_anew),
        cmocka_unit_test(snapshots_show_the_last_commit_of_each_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
