/*
 * Real-time order without real-time edges.
 *
 * Interval orders contain no 2+2 (Fishburn 1970): of two real-time edges a -> b and c -> d, a -> d or c -> b is one
 * too. So a cycle with several real-time edges shortens to one with at most one, and there is a cycle with a real-time
 * edge exactly when some transaction completed before the invocation of one of its ancestors: one maximum per node, in
 * topological order, which the members of a component share.
 *
 * Time: linear. Space: 4 bytes a node of the view.
 */
#ifndef RIG_CHECKER_CYCLE_REALTIME_H
#define RIG_CHECKER_CYCLE_REALTIME_H

#include "checker/cycle/components.h"
#include "history/history.h"

RIG_VEC(uint32_t, rig_txn_list)

/*
 * The transactions that completed before an ancestor of theirs was invoked, in topological order; none in a history
 * without invocations.
 */
enum rig_rc rig_realtime_violations(const struct rig_history *history, const struct rig_components *components,
                                    struct rig_txn_list *violations, struct rig_err *err);

#endif
