/*
 * Starting one member: its command line, its log, and waiting for it. Private to drivers/etcd/.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_LAUNCH_H
#define RIG_DRIVERS_ETCD_ETCD_LAUNCH_H

#include "drivers/etcd/etcd_cluster.h"

/* Reports the flags that all members share, beside those of the plan. */
void rig_etcd_tell_flags(const struct rig_etcd_cluster *cluster,
                         void (*tell)(void *context, const char *name, const char *value), void *context);
/* Starts the member's process over its existing data. RIG_E_CLUSTER. */
enum rig_rc rig_etcd_launch(struct rig_etcd_cluster *cluster, struct rig_etcd_member *member, struct rig_err *err);
/* As rig_local_node_await(): until the member answers; `leader`: and knows a leader; `always`: also while the run
 * ends. */
enum rig_rc rig_etcd_await_member(const struct rig_etcd_cluster *cluster, uint32_t node, bool leader, bool always,
                                  int64_t deadline_ns, struct rig_err *err);
/* The polling interval of every wait here: short compared with an election. */
void rig_etcd_pause(void);

#endif
