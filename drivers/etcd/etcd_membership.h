/*
 * Who belongs to the cluster: taking a member out, and a new one in its place.
 *
 * etcd refuses either until all members have been connected for five seconds; that is waited for. From the nemesis's
 * thread.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_MEMBERSHIP_H
#define RIG_DRIVERS_ETCD_ETCD_MEMBERSHIP_H

#include "drivers/etcd/etcd_cluster.h"

/* Takes the member out of the cluster, ends it and removes its data. */
enum rig_rc rig_etcd_expel(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);
/* Brings a member that was taken out back, as a new one without data. Of one that belongs: RIG_OK. */
enum rig_rc rig_etcd_readmit(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);

#endif
