/*
 * Changes of the cluster's membership: removing a member, and adding a new one in its place.
 *
 * etcd refuses either until all members have been connected for five seconds; these functions wait for that. From the
 * nemesis's thread.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_MEMBERSHIP_H
#define RIG_DRIVERS_ETCD_ETCD_MEMBERSHIP_H

#include "drivers/etcd/etcd_cluster.h"

/* Takes the member out of the cluster, ends it and removes its data. */
enum rig_rc rig_etcd_expel(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);
/* Adds a removed member again, as a new one without data. RIG_OK for a current member. */
enum rig_rc rig_etcd_readmit(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);

#endif
