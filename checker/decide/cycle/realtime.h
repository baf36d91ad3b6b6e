/*
 * Real-time order without real-time edges.
 *
 * Interval orders contain no 2+2 (Fishburn 1970): of two real-time edges a -> b and c -> d, a -> d or c -> b is one
 * too. So a cycle with several real-time edges shortens to one with at most one, and there is a cycle with a real-time
 * edge exactly when some transaction completed before the invocation of one of its ancestors: one maximum per node, in
 * topological order, which the members of a component share.
 *
 * Time: linear. Space: 4 bytes a node of the view, and 4 a transaction during the pass.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_REALTIME_H
#define RIG_CHECKER_DECIDE_CYCLE_REALTIME_H

#include "checker/model/components.h"
#include "history/model/history.h"

RIG_VEC(uint32_t, rig_node_list)

struct rig_realtime {
    uint32_t *latest;                /* per state: the latest invocation among its ancestors and itself; 0 for none */
    struct rig_node_list violations; /* nodes that completed before an ancestor was invoked, in topological order */
};

/* `latest` stays NULL in a history without invocations. Release with rig_realtime_done(), also after a failure. */
enum rig_rc rig_realtime_find(const struct rig_history *history, const struct rig_components *components,
                              struct rig_realtime *realtime, struct rig_err *err);
void rig_realtime_done(struct rig_realtime *realtime);

#endif
