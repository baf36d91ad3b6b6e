/*
 * A primary and its replicas: replication by global transaction ids, with all logs kept, so that a server which has
 * never run can follow from the beginning.
 *
 * A follower counts as caught up when its connection to the primary is accepted and it has applied a position of the
 * primary. The position alone would not do: positions compare by number, also those of a server that diverged, while
 * the primary refuses a follower whose last transaction it does not have (gtid_strict_mode).
 *
 * Threads: main, then the nemesis's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_REPLICATION_H
#define RIG_DRIVERS_MYSQL_MY_REPLICATION_H

#include "drivers/mysql/my_cluster.h"

/* Starts all nodes of a new cluster, the first as the primary. */
enum rig_rc rig_my_replication_start(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);
/* Starts a node that is down, in its role. */
enum rig_rc rig_my_replication_start_node(struct rig_my_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                          struct rig_err *err);
enum rig_rc rig_my_replication_promote(struct rig_my_cluster *cluster, uint32_t node, int64_t deadline_ns,
                                       struct rig_err *err);
enum rig_rc rig_my_replication_restore(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);
/* Waits until all followers show what the primary has written. */
enum rig_rc rig_my_replication_await(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);
/* Fills in role and health of a node that answers. */
void rig_my_replication_judge(struct rig_my_cluster *cluster, uint32_t node, struct rig_node_status *status);

#endif
