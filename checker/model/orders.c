#include "checker/model/orders.h"

#include <string.h>

#include "base/bug.h"
#include "base/table.h"

/* The latest acknowledged transaction of each process: in a direct table where the processes' numbers are dense. */
struct latest {
    uint32_t *direct; /* NULL: in the hash table */
    int32_t lowest;
    struct rig_table hashed;
};

static bool latest_init(struct latest *latest, const struct rig_history *history, struct rig_arena *arena)
{
    int32_t lowest = INT32_MAX, highest = INT32_MIN;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        int32_t process = history->txns[txn].process;
        lowest = process < lowest ? process : lowest;
        highest = process > highest ? process : highest;
    }
    *latest = (struct latest){.lowest = lowest};
    rig_table_init(&latest->hashed);
    int64_t span = (int64_t)highest - lowest + 1;
    if (span < 1 || span > (int64_t)history->txn_count * 2 + 64)
        return true;
    latest->direct = rig_arena_room(arena, (size_t)span, sizeof *latest->direct);
    if (latest->direct == NULL)
        return false;
    memset(latest->direct, 0xff, (size_t)span * sizeof *latest->direct);
    return true;
}

/* RIG_TABLE_NONE at first; NULL when memory runs out. */
static uint32_t *latest_of(struct latest *latest, int32_t process)
{
    if (latest->direct != NULL)
        return &latest->direct[(int64_t)process - latest->lowest];
    return rig_table_put(&latest->hashed, (uint32_t)process);
}

/*
 * Jumps over the transactions before one in its process, of doubling lengths (Myers 1983), so that those that a
 * transaction without a completion passes over are not walked one by one. Made when the first such transaction is met.
 */
struct jumps {
    uint32_t *to, *depth; /* per transaction; to: NULL until it is made */
};

static void add_jump(struct jumps *jumps, const uint32_t *before, uint32_t txn)
{
    const uint32_t last = before[txn];
    jumps->to[txn] = txn;
    jumps->depth[txn] = 0;
    if (last == RIG_NODE_NONE)
        return;
    const uint32_t via = jumps->to[last], beyond = jumps->to[via];
    const bool is_double = jumps->depth[last] - jumps->depth[via] == jumps->depth[via] - jumps->depth[beyond];
    jumps->to[txn] = is_double ? beyond : last;
    jumps->depth[txn] = jumps->depth[last] + 1;
}

/* For the committed transactions below `end`. False when memory runs out. */
static bool make_jumps(struct jumps *jumps, const struct rig_history *history, const uint8_t *committed,
                       const uint32_t *before, uint32_t end, struct rig_arena *arena)
{
    jumps->to = rig_arena_room(arena, history->txn_count, sizeof *jumps->to);
    jumps->depth = rig_arena_room(arena, history->txn_count, sizeof *jumps->depth);
    for (uint32_t txn = 0; jumps->to != NULL && jumps->depth != NULL && txn < end; txn++) {
        if (committed[txn])
            add_jump(jumps, before, txn);
    }
    return jumps->to != NULL && jumps->depth != NULL;
}

/* The nearest one from `last` on that comes before `txn`, or NONE. */
static uint32_t find_before(const struct jumps *jumps, const struct rig_history *history, const uint32_t *before,
                            uint32_t last, uint32_t txn)
{
    while (last != RIG_NODE_NONE && !rig_process_precedes(history, last, txn)) {
        const uint32_t far = jumps->to[last];
        last = far != last && !rig_process_precedes(history, far, txn) ? far : before[last];
    }
    return last;
}

bool rig_process_order(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                       uint32_t *before)
{
    struct latest latest;
    struct jumps jumps = {NULL, NULL};
    bool done = latest_init(&latest, history, arena);
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        before[txn] = RIG_NODE_NONE;
        if (!committed[txn])
            continue;
        uint32_t *previous = latest_of(&latest, history->txns[txn].process);
        done = previous != NULL;
        if (!done)
            break;
        uint32_t last = *previous; /* maybe too late: a transaction without a completion stands at the end */
        if (last != RIG_NODE_NONE && !rig_process_precedes(history, last, txn)) {
            done = jumps.to != NULL || make_jumps(&jumps, history, committed, before, txn, arena);
            if (!done)
                break;
            last = find_before(&jumps, history, before, last, txn);
        }
        RIG_INVARIANT(last == RIG_NODE_NONE || (last < txn && committed[last]));
        before[txn] = last;
        if (jumps.to != NULL)
            add_jump(&jumps, before, txn);
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            *previous = txn;
    }
    rig_table_done(&latest.hashed);
    return done;
}

/* Marks the transactions of unknown fate that count as committed. */
static bool mark_unsettled(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                           struct rig_graph *graph)
{
    for (uint32_t node = 0; node < graph->txn_count; node++) {
        uint32_t txn = rig_graph_txn(graph, node);
        if (!committed[txn] || history->txns[txn].outcome == RIG_OUTCOME_OK)
            continue;
        if (graph->unsettled == NULL)
            graph->unsettled = rig_arena_array(arena, (size_t)graph->node_count + 1, sizeof *graph->unsettled);
        if (graph->unsettled == NULL)
            return false;
        graph->unsettled[node] = 1;
    }
    return true;
}

enum rig_rc rig_graph_add_orders(const struct rig_history *history, const uint8_t *committed, const uint32_t *before,
                                 struct rig_arena *arena, struct rig_graph *graph, struct rig_err *err)
{
    graph->process_before = rig_arena_room(arena, (size_t)graph->txn_count + 1, sizeof *graph->process_before);
    if (graph->process_before == NULL || !mark_unsettled(history, committed, arena, graph))
        return rig_memory_limit(err, "the process order");
    for (uint32_t node = 0; node < graph->txn_count; node++) {
        uint32_t txn = before[rig_graph_txn(graph, node)];
        graph->process_before[node] = txn == RIG_NODE_NONE ? txn : rig_graph_node(graph, txn);
        RIG_INVARIANT(graph->process_before[node] == RIG_NODE_NONE || graph->process_before[node] < node);
    }
    return RIG_OK;
}
