/*
 * The nodes that a fault strikes: a plan's `target` resolved against the nodes' state at that moment.
 *
 *     target = part {"," part}
 *     part   = "all" | "one" | "minority" | "majority"       of all nodes; chosen at random
 *            | role | "one" role                             every node of this role, or one of them
 *            | name                                          a node
 *
 * Roles are primary, leader, master; standby, follower, replica, secondary; or the driver's own names. A minority is
 * the largest one, a majority the smallest.
 */
#ifndef RIG_NEMESIS_TARGETS_H
#define RIG_NEMESIS_TARGETS_H

#include "base/rng.h"
#include "drivers/driver.h"

struct rig_targets {
    uint32_t at[RIG_NODES_MOST]; /* ascending */
    uint32_t count;
};

/*
 * RIG_E_CLUSTER when no node fits at the moment; RIG_E_PLAN when none ever will (a minority of two nodes).
 */
enum rig_rc rig_targets_resolve(const char *target, const struct rig_node_status *nodes, uint32_t node_count,
                                struct rig_rng *rng, struct rig_targets *targets, struct rig_err *err);
/* Whether the target depends on the nodes' roles. */
bool rig_targets_need_roles(const char *target, const struct rig_node_status *nodes, uint32_t node_count);
/* "pg-1, pg-2" */
void rig_targets_text(const struct rig_targets *targets, const struct rig_node_status *nodes, char *text, size_t size);

#endif
