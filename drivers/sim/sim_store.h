/*
 * The simulated database's versions: the values of each key, and the commits that show them.
 *
 * A version is a node of its key: a value and the node that it extends. The list of a node is the values from its root
 * to it; the register of a node is its value. So a list shares its beginning with the list that it extends, and a lost
 * update, which extends an old node, is a fork. Each key keeps the nodes that were committed in commit order.
 *
 * The trunk of a key is the list of its newest committed node, as one array: the list of every node on it is a prefix
 * of that array, and is shown without a copy. When a commit does not extend the previous one, the trunk changes and
 * gets a new number, its origin.
 *
 * Commits are numbered from 1 (their timestamps) and belong to one of two sites. A snapshot has for each site the last
 * commit that it shows.
 *
 * Time: a look-up walks back from the key's newest commit; O(commits since the snapshot). A commit extends the trunk by
 * its writes. Space: 36 bytes an append and 16 a commit of a key, up to twice that while arrays grow, until the key is
 * forgotten. Threads: one.
 */
#ifndef RIG_DRIVERS_SIM_SIM_STORE_H
#define RIG_DRIVERS_SIM_SIM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/vec.h"

#define RIG_SIM_NO_NODE UINT32_MAX

enum { RIG_SIM_SITE_COUNT = 2, RIG_SIM_RECENT_KEYS = 256 };

struct rig_sim_snapshot {
    uint64_t last[RIG_SIM_SITE_COUNT];
};

struct rig_sim_node {
    int64_t value;
    uint64_t writer; /* transaction */
    uint32_t parent; /* RIG_SIM_NO_NODE at the root */
    uint32_t depth;  /* elements of its list */
};

/* One commit of a key. */
struct rig_sim_version {
    uint64_t commit;
    uint32_t node;
    uint8_t site;
    bool writer_has_out; /* its writer had read a version that an earlier commit overwrote: a pivot's second half */
};

/* A committed transaction that read a key. */
struct rig_sim_reader {
    uint64_t commit;
    uint8_t site;
};

RIG_VEC(struct rig_sim_node, rig_sim_nodes)
RIG_VEC(struct rig_sim_version, rig_sim_versions)
RIG_VEC(struct rig_sim_reader, rig_sim_readers)
RIG_VEC(uint32_t, rig_sim_ids)

RIG_VEC(int64_t, rig_sim_values)

struct rig_sim_key {
    int64_t name;
    struct rig_sim_nodes nodes;
    struct rig_sim_versions versions; /* ascending commits */
    /* An object has the values of its register so far, or those of its queue or stack; a log has those of its records,
     * by offset. */
    struct rig_sim_values trunk;
    size_t taken;                   /* the values of a queue or stack begin here in `trunk` */
    struct rig_sim_ids trunk_nodes; /* parallel; of a log: what polls do with each record (sim_logs.c) */
    struct rig_sim_ids positions;   /* of a log: the offset that each session, as a consumer, polls next */
    uint64_t origin;                /* of the trunk; over all keys, no two are the same */
    struct rig_sim_readers readers;
    size_t readers_prune_at;         /* forget readers when there are this many */
    uint32_t ghost;                  /* the last node of an aborted transaction, or RIG_SIM_NO_NODE */
    uint32_t writer;                 /* the session that holds the write lock, or UINT32_MAX */
    struct rig_sim_ids read_holders; /* sessions that hold a read lock */
    uint32_t first_waiter;           /* session that waits for a lock, or UINT32_MAX; each names the next one */
};

RIG_VEC(struct rig_sim_key, rig_sim_keys)

struct rig_sim_store {
    struct rig_table ids; /* key -> index into keys */
    struct {
        int64_t name;
        uint32_t index;            /* RIG_TABLE_NONE: nothing */
    } recent[RIG_SIM_RECENT_KEYS]; /* by the low bits of the name: keys in use follow one another */
    struct rig_sim_keys keys;
    struct rig_sim_ids free_keys; /* indices of forgotten keys, which keep their memory */
    uint64_t origin_count;
};

void rig_sim_store_init(struct rig_sim_store *store);
void rig_sim_store_done(struct rig_sim_store *store);

/* The same as rig_sim_store_key(), for keys that were not in use lately. */
uint32_t rig_sim_store_find_key(struct rig_sim_store *store, int64_t key);

/* The index of a key, which is made when it is new; UINT32_MAX when memory runs out. */
static inline uint32_t rig_sim_store_key(struct rig_sim_store *store, int64_t key)
{
    size_t place = (uint64_t)key % RIG_SIM_RECENT_KEYS;
    if (store->recent[place].index != RIG_TABLE_NONE && store->recent[place].name == key)
        return store->recent[place].index;
    return rig_sim_store_find_key(store, key);
}

/* Forgets the key and all its versions; nothing may refer to them. No-op for a key that was never used. */
void rig_sim_store_forget(struct rig_sim_store *store, int64_t key);

/* A new node on top of `parent`; RIG_SIM_NO_NODE when memory runs out. */
uint32_t rig_sim_key_add_node(struct rig_sim_key *key, uint32_t parent, int64_t value, uint64_t writer);
uint32_t rig_sim_key_depth(const struct rig_sim_key *key, uint32_t node);
/* The number of elements, from the first one on, that the list of `node` shares with the trunk through its nodes. */
uint32_t rig_sim_key_on_trunk(const struct rig_sim_key *key, uint32_t node);
/* Writes the values of the list from index `from` on up to `node` into `list`. */
void rig_sim_key_list(const struct rig_sim_key *key, uint32_t node, uint32_t from, int64_t *list);
/* Reserves memory for rig_sim_store_extend() and its version; false when memory runs out. */
bool rig_sim_key_reserve(struct rig_sim_key *key, uint32_t tip);
/* Makes the trunk the list of `tip`, which was committed; memory was reserved. */
void rig_sim_store_extend(struct rig_sim_store *store, struct rig_sim_key *key, uint32_t tip);

/* The newest committed node of the key, or the newest that the snapshot shows; RIG_SIM_NO_NODE: initial state. */
uint32_t rig_sim_key_latest(const struct rig_sim_key *key);
uint32_t rig_sim_key_at(const struct rig_sim_key *key, const struct rig_sim_snapshot *snapshot);

static inline bool rig_sim_snapshot_shows(const struct rig_sim_snapshot *snapshot, uint64_t commit, uint8_t site)
{
    return commit <= snapshot->last[site];
}

#endif
