#include "drivers/sim/sim_store.h"

#include "base/bug.h"

void rig_sim_store_init(struct rig_sim_store *store)
{
    *store = (struct rig_sim_store){0};
    rig_table_init(&store->ids);
    for (size_t i = 0; i < RIG_SIM_RECENT_KEYS; i++)
        store->recent[i].index = RIG_TABLE_NONE;
}

void rig_sim_store_done(struct rig_sim_store *store)
{
    for (size_t i = 0; i < store->keys.count; i++) {
        rig_sim_nodes_done(&store->keys.at[i].nodes);
        rig_sim_versions_done(&store->keys.at[i].versions);
        rig_sim_values_done(&store->keys.at[i].trunk);
        rig_sim_ids_done(&store->keys.at[i].trunk_nodes);
        rig_sim_ids_done(&store->keys.at[i].positions);
        rig_sim_readers_done(&store->keys.at[i].readers);
        rig_sim_ids_done(&store->keys.at[i].read_holders);
    }
    rig_sim_keys_done(&store->keys);
    rig_sim_ids_done(&store->free_keys);
    rig_table_done(&store->ids);
}

/* Empties it and keeps its memory. */
static void reset_key(struct rig_sim_store *store, struct rig_sim_key *key, int64_t name)
{
    key->name = name;
    key->nodes.count = 0;
    key->versions.count = 0;
    key->trunk.count = 0;
    key->taken = 0;
    key->trunk_nodes.count = 0;
    key->positions.count = 0;
    key->origin = ++store->origin_count;
    key->readers.count = 0;
    key->readers_prune_at = 64;
    key->ghost = RIG_SIM_NO_NODE;
    key->writer = UINT32_MAX;
    key->read_holders.count = 0;
    key->first_waiter = UINT32_MAX;
}

static uint32_t new_key(struct rig_sim_store *store)
{
    if (store->free_keys.count > 0)
        return store->free_keys.at[--store->free_keys.count];
    if (store->keys.count >= RIG_TABLE_NONE || !rig_sim_keys_add(&store->keys, (struct rig_sim_key){0}))
        return UINT32_MAX;
    return (uint32_t)(store->keys.count - 1);
}

static uint32_t find_or_make_key(struct rig_sim_store *store, int64_t key)
{
    uint32_t *place = rig_table_put(&store->ids, (uint64_t)key);
    if (place == NULL)
        return UINT32_MAX;
    if (*place != RIG_TABLE_NONE)
        return *place;
    uint32_t fresh = new_key(store);
    if (fresh == UINT32_MAX) {
        store->ids.used--; /* already counted, and stays absent */
        return UINT32_MAX;
    }
    *place = fresh;
    reset_key(store, &store->keys.at[fresh], key);
    return fresh;
}

uint32_t rig_sim_store_find_key(struct rig_sim_store *store, int64_t key)
{
    uint32_t index = find_or_make_key(store, key);
    size_t place = (uint64_t)key % RIG_SIM_RECENT_KEYS;
    store->recent[place].name = key;
    store->recent[place].index = index;
    return index;
}

void rig_sim_store_forget(struct rig_sim_store *store, int64_t key)
{
    uint32_t index = rig_table_get(&store->ids, (uint64_t)key);
    if (index == RIG_TABLE_NONE)
        return;
    const struct rig_sim_key *k = &store->keys.at[index];
    RIG_REQUIRE(k->writer == UINT32_MAX && k->read_holders.count == 0 && k->first_waiter == UINT32_MAX);
    rig_table_remove(&store->ids, (uint64_t)key);
    if (store->recent[(uint64_t)key % RIG_SIM_RECENT_KEYS].name == key)
        store->recent[(uint64_t)key % RIG_SIM_RECENT_KEYS].index = RIG_TABLE_NONE;
    (void)rig_sim_ids_add(&store->free_keys, index); /* without memory, the slot is not used again */
}

uint32_t rig_sim_key_depth(const struct rig_sim_key *key, uint32_t node)
{
    return node == RIG_SIM_NO_NODE ? 0 : key->nodes.at[node].depth;
}

uint32_t rig_sim_key_add_node(struct rig_sim_key *key, uint32_t parent, int64_t value, uint64_t writer)
{
    RIG_REQUIRE(parent == RIG_SIM_NO_NODE || parent < key->nodes.count);
    const struct rig_sim_node node = {
        .value = value, .writer = writer, .parent = parent, .depth = rig_sim_key_depth(key, parent) + 1};
    if (key->nodes.count >= RIG_SIM_NO_NODE || !rig_sim_nodes_add(&key->nodes, node))
        return RIG_SIM_NO_NODE;
    return (uint32_t)(key->nodes.count - 1);
}

uint32_t rig_sim_key_on_trunk(const struct rig_sim_key *key, uint32_t node)
{
    while (node != RIG_SIM_NO_NODE) {
        uint32_t depth = key->nodes.at[node].depth;
        if (depth <= key->trunk_nodes.count && key->trunk_nodes.at[depth - 1] == node)
            return depth;
        node = key->nodes.at[node].parent;
    }
    return 0;
}

void rig_sim_key_list(const struct rig_sim_key *key, uint32_t node, uint32_t from, int64_t *list)
{
    for (uint32_t depth = rig_sim_key_depth(key, node); depth > from; depth--) {
        RIG_INVARIANT(node < key->nodes.count && key->nodes.at[node].depth == depth);
        list[depth - 1 - from] = key->nodes.at[node].value;
        node = key->nodes.at[node].parent;
    }
}

bool rig_sim_key_reserve(struct rig_sim_key *key, uint32_t tip)
{
    size_t depth = (size_t)rig_sim_key_depth(key, tip) + 1; /* one more: it may be applied twice */
    return rig_sim_versions_reserve(&key->versions, key->versions.count + 1) &&
           rig_sim_nodes_reserve(&key->nodes, key->nodes.count + 1) && rig_sim_values_reserve(&key->trunk, depth) &&
           rig_sim_ids_reserve(&key->trunk_nodes, depth);
}

void rig_sim_store_extend(struct rig_sim_store *store, struct rig_sim_key *key, uint32_t tip)
{
    uint32_t depth = rig_sim_key_depth(key, tip);
    uint32_t kept = rig_sim_key_on_trunk(key, tip);
    RIG_INVARIANT(depth <= key->trunk.capacity && depth <= key->trunk_nodes.capacity);
    if (kept < key->trunk.count)
        key->origin = ++store->origin_count;
    rig_sim_key_list(key, tip, kept, key->trunk.at + kept);
    for (uint32_t node = tip, at = depth; at > kept; at--, node = key->nodes.at[node].parent)
        key->trunk_nodes.at[at - 1] = node;
    key->trunk.count = key->trunk_nodes.count = depth;
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
