/*
 * Finds all cycles of two transactions over the edges of the core, of every class, in one pass (pairs.h finds those
 * over versions that are not adjacent). So the witnesses that are easiest to understand are never missed.
 *
 * Time: sum over edges of the lower of the degrees of their ends: at most E^1.5, a small constant per edge in practice.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_PAIRS_H
#define RIG_CHECKER_DECIDE_CYCLE_PAIRS_H

#include "checker/decide/cycle/collect.h"
#include "checker/model/graph.h"

/* False when memory runs out. */
bool rig_cycle_pairs(const struct rig_history *history, const struct rig_graph *graph, struct rig_collector *collector);

/*
 * Finds cycles of two transactions over versions that are not adjacent: for each kind that has no cycle of two
 * transactions yet, the one with the lowest transaction, if there is one.
 *
 * In completion order one edge of such a cycle leads back, from a transaction P to a transaction T that completed
 * before. So the search takes the edges into each T from higher numbers, and asks for each P whether T precedes P in
 * turn: by an edge, in its process or in real time. It skips relays that lead only from lower numbers.
 *
 * Within the budget, DISTANT_EDGES passes for each edge of the graph on average, the result depends only on the
 * edges around T and P, and not on the other transactions judged with them. Sound histories have few edges that lead
 * back.
 *
 * Time: linear in the edges passed. Space: 8 bytes a node.
 */

/*
 * `graph`: the web, or the core where there is none; or, with `writes`, the web of writes, for write cycles only. False
 * when memory runs out.
 */
bool rig_cycle_distant_pairs(const struct rig_graph *graph, bool writes, struct rig_collector *collector);

#endif
