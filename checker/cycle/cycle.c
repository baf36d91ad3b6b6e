#include "checker/cycle/cycle.h"

#include <string.h>

#include "base/bug.h"

/* The first pair of places that hold the same transaction, closest together; false when all are distinct. */
static bool find_repetition(const struct rig_cycle *cycle, size_t *begin, size_t *end)
{
    for (size_t length = 1; length < cycle->count; length++) {
        for (size_t i = 0; i + length < cycle->count; i++) {
            if (cycle->at[i].txn == cycle->at[i + length].txn) {
                *begin = i;
                *end = i + length;
                return true;
            }
        }
    }
    return false;
}

void rig_cycle_simplify(struct rig_cycle *cycle)
{
    size_t begin, end;
    while (find_repetition(cycle, &begin, &end)) {
        /* The closest repetition encloses no other, so what lies between is simple. */
        bool joins_rw = cycle->at[begin].kind == RIG_EDGE_RW && cycle->at[end - 1].kind == RIG_EDGE_RW;
        if (!joins_rw) {
            memmove(cycle->at, cycle->at + begin, (end - begin) * sizeof *cycle->at);
            cycle->count = end - begin;
            return;
        }
        /* Closed, it would put two rw edges together; then what is left without it does not. */
        memmove(cycle->at + begin, cycle->at + end, (cycle->count - end) * sizeof *cycle->at);
        cycle->count -= end - begin;
    }
}

void rig_cycle_rotate(struct rig_cycle *cycle)
{
    size_t lowest = 0;
    for (size_t i = 1; i < cycle->count; i++) {
        if (cycle->at[i].txn < cycle->at[lowest].txn)
            lowest = i;
    }
    for (size_t turns = 0; turns < lowest; turns++) {
        struct rig_hop first = cycle->at[0];
        memmove(cycle->at, cycle->at + 1, (cycle->count - 1) * sizeof *cycle->at);
        cycle->at[cycle->count - 1] = first;
    }
}

enum rig_anomaly rig_cycle_anomaly(const struct rig_history *history, const struct rig_cycle *cycle)
{
    RIG_REQUIRE(cycle->count >= 2);
    /* Rows: G0, G1c, G-single, G-nonadjacent, G2; columns: plain, process, real time. */
    static const enum rig_anomaly by_shape[5][3] = {
        {RIG_ANOMALY_G0, RIG_ANOMALY_G0_PROCESS, RIG_ANOMALY_G0_REALTIME},
        {RIG_ANOMALY_G1C, RIG_ANOMALY_G1C_PROCESS, RIG_ANOMALY_G1C_REALTIME},
        {RIG_ANOMALY_G_SINGLE, RIG_ANOMALY_G_SINGLE_PROCESS, RIG_ANOMALY_G_SINGLE_REALTIME},
        {RIG_ANOMALY_G_NONADJACENT, RIG_ANOMALY_G_NONADJACENT_PROCESS, RIG_ANOMALY_G_NONADJACENT_REALTIME},
        {RIG_ANOMALY_G2_ITEM, RIG_ANOMALY_G2_ITEM_PROCESS, RIG_ANOMALY_G2_ITEM_REALTIME},
    };
    size_t count[5] = {0};
    bool adjacent = false, settled = true;
    for (size_t i = 0; i < cycle->count; i++) {
        enum rig_edge_kind next = cycle->at[(i + 1) % cycle->count].kind;
        count[cycle->at[i].kind]++;
        settled &= history->txns[cycle->at[i].txn].outcome == RIG_OUTCOME_OK;
        adjacent |= cycle->at[i].kind == RIG_EDGE_RW && next == RIG_EDGE_RW;
    }
    size_t row = count[RIG_EDGE_WR] > 0 || !settled ? 1 : 0;
    if (count[RIG_EDGE_RW] == 1)
        row = 2;
    else if (count[RIG_EDGE_RW] > 1)
        row = adjacent ? 4 : 3;
    size_t column = 0;
    if (count[RIG_EDGE_REALTIME] > 0)
        column = 2;
    else if (count[RIG_EDGE_PROCESS] > 0)
        column = 1;
    return by_shape[row][column];
}
