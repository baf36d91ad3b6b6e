/*
 * The life of a cluster that a command starts, as its hooks use it (rig_cluster_ops).
 *
 * Private to drivers/local/.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_HOOKS_H
#define RIG_DRIVERS_LOCAL_COMMAND_HOOKS_H

#include "drivers/local/command_cluster.h"

enum rig_rc rig_command_cluster_start(struct rig_command_cluster *cluster, struct rig_err *err);
void rig_command_cluster_stop(struct rig_command_cluster *cluster);
void rig_command_cluster_kill_now(struct rig_command_cluster *cluster);
enum rig_rc rig_command_cluster_stop_node(struct rig_command_cluster *cluster, uint32_t node, enum rig_node_end how,
                                          struct rig_err *err);
enum rig_rc rig_command_cluster_start_node(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err);
/* The same with the lock held. `always`: also while the run ends. */
enum rig_rc rig_command_cluster_start_down(struct rig_command_cluster *cluster, uint32_t node, bool always,
                                           struct rig_err *err);

/* Roles (command_roles.c). */
enum rig_rc rig_command_cluster_status(struct rig_command_cluster *cluster, uint32_t node,
                                       struct rig_node_status *status, struct rig_err *err);
enum rig_rc rig_command_cluster_promote(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err);
enum rig_rc rig_command_cluster_restore(struct rig_command_cluster *cluster, struct rig_err *err);

#endif
