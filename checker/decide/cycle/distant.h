/*
 * Finds cycles of two transactions over versions that are not adjacent: for each kind that has no cycle of two
 * transactions yet, the one with the lowest transaction, if there is one.
 *
 * In completion order one edge of such a cycle leads back, from a transaction P to a transaction T that completed
 * before. So the search takes the edges into each T from higher numbers, and asks for each P whether T precedes P in
 * turn: by an edge, in its process or in real time. It skips relays that lead only from lower numbers.
 *
 * Within the budget, RIG_DISTANT_EDGES passes for each edge of the graph on average, the result depends only on the
 * edges around T and P, and not on the other transactions judged with them. Sound histories have few edges that lead
 * back.
 *
 * Time: linear in the edges passed. Space: 8 bytes a node.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_DISTANT_H
#define RIG_CHECKER_DECIDE_CYCLE_DISTANT_H

#include "checker/decide/cycle/collect.h"
#include "checker/model/graph.h"

enum { RIG_DISTANT_EDGES = 64 };

/*
 * `graph`: the web, or the core where there is none; or, with `writes`, the web of writes, for write cycles only. False
 * when memory runs out.
 */
bool rig_cycle_distant_pairs(const struct rig_graph *graph, bool writes, struct rig_collector *collector);

#endif
