/*
 * Whether there is anything to search for: has the graph a cycle, be it of dependencies alone or with real time?
 *
 * One walk over the links, before a graph is made of them. Nodes are numbered in completion order, and a cycle needs an
 * edge that leads back in it: so only stretches that such edges span are walked, depth first on predecessors, and
 * nodes in between cost nothing. The latest invocation among the ancestors is carried along (realtime.h); a path from a
 * transaction to one that completed before it was invoked leads back too, and so stays within one stretch.
 *
 * Time: linear in the stretches. Space: 16 bytes a transaction on the deepest path; the walk uses up `reach`.
 */
#ifndef RIG_CHECKER_CYCLE_CLEAN_H
#define RIG_CHECKER_CYCLE_CLEAN_H

#include "base/err.h"
#include "checker/graph/links.h"
#include "history/history.h"

/*
 * *clean: there is no cycle; nor, unless `history` is NULL or has no invocations, one with real-time edges. Memory
 * comes from the links' arena. Can be asked once.
 */
enum rig_rc rig_links_clean(struct rig_links *links, const struct rig_history *history, bool *clean,
                            struct rig_err *err);

#endif
