/*
 * Cycles of two transactions over versions that are not adjacent: of each kind without a cycle of two transactions so
 * far, the one with the lowest transaction, or none when there is none.
 *
 * In completion order one edge of such a cycle leads back, from a transaction P to one T that completed before. So the
 * edges into each T from higher numbers are looked for, and for each P whether T precedes it in turn: by an edge, in
 * its process or in real time. Passages that lead from lower numbers only are not entered.
 *
 * As long as the budget lasts, the result depends on the edges around T and P alone, not on what else is judged with
 * them: RIG_DISTANT_EDGES passes an edge of the graph on average. Sound histories have few edges that lead
 * back.
 *
 * Time: linear in the edges passed. Space: 8 bytes a node.
 */
#ifndef RIG_CHECKER_CYCLE_DISTANT_H
#define RIG_CHECKER_CYCLE_DISTANT_H

#include "checker/cycle/collect.h"
#include "checker/graph/graph.h"

enum { RIG_DISTANT_EDGES = 64 };

/*
 * `graph`: the web, or the core where there is none; or, with `writes`, the web of writes, for write cycles only. False
 * when memory runs out.
 */
bool rig_cycle_distant_pairs(const struct rig_graph *graph, bool writes, struct rig_collector *collector);

#endif
