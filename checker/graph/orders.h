/*
 * What the graph takes from the history beside dependencies: process order, and whose fate is unknown.
 */
#ifndef RIG_CHECKER_GRAPH_ORDERS_H
#define RIG_CHECKER_GRAPH_ORDERS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/graph/graph.h"
#include "history/history.h"

/*
 * The committed transaction before each one in its process, or RIG_NODE_NONE; those of one process that overlap have no
 * order between them. `committed` says per transaction whether it counts. False when memory runs out.
 */
bool rig_process_order(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                       uint32_t *before);

/*
 * Fills process_before and unsettled of a packed graph, from the order of the whole history. A part of a graph has the
 * process order between those who follow each other directly.
 */
enum rig_rc rig_graph_add_orders(const struct rig_history *history, const uint8_t *committed, const uint32_t *before,
                                 struct rig_arena *arena, struct rig_graph *graph, struct rig_err *err);

#endif
