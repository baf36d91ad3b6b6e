#include "checker/decide/cycle/cycle.h"

#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/infer/list_acknowledged.h"

enum { FEW = 64 }; /* places that are scanned; more are looked up in a table */

/* The place of `txn` among the first `count`, which are distinct, or `count`. */
static size_t place_of(const struct rig_cycle *cycle, size_t count, const struct rig_table *places, uint32_t txn)
{
    if (places->slot_count > 0) {
        uint32_t place = rig_table_get(places, txn);
        return place == RIG_TABLE_NONE ? count : place;
    }
    for (size_t i = 0; i < count; i++) {
        if (cycle->at[i].txn == txn)
            return i;
    }
    return count;
}

static bool note_place(struct rig_table *places, bool looked_up, uint32_t txn, size_t place)
{
    uint32_t *at = looked_up ? rig_table_put(places, txn) : NULL;
    if (at != NULL)
        *at = (uint32_t)place;
    return at != NULL || !looked_up;
}

/*
 * Follows the walk and keeps a path of distinct transactions. A transaction that is on the path already closes a loop.
 * The loop is the result, unless it would join two rw edges; then the walk without the loop joins none.
 */
static bool cut(struct rig_cycle *cycle, struct rig_table *places)
{
    bool looked_up = cycle->count > FEW;
    size_t kept = 0;
    for (size_t i = 0; i < cycle->count; i++) {
        struct rig_hop hop = cycle->at[i];
        size_t place = place_of(cycle, kept, places, hop.txn);
        if (place == kept) {
            cycle->at[kept++] = hop;
            if (!note_place(places, looked_up, hop.txn, place))
                return false;
            continue;
        }
        if (cycle->at[place].kind != RIG_EDGE_RW || cycle->at[kept - 1].kind != RIG_EDGE_RW) {
            memmove(cycle->at, cycle->at + place, (kept - place) * sizeof *cycle->at);
            kept -= place;
            break;
        }
        while (kept > place + 1) {
            if (!note_place(places, looked_up, cycle->at[--kept].txn, RIG_TABLE_NONE))
                return false;
        }
        cycle->at[place] = hop;
    }
    cycle->count = kept;
    return true;
}

static bool joins_rw(const struct rig_cycle *cycle)
{
    bool joins = false;
    for (size_t i = 0; i < cycle->count; i++)
        joins |= cycle->at[i].kind == RIG_EDGE_RW && cycle->at[(i + 1) % cycle->count].kind == RIG_EDGE_RW;
    return joins;
}

/* True also when memory runs out. */
static bool is_distinct(const struct rig_cycle *cycle)
{
    struct rig_table places;
    bool distinct = true;
    rig_table_init(&places);
    for (size_t i = 0; i < cycle->count && distinct; i++) {
        uint32_t *place = rig_table_put(&places, cycle->at[i].txn);
        distinct = place == NULL || *place == RIG_TABLE_NONE;
        if (place != NULL)
            *place = (uint32_t)i;
    }
    rig_table_done(&places);
    return distinct;
}

bool rig_cycle_simplify(struct rig_cycle *cycle)
{
    RIG_REQUIRE(cycle->count > 0 && cycle->count < RIG_TABLE_NONE);
    const bool joined = RIG_COSTLY_CHECKS && joins_rw(cycle);
    struct rig_table places;
    rig_table_init(&places);
    bool done = cut(cycle, &places);
    rig_table_done(&places);
    RIG_INVARIANT(cycle->count > 0);
    RIG_COSTLY(!done || (is_distinct(cycle) && (joined || !joins_rw(cycle))));
    return done;
}

static void reverse(struct rig_hop *hops, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct rig_hop swap = hops[i];
        hops[i] = hops[count - 1 - i];
        hops[count - 1 - i] = swap;
    }
}

void rig_cycle_rotate(struct rig_cycle *cycle)
{
    size_t lowest = 0;
    RIG_REQUIRE(cycle->count > 0);
    const uint32_t first = cycle->at[0].txn;
    for (size_t i = 1; i < cycle->count; i++) {
        if (cycle->at[i].txn < cycle->at[lowest].txn)
            lowest = i;
    }
    reverse(cycle->at, lowest);
    reverse(cycle->at + lowest, cycle->count - lowest);
    reverse(cycle->at, cycle->count);
    RIG_INVARIANT(cycle->at[0].txn <= first && cycle->at[(cycle->count - lowest) % cycle->count].txn == first);
}

/* Whether acknowledged reads show the order after each ww edge. */
static bool is_acknowledged(const struct rig_versions *versions, const struct rig_cycle *cycle)
{
    if (versions == NULL || versions->acknowledged == NULL)
        return true;
    for (size_t i = 0; i < cycle->count; i++) {
        if (cycle->at[i].kind == RIG_EDGE_WW &&
            !rig_acknowledged_ww(versions, cycle->at[i].txn, cycle->at[(i + 1) % cycle->count].txn))
            return false;
    }
    return true;
}

enum rig_anomaly rig_cycle_anomaly(const struct rig_history *history, const struct rig_versions *versions,
                                   const struct rig_cycle *cycle)
{
    RIG_REQUIRE(cycle->count >= 2);
    size_t count[5] = {0};
    bool adjacent = false, settled = true;
    for (size_t i = 0; i < cycle->count; i++) {
        enum rig_edge_kind next = cycle->at[(i + 1) % cycle->count].kind;
        RIG_INVARIANT(cycle->at[i].txn < history->txn_count && (unsigned)cycle->at[i].kind < 5);
        count[cycle->at[i].kind]++;
        settled &= history->txns[cycle->at[i].txn].outcome == RIG_OUTCOME_OK;
        adjacent |= cycle->at[i].kind == RIG_EDGE_RW && next == RIG_EDGE_RW;
    }
    enum rig_shape shape = RIG_SHAPE_G1C;
    if (count[RIG_EDGE_RW] == 1)
        shape = RIG_SHAPE_SINGLE;
    else if (count[RIG_EDGE_RW] > 1)
        shape = adjacent ? RIG_SHAPE_G2 : RIG_SHAPE_NONADJACENT;
    else if (count[RIG_EDGE_WR] == 0 && settled && is_acknowledged(versions, cycle))
        shape = RIG_SHAPE_G0;
    enum rig_along order = count[RIG_EDGE_REALTIME] > 0  ? RIG_ALONG_REALTIME
                           : count[RIG_EDGE_PROCESS] > 0 ? RIG_ALONG_PROCESS
                                                         : RIG_ALONG_PLAIN;
    return rig_anomaly_of_cycle(shape, order);
}
