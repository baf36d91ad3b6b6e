#include "drivers/sim/sim_store.h"

#include "base/bug.h"

void rig_sim_store_init(struct rig_sim_store *store)
{
    *store = (struct rig_sim_store){0};
    rig_table_init(&store->ids);
}

void rig_sim_store_done(struct rig_sim_store *store)
{
    for (size_t i = 0; i < store->keys.count; i++) {
        rig_sim_versions_done(&store->keys.at[i].versions);
        rig_sim_readers_done(&store->keys.at[i].readers);
        rig_sim_ids_done(&store->keys.at[i].read_holders);
    }
    rig_sim_keys_done(&store->keys);
    rig_sim_nodes_done(&store->nodes);
    rig_table_done(&store->ids);
}

uint32_t rig_sim_store_key(struct rig_sim_store *store, int64_t key)
{
    uint32_t known = rig_table_get(&store->ids, (uint64_t)key);
    if (known != RIG_TABLE_NONE)
        return known;
    const struct rig_sim_key fresh = {.ghost = RIG_SIM_NO_NODE, .writer = UINT32_MAX, .readers_prune_at = 64};
    if (store->keys.count >= RIG_TABLE_NONE || !rig_sim_keys_add(&store->keys, fresh))
        return UINT32_MAX;
    uint32_t *place = rig_table_put(&store->ids, (uint64_t)key);
    if (place == NULL) {
        store->keys.count--;
        return UINT32_MAX;
    }
    *place = (uint32_t)(store->keys.count - 1);
    return *place;
}

uint32_t rig_sim_node_depth(const struct rig_sim_store *store, uint32_t node)
{
    return node == RIG_SIM_NO_NODE ? 0 : store->nodes.at[node].depth;
}

uint32_t rig_sim_store_add_node(struct rig_sim_store *store, uint32_t parent, int64_t value, uint64_t writer)
{
    RIG_REQUIRE(parent == RIG_SIM_NO_NODE || parent < store->nodes.count);
    const struct rig_sim_node node = {
        .value = value, .writer = writer, .parent = parent, .depth = rig_sim_node_depth(store, parent) + 1};
    if (store->nodes.count >= RIG_SIM_NO_NODE || !rig_sim_nodes_add(&store->nodes, node))
        return RIG_SIM_NO_NODE;
    return (uint32_t)(store->nodes.count - 1);
}

void rig_sim_node_list(const struct rig_sim_store *store, uint32_t node, int64_t *list)
{
    for (; node != RIG_SIM_NO_NODE; node = store->nodes.at[node].parent) {
        RIG_INVARIANT(node < store->nodes.count && store->nodes.at[node].depth > 0);
        list[store->nodes.at[node].depth - 1] = store->nodes.at[node].value;
    }
}

uint32_t rig_sim_key_latest(const struct rig_sim_key *key)
{
    return key->versions.count == 0 ? RIG_SIM_NO_NODE : key->versions.at[key->versions.count - 1].node;
}

uint32_t rig_sim_key_at(const struct rig_sim_key *key, const struct rig_sim_snapshot *snapshot)
{
    for (size_t i = key->versions.count; i-- > 0;) {
        const struct rig_sim_version *version = &key->versions.at[i];
        if (rig_sim_snapshot_shows(snapshot, version->commit, version->site))
            return version->node;
    }
    return RIG_SIM_NO_NODE;
}
