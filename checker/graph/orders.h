/*
 * What the graph takes from the history beside dependencies: process order, and whose fate is unknown.
 */
#ifndef RIG_CHECKER_GRAPH_ORDERS_H
#define RIG_CHECKER_GRAPH_ORDERS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/graph/graph.h"
#include "history/history.h"

/* Fills process_before and unsettled of a packed graph; `committed` says per transaction whether it counts. */
enum rig_rc rig_graph_add_orders(const struct rig_history *history, const uint8_t *committed, struct rig_arena *arena,
                                 struct rig_graph *graph, struct rig_err *err);

#endif
