/*
 * The order of lost transactions and of those that survived: holes, and the histories that crashes leave. Values spread
 * along dependencies in the order of the best ones first, so that each node gets its value once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/crash_loss.h"

#define NONE UINT32_MAX

/* Neighbours of node n: [first[n], first[n + 1]). */
struct neighbours {
    uint32_t *first, *at;
};

struct order {
    struct rig_crash_losses *losses;
    const struct rig_crash_facts *facts;
    struct neighbours before, after; /* what a node depends on; what depends on it */
    uint32_t *alive, *origin;        /* per node: the greatest `alive` of what depends on it, and the transaction */
    uint32_t *known;                 /* per node: the least `known` of what depends on it */
    uint32_t *first, *last;          /* per node: views */
    uint32_t *queue;                 /* per node: scratch */
    uint32_t *rank;                  /* per crash: crashes before it that split the history; NONE: it does not */
};

/* Neighbours along the edges; `back`: against them. */
static bool gather(const struct rig_crash_facts *facts, bool back, struct rig_arena *arena, struct neighbours *into)
{
    const struct rig_crash_edge *edges = facts->edges.at;
    into->first = rig_arena_array(arena, (size_t)facts->node_count + 2, sizeof *into->first);
    into->at = rig_arena_room(arena, facts->edges.count + 1, sizeof *into->at);
    if (into->first == NULL || into->at == NULL || facts->edges.count >= NONE)
        return false;
    uint32_t *next = into->first + 1; /* per node: the place of its next one; at the end, the end of its own */
    for (size_t i = 0; i < facts->edges.count; i++)
        next[(back ? edges[i].to : edges[i].from) + 1]++;
    for (uint32_t node = 0; node < facts->node_count; node++)
        next[node + 1] += next[node];
    for (size_t i = 0; i < facts->edges.count; i++)
        into->at[next[back ? edges[i].to : edges[i].from]++] = back ? edges[i].from : edges[i].to;
    return true;
}

static bool make(struct order *o, struct rig_arena *arena)
{
    const size_t nodes = (size_t)o->facts->node_count + 1;
    uint32_t **const arrays[] = {&o->alive, &o->origin, &o->known, &o->first, &o->last, &o->queue};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = rig_arena_array(arena, nodes, sizeof **arrays[i]);
        if (*arrays[i] == NULL)
            return false;
    }
    o->rank = rig_arena_array(arena, (size_t)o->losses->crash_count + 1, sizeof *o->rank);
    return o->rank != NULL && gather(o->facts, false, arena, &o->before) && gather(o->facts, true, arena, &o->after);
}

struct by_value {
    uint32_t value, node;
};

static int compare_values(const void *left, const void *right)
{
    const struct by_value *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void spread_from(const struct order *o, const struct neighbours *along, uint32_t node, uint32_t *values,
                        uint32_t *origin)
{
    const uint32_t value = values[node];
    uint32_t count = 0;
    o->queue[count++] = node;
    while (count > 0) {
        const uint32_t at = o->queue[--count];
        for (uint32_t i = along->first[at]; i < along->first[at + 1]; i++) {
            const uint32_t to = along->at[i];
            if (values[to] <= value)
                continue;
            values[to] = value;
            if (origin != NULL)
                origin[to] = origin[node];
            o->queue[count++] = to; /* once a node: no later value is less */
        }
    }
}

/*
 * Gives each node the least value among its own and those of the nodes from which it is reached; a value of `most` is
 * none. `origin`, unless it is NULL, notes the node that the value is from. False when memory runs out.
 */
static bool spread(const struct order *o, const struct neighbours *along, uint32_t *values, uint32_t most,
                   uint32_t *origin)
{
    struct by_value *sorted = malloc(((size_t)o->facts->node_count + 1) * sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL)
        return false;
    for (uint32_t node = 0; node < o->facts->node_count; node++) {
        if (values[node] < most)
            sorted[count++] = (struct by_value){values[node], node};
    }
    qsort(sorted, count, sizeof *sorted, compare_values);
    for (size_t i = 0; i < count; i++) {
        if (values[sorted[i].node] == sorted[i].value)
            spread_from(o, along, sorted[i].node, values, origin);
    }
    free(sorted);
    return true;
}

/* `alive` spreads as its complement, so that the greatest comes first. */
static bool spread_facts(struct order *o)
{
    const uint32_t txns = o->losses->history->txn_count;
    for (uint32_t node = 0; node < o->facts->node_count; node++) {
        o->alive[node] = NONE - (node < txns ? o->facts->alive[node] : 0);
        o->known[node] = node < txns ? o->facts->known[node] : NONE;
        o->origin[node] = node;
    }
    if (!spread(o, &o->before, o->alive, NONE, o->origin) || !spread(o, &o->before, o->known, NONE, NULL))
        return false;
    for (uint32_t node = 0; node < o->facts->node_count; node++)
        o->alive[node] = NONE - o->alive[node];
    return true;
}

/* ---- holes ---- */

static void find_dependents(struct order *o)
{
    for (uint32_t txn = 0; txn < o->losses->history->txn_count; txn++) {
        struct rig_crash_loss *loss = &o->losses->of[txn];
        if (loss->crash == RIG_CRASH_NONE || loss->hole == RIG_HOLE_TORN ||
            o->alive[txn] <= o->losses->crashes[loss->crash].to_at)
            continue;
        loss->hole = RIG_HOLE_DEPENDS;
        loss->kept = o->origin[txn];
    }
}

/* The transaction that was invoked last, of those that were there before the crash and survived it. */
static uint32_t last_survivor(const struct order *o, const struct rig_crash *crash)
{
    const struct rig_history *history = o->losses->history;
    uint32_t found = NONE;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (o->alive[txn] > crash->to_at && o->known[txn] < crash->from_at &&
            (found == NONE || history->txns[txn].invoke_at > history->txns[found].invoke_at))
            found = txn;
    }
    return found;
}

