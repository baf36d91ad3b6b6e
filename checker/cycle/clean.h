/*
 * Whether there is anything to search for: has the graph a cycle, be it of dependencies alone or with real time?
 *
 * One walk over the links, before a graph is made of them. Nodes are numbered in completion order, and a cycle, like a
 * path from a transaction to one that completed before it was invoked, has an edge that leads back in this order. So
 * from each node that such an edge leads to, in ascending order, its ancestors behind it are walked, depth first, each
 * node at most once. A cycle is found from its first node, or from one before that reaches it. The node that a walk
 * started from is the first to complete of all that come after the nodes walked: so these must have been invoked before
 * it completed (realtime.h).
 *
 * Time: linear in the edges of the nodes walked, which are few. Space: 16 bytes a node on the deepest path. Afterwards
 * `late_before` marks the nodes walked, too, which does no harm: a walk from one of them meets nothing new.
 */
#ifndef RIG_CHECKER_CYCLE_CLEAN_H
#define RIG_CHECKER_CYCLE_CLEAN_H

#include "base/err.h"
#include "checker/graph/links.h"
#include "history/history.h"

/*
 * *clean: there is no cycle; nor, unless `history` is NULL or has no invocations, one with real-time edges. When it is
 * false there is one, or one with real time hinges on a transaction of unknown fate, which never ends. Memory comes
 * from the links' arena.
 */
enum rig_rc rig_links_clean(const struct rig_links *links, const struct rig_history *history, bool *clean,
                            struct rig_err *err);

#endif
