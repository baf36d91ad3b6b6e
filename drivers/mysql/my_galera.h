/*
 * A Galera cluster: equal nodes that certify each other's transactions. A node that joins takes its data from another
 * one by rsync.
 *
 * When no node runs, the one whose data are the latest makes a new group of its data, whichever was asked for: with any
 * other, transactions that were acknowledged would be lost, by rig and not by Galera.
 *
 * Threads: main, then the nemesis's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_GALERA_H
#define RIG_DRIVERS_MYSQL_MY_GALERA_H

#include "drivers/mysql/my_cluster.h"

/* Ports and addresses of all nodes, before the first starts. */
enum rig_rc rig_my_galera_prepare(struct rig_my_cluster *cluster, struct rig_err *err);
/* Starts the other nodes of a new cluster. */
enum rig_rc rig_my_galera_start(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);
enum rig_rc rig_my_galera_start_node(struct rig_my_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                     struct rig_err *err);
/* Waits until the running nodes have noticed the end of the others, and lets them go on without a quorum. */
enum rig_rc rig_my_galera_settle(struct rig_my_cluster *cluster, struct rig_err *err);
/* Starts those that are down and waits until each is synchronised. */
enum rig_rc rig_my_galera_restore(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);
void rig_my_galera_judge(struct rig_my_cluster *cluster, uint32_t node, struct rig_node_status *status);

#endif
