/*
 * Decides whether the graph has any cycle, of dependencies alone or with real time.
 *
 * One walk over the links, before a graph is made of them. Nodes are numbered in completion order, and a cycle, like a
 * path from a transaction to one that completed before it was invoked, has an edge that leads back in this order. So
 * the walk starts, in ascending order, from each node that such an edge leads to, and visits its ancestors with higher
 * numbers, depth first, each node at most once. It finds a cycle from the cycle's first node, or from an earlier one
 * that reaches it. The start of a walk completed before all other transactions that follow the nodes walked: so these
 * nodes must have been invoked before it completed (realtime.h).
 *
 * Time: linear in the edges of the nodes walked, which are few, with up to 256 transactions looked at for the process
 * order of a node. Space: 16 bytes a node on the deepest path. Afterwards `late_before` also marks the nodes walked,
 * which is harmless: a walk from one of them visits nothing new.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_CLEAN_H
#define RIG_CHECKER_DECIDE_CYCLE_CLEAN_H

#include "base/err.h"
#include "checker/model/links.h"
#include "history/model/history.h"

/*
 * *clean: there is no cycle; nor one with process order, where processes run in turn (`in_turn`; `committed` tells per
 * transaction whether it counts); nor one with real-time edges, unless `history` is NULL or has no invocations. When it
 * is false, there is a cycle, or one with real time depends on a transaction of unknown fate, which never ends. Memory
 * comes from the links' arena.
 */
enum rig_rc rig_links_clean(const struct rig_links *links, const struct rig_history *history, const uint8_t *committed,
                            bool *clean, struct rig_err *err);

#endif
