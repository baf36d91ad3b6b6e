/*
 * The local cluster: 1 to 5 etcd members that rig starts on 127.0.0.1, monitors, ends, starts again and removes.
 *
 * Folder, processes and logs are those of drivers/local/, with a folder of data for each member. Members listen on
 * ports that were free a moment before; when one was taken meanwhile, all are started again on others.
 *
 * When the plan has faults of the network, clients connect through core->route(), and members through the switch
 * (local/local_switch.h), which does the same for each pair.
 *
 * Starting three members takes about a second. Threads: start and stop on the main thread; kill_now from any, also in a
 * signal handler; functions for faults from the nemesis's thread; status from any.
 */
#ifndef RIG_DRIVERS_ETCD_ETCD_CLUSTER_H
#define RIG_DRIVERS_ETCD_ETCD_CLUSTER_H

#include <stdatomic.h>

#include "drivers/etcd/etcd_admin.h"
#include "drivers/etcd/etcd_driver.h"
#include "drivers/local/local_site.h"
#include "drivers/local/local_switch.h"

enum { RIG_ETCD_PATH_BYTES = 1024 };

struct rig_etcd_member {
    struct rig_local_node node; /* "etcd-1" */
    uint16_t client_port;
    uint16_t peer_port;      /* its own port for other members */
    uint16_t announced_port; /* the one that others use: peer_port, or the switch's */
    bool joins;              /* it joins an existing cluster when it starts */
    atomic_bool left;        /* it was removed from the cluster */
};

struct rig_etcd_cluster {
    struct rig_local_site site;
    const struct rig_etcd_options *options;
    struct rig_local_switch *peers; /* NULL: members reach each other directly */
    char program[RIG_ETCD_PATH_BYTES];
    struct rig_etcd_member members[RIG_ETCD_MEMBERS_MOST];
    uint32_t count;
};

void rig_etcd_cluster_init(struct rig_etcd_cluster *cluster, const struct rig_run_env *env,
                           const struct rig_etcd_options *options);
/* Stops all members that still run. */
void rig_etcd_cluster_done(struct rig_etcd_cluster *cluster);

/* See rig_cluster_ops. */
enum rig_rc rig_etcd_cluster_start(struct rig_etcd_cluster *cluster, struct rig_err *err);
void rig_etcd_cluster_stop(struct rig_etcd_cluster *cluster);
void rig_etcd_cluster_kill_now(struct rig_etcd_cluster *cluster);
enum rig_rc rig_etcd_cluster_status(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_node_status *status,
                                    struct rig_err *err);
enum rig_rc rig_etcd_cluster_stop_node(struct rig_etcd_cluster *cluster, uint32_t node, enum rig_node_end how,
                                       struct rig_err *err);
enum rig_rc rig_etcd_cluster_start_node(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);
enum rig_rc rig_etcd_cluster_promote(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);
enum rig_rc rig_etcd_cluster_restore(struct rig_etcd_cluster *cluster, struct rig_err *err);

/* The member's direct address for requests. */
struct rig_etcd_asked rig_etcd_cluster_ask(const struct rig_etcd_cluster *cluster, uint32_t node, int64_t timeout_ns);

/*
 * Changes of the cluster's membership: removing a member, and adding a new one in its place.
 *
 * etcd refuses either until all members have been connected for five seconds; these functions wait for that. From the
 * nemesis's thread.
 */

/* Takes the member out of the cluster, ends it and removes its data. */
enum rig_rc rig_etcd_expel(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);
/* Adds a removed member again, as a new one without data. RIG_OK for a current member. */
enum rig_rc rig_etcd_readmit(struct rig_etcd_cluster *cluster, uint32_t node, struct rig_err *err);

#endif
