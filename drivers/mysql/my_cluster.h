/*
 * The local cluster: MariaDB servers that rig creates, starts, monitors, stops, restores and removes: one server, a
 * primary with replicas (my_cluster.h), or a Galera cluster (my_galera.h); mariadb-1 to mariadb-N.
 *
 * All begin as copies of one data folder that has never run. Their common parts are in my_node.h, one server in
 * my_node.h. The servers' logs go to mariadb-N.log in the run's folder.
 *
 * Threads: start and stop on the main thread, changes of nodes on the nemesis's, one call at a time; status, endpoints
 * and the primary's number from any; kill_now also in a signal handler.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_CLUSTER_H
#define RIG_DRIVERS_MYSQL_MY_CLUSTER_H

#include <pthread.h>

#include "drivers/mysql/my_node.h"
#include "drivers/sql/sql_client.h"

struct rig_my_cluster {
    struct rig_sql_cluster sql;
    struct rig_my_site site;
    struct rig_my_node nodes[RIG_NODES_MOST];
    atomic_uint primary;
    char pristine[RIG_LOCAL_PATH_BYTES]; /* the data of a server that has never run */
};

/* Waits until all followers show what the primary has written. */
enum rig_rc rig_my_replication_await(struct rig_my_cluster *cluster, int64_t deadline_ns, struct rig_err *err);

void rig_my_cluster_init(struct rig_my_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_my_options *options);
/* Stops all servers that still run. */
void rig_my_cluster_done(struct rig_my_cluster *cluster);

static inline struct rig_my_cluster *rig_my_cluster_of(const void *run)
{
    return (struct rig_my_cluster *)((const struct rig_sql_run *)run)->cluster;
}

extern const struct rig_cluster_ops rig_my_cluster_ops;

/* The primary is the node that was made one last; all nodes of Galera take writes. */
extern const struct rig_sql_nodes rig_my_nodes;

/* Kills the node, and replaces its data by those of a server that has never run. */
enum rig_rc rig_my_cluster_empty(struct rig_my_cluster *cluster, struct rig_my_node *node, struct rig_err *err);

/* A node's address for clients; valid after start. */
enum rig_rc rig_my_cluster_endpoint(struct rig_my_cluster *cluster, uint32_t node, struct rig_sql_endpoint *endpoint,
                                    struct rig_err *err);

#endif
