/*
 * The facts other than dependencies that the graph takes from the history: process order and unknown fates.
 */
#ifndef RIG_CHECKER_MODEL_ORDERS_H
#define RIG_CHECKER_MODEL_ORDERS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/model/graph.h"
#include "history/model/history.h"

/*
 * Whether the acknowledged transaction `a` comes before `b`, both of one process. A transaction of unknown fate may
 * take effect at any time after its invocation, also when the process has continued: it precedes none.
 */
static inline bool rig_process_precedes(const struct rig_history *history, uint32_t a, uint32_t b)
{
    const struct rig_txn *first = &history->txns[a], *second = &history->txns[b];
    uint32_t begin = second->invoke_at != RIG_POSITION_NONE ? second->invoke_at : second->complete_at;
    return first->outcome == RIG_OUTCOME_OK && (history->in_turn ? a < b : first->complete_at < begin);
}

/*
 * The latest acknowledged transaction that completed before each committed one in its process, or RIG_NODE_NONE; those
 * of one process that overlap have no order between them. Several transactions may follow one: those of unknown fate,
 * and the acknowledged one after them. `committed` says per transaction whether it counts. False when memory runs out.
 */
bool rig_process_order(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                       uint32_t *before);

/*
 * Fills process_before and unsettled of a packed graph, from the order of the whole history. A part of a graph has the
 * process order between transactions that follow each other directly in the whole.
 */
enum rig_rc rig_graph_add_orders(const struct rig_history *history, const uint8_t *committed, const uint32_t *before,
                                 struct rig_arena *arena, struct rig_graph *graph, struct rig_err *err);

#endif
