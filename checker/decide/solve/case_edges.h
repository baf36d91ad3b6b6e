/*
 * The edges of a graph of cases (case_graph.h): of all pairs of writers whose order is open, or of given pairs only.
 *
 * All pairs serve a few transactions: each two writers of a key are a question, and orders between versions that are
 * not adjacent have edges of their own, which makes cycles short. The number of edges is quadratic in the writers of a
 * key. Given pairs serve many transactions: of all other orders only the direct ones have edges, and the rest are
 * paths, so that the number is linear in reads, given pairs and transactions.
 *
 * Parallel edges that rest on the same pair, or on evidence of the same kind, are one edge.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CASE_EDGES_H
#define RIG_CHECKER_DECIDE_SOLVE_CASE_EDGES_H

#include "checker/decide/solve/case_graph.h"

/* Both fill in the arcs and `too_large`. The first finds the pairs, too; the second uses those that the graph has.
 * False when memory runs out. */
bool rig_case_edges_all(struct rig_case_graph *graph);
bool rig_case_edges_given(struct rig_case_graph *graph);

#endif