static void find_later_survivors(struct order *o)
{
    const struct rig_history *history = o->losses->history;
    for (uint32_t crash = 0; crash < o->losses->crash_count; crash++) {
        const uint32_t survivor = last_survivor(o, &o->losses->crashes[crash]);
        for (uint32_t txn = 0; survivor != NONE && txn < history->txn_count; txn++) {
            struct rig_crash_loss *loss = &o->losses->of[txn];
            if (loss->crash != crash || loss->hole != RIG_HOLE_NONE ||
                o->known[txn] >= history->txns[survivor].invoke_at)
                continue;
            loss->hole = RIG_HOLE_REALTIME;
            loss->kept = survivor;
        }
    }
}

/* ---- views ---- */

static bool writes(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
    while (op < end && rig_op_reads(op->kind))
        op++;
    return op < end;
}

/* Ranks the crashes that split the history, and counts them. */
static uint32_t rank_crashes(struct order *o)
{
    uint32_t count = 0;
    for (uint32_t crash = 0; crash < o->losses->crash_count; crash++)
        o->rank[crash] = o->losses->splits[crash] ? count++ : NONE;
    return count;
}

/* The rank of the first crash that may have taken the transaction; `most`: none may. */
static uint32_t rank_of_loss(const struct order *o, uint32_t txn, uint32_t most)
{
    const struct rig_history *history = o->losses->history;
    const struct rig_txn *t = &history->txns[txn];
    if (t->outcome == RIG_OUTCOME_FAIL || !writes(history, txn))
        return most;
    for (uint32_t i = 0; i < o->losses->crash_count; i++) {
        const uint32_t to_at = o->losses->crashes[i].to_at;
        if (o->rank[i] != NONE && to_at > t->invoke_at && o->alive[txn] <= to_at)
            return o->rank[i];
    }
    return most;
}

/* The number of crashes that may have ended before it. */
static uint32_t rank_of_end(const struct order *o, uint32_t txn, uint32_t most)
{
    const struct rig_txn *t = &o->losses->history->txns[txn];
    uint32_t rank = 0;
    for (uint32_t crash = 0; t->outcome == RIG_OUTCOME_OK && crash < o->losses->crash_count; crash++)
        rank += o->rank[crash] != NONE && o->losses->crashes[crash].from_at < t->complete_at;
    return t->outcome == RIG_OUTCOME_OK ? rank : most;
}

/* A transaction whose last view comes before its first one is in none, unless one of a view has seen it. */
static bool choose_views(struct order *o, struct rig_arena *arena)
{
    const struct rig_history *history = o->losses->history;
    const uint32_t most = rank_crashes(o), nodes = o->facts->node_count;
    uint32_t *seen = rig_arena_room(arena, (size_t)nodes + 1, sizeof *seen);
    o->losses->view_count = most + 1;
    if (seen == NULL)
        return false;
    for (uint32_t node = 0; node < nodes; node++)
        o->last[node] = node < history->txn_count ? rank_of_loss(o, node, most) : most;
    if (!spread(o, &o->after, o->last, most, NULL))
        return false;
    for (uint32_t node = 0; node < nodes; node++) {
        o->first[node] = node < history->txn_count ? rank_of_end(o, node, most) : most;
        seen[node] = node < history->txn_count && o->first[node] <= o->last[node] ? o->first[node] : most;
    }
    if (!spread(o, &o->before, seen, most, NULL))
        return false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const bool failed = history->txns[txn].outcome == RIG_OUTCOME_FAIL;
        o->first[txn] = failed ? 0 : seen[txn] < o->first[txn] ? seen[txn] : o->first[txn];
        o->last[txn] = failed ? most : o->last[txn];
    }
    o->losses->first = o->first;
    o->losses->last = o->last;
    return true;
}

bool rig_crash_order(struct rig_crash_facts *facts, struct rig_arena *arena, struct rig_crash_losses *losses)
{
    struct order o = {.losses = losses, .facts = facts};
    losses->view_count = 1;
    if (!make(&o, arena) || !spread_facts(&o))
        return false;
    find_dependents(&o);
    find_later_survivors(&o);
    return choose_views(&o, arena);
}
