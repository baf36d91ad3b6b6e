/*
 * The core of a dependency graph: the nodes that may lie on a cycle of any kind. All decisions about cycles are made on
 * the core alone, which is small in most broken histories.
 *
 * The core contains the strongly connected components of all edges and process order; and, for the cycles that one
 * real-time edge closes (realtime.h), the nodes on a path from a transaction to one that completed before it was
 * invoked. One walk over the links finds both (Tarjan 1972). Nodes are numbered in completion order. A node without an
 * edge from a later node has only predecessors that are done, so it is skipped and its edges are not read. From each
 * other node s, in ascending order, the walk visits the ancestors of s with higher numbers.
 *
 * Proof that the real-time part is complete. Let a path lead from A to T, let T complete before A was invoked, and let
 * u be the node with the lowest number on the path: u completed before A was invoked, too. The path from A to u leads
 * through nodes with higher numbers than u. So each node y on it was walked from some s at or before u, when A was
 * known as an ancestor of y: y has an ancestor that was invoked after s completed. These nodes are in the core. After
 * u, no node is skipped until the walk has passed the last node that completed before A was invoked, and the latest
 * invocation among a node's ancestors is passed on to its successors: so the path from u to T is in the core as well.
 *
 * Whether there is a core at all is asked first (rig_core_is_empty()), before a graph is made of the links: most
 * histories have none. The same walk then ends at the first node that is in the core, and needs neither components nor
 * the latest invocations: a node that is done was invoked in time, and one that is open closes a cycle.
 *
 * Time: linear in the edges of the nodes walked, which are few where cycles are short, and in the transactions for
 * their process order. Space: 9 bytes a node; 16 a node on the deepest path and 4 an open one while the walk lasts. To
 * ask: 1 byte a node, 16 a node on the deepest path, and up to 256 transactions looked at for the process order of a
 * node.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_CORE_H
#define RIG_CHECKER_DECIDE_CYCLE_CORE_H

#include "base/err.h"
#include "checker/model/graph.h"
#include "history/model/history.h"

/*
 * *empty: there is no cycle; nor one with process order, where processes run in turn (`in_turn`; `committed` tells per
 * transaction whether it counts, and may be NULL elsewhere); nor one with real-time edges, unless `history` is NULL or
 * has no invocations. When it is false, there is a cycle, or one with real time depends on a transaction of unknown
 * fate, which never ends. Memory comes from the links' arena.
 */
enum rig_rc rig_core_is_empty(const struct rig_links *links, const struct rig_history *history,
                              const uint8_t *committed, bool *empty, struct rig_err *err);
/*
 * Makes the graph of the core, with process order. It leaves out the nodes that are not `selected` (per node; NULL: all
 * are) and their edges. `committed` is per transaction. Memory comes from the links' arena.
 */
enum rig_rc rig_core_find(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, struct rig_graph *core, struct rig_err *err);
/* Only which transactions are in the core: 1 for each. The array comes from the links' arena. */
enum rig_rc rig_core_mark(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                          const uint8_t *selected, uint8_t **in_core, struct rig_err *err);

#endif
