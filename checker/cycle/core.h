/*
 * The core of a dependency graph: the nodes that may lie on a cycle of any kind. Whatever is decided about cycles is
 * decided on the core alone, which is small in most broken histories.
 *
 * In the core are the strongly connected components of all edges and process order; and, for the cycles that one
 * real-time edge closes (realtime.h), the nodes on the way from a transaction to one that completed before it was
 * invoked. One walk over the links finds both (Tarjan 1972): nodes are numbered in completion order, so that of the
 * nodes that no edge from a later one leads to the predecessors are done when their turn comes, and they are passed
 * over without a look at their edges. From each other node s, in ascending order, its ancestors behind it are walked.
 *
 * Why the real-time part is whole. Let a path lead from A to T, T complete before A was invoked, and u be the node with
 * the lowest number on the path: u completed before A was invoked, too. The path from A to u leads through nodes behind
 * u only. So each node y on it was walked from some s at or before u, and A is among the ancestors that were known of y
 * then: y has an ancestor that was invoked after s completed. These are in the core. From u on nobody is passed over
 * before the last of those is reached who completed before A was invoked, and what is known of a node's ancestors goes
 * on to whoever follows: so the path from u to T is in the core likewise.
 *
 * Time: linear in the edges of the nodes walked, which are few where cycles are short, and in the transactions for
 * their process order. Space: 9 bytes a node; 16 a node on the deepest path and 4 an open one while the walk lasts.
 */
#ifndef RIG_CHECKER_CYCLE_CORE_H
#define RIG_CHECKER_CYCLE_CORE_H

#include "base/err.h"
#include "checker/graph/graph.h"
#include "history/history.h"

/*
 * Makes the graph of the core, with process order. `selected`, per node (NULL: all), are the nodes that count; the
 * others and their edges are left out. `committed` is per transaction. Memory comes from the links' arena.
 */
enum rig_rc rig_core_find(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, struct rig_graph *core, struct rig_err *err);

#endif
