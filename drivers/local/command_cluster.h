/*
 * A cluster of any server that a command of the plan starts: processes, folders and ports on this machine.
 *
 * Each node has a folder, `{dir}`, with its data in `{data}`, where it also runs, and RIG_COMMAND_PORTS_MOST free ports
 * of 127.0.0.1. Its output goes to `<node>.log` in the run's folder. The process that the command starts is the node: a
 * node ends when that process ends. When it ends although rig did not end it, core->server_ended() gets the reason with
 * the log's last lines, and the node is started again on its data.
 *
 * Faults of the network: clients reach a node by core->route(), and nodes reach each other by the switch
 * (local_switch.h), for one port: the last of those that the plan tells nodes of each other.
 *
 * A driver defines the three functions at the end of this header, has the rows of command_options.h in its option
 * table, and `rig_command_cluster_ops` as its cluster.
 *
 * Threads: init to done on the main thread; the hooks as rig_cluster_ops says. A lock makes the nemesis's thread and
 * the thread that watches for ended servers take turns.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_CLUSTER_H
#define RIG_DRIVERS_LOCAL_COMMAND_CLUSTER_H

#include <pthread.h>
#include <regex.h>

#include "drivers/local/command_options.h"
#include "drivers/local/command_text.h"
#include "drivers/local/local_site.h"
#include "drivers/local/local_switch.h"

struct rig_command_node {
    struct rig_local_node node;      /* "node-1"; its `data` is `{dir}` */
    char data[RIG_LOCAL_PATH_BYTES]; /* `{data}` */
    char log[RIG_LOCAL_PATH_BYTES];  /* `{log}`: a file that the server may write; kept as <node>-server.log */
    uint16_t ports[RIG_COMMAND_PORTS_MOST];
    uint16_t announced; /* to other nodes, in place of the port between nodes */
    uint16_t client;    /* to clients, in place of the first port */
    off_t output_from;  /* where the output of the present process begins in its log */
    off_t log_from;     /* the same in `log` */
    bool wanted;        /* it was started, and rig did not end it */
    uint32_t restarts;
};

struct rig_command_cluster {
    const struct rig_command_options *options; /* NULL: rig starts no server */
    struct rig_local_kind kind;
    struct rig_local_site site;
    struct rig_command_node nodes[RIG_NODES_MOST];
    uint32_t count;
    uint32_t peer_port;             /* the index of the port between nodes */
    _Atomic uint32_t primary;       /* the node that was promoted last, or that has this role; RIG_NODES_MOST: none */
    struct rig_local_switch *peers; /* NULL: nodes reach each other directly */
    const char **environment;       /* of the plan, NULL-ended; owned */
    regex_t ready;                  /* with options->ready_log */
    bool has_ready;
    pthread_mutex_t lock;
    bool has_lock;
    pthread_t watcher;
    bool watched;
    atomic_bool ending;
};

/* `driver`: its name, for the log. Without a command in the options there is no cluster. Safe for done also when it
 * fails. RIG_E_PLAN, RIG_E_LIMIT. Borrows `env` and `options`. */
enum rig_rc rig_command_cluster_init(struct rig_command_cluster *cluster, const char *driver,
                                     const struct rig_run_env *env, const struct rig_command_options *options,
                                     struct rig_err *err);
/* Ends nodes that still run. Safe on a zeroed one. */
void rig_command_cluster_done(struct rig_command_cluster *cluster);

/* A text of the plan for clients, with the ports that lead to the nodes; a placeholder without a number is of node 1.
 * Once the cluster has started. The caller frees it; NULL with RIG_E_PLAN or RIG_E_LIMIT in `err`. */
char *rig_command_client_text(const struct rig_command_cluster *cluster, const char *text, struct rig_err *err);

extern const struct rig_cluster_ops rig_command_cluster_ops;

/* ---- what the driver defines ---- */

/* Both objects' places in the driver's: members `servers` of its options, and `cluster` of its run. */
#define RIG_COMMAND_CLUSTER_IN(options_type, run_type)                                                                 \
    const struct rig_command_options *rig_command_options_of(const void *options)                                      \
    {                                                                                                                  \
        return &((const options_type *)options)->servers;                                                              \
    }                                                                                                                  \
    struct rig_command_cluster *rig_command_cluster_of(const void *run)                                                \
    {                                                                                                                  \
        return &((run_type *)(uintptr_t)run)->cluster;                                                                 \
    }
const struct rig_command_options *rig_command_options_of(const void *options);
struct rig_command_cluster *rig_command_cluster_of(const void *run);
/* The nodes answer for the first time: their ports are known. */
enum rig_rc rig_command_cluster_started(void *run, struct rig_err *err);
/* Whether clients with these options take core->route() for every connection. */
bool rig_command_cluster_is_routed(const void *options);

/* For the hooks (rig_cluster_ops). */
enum rig_rc rig_command_cluster_start_node(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err);

/* Roles (command_roles.c). */
enum rig_rc rig_command_cluster_status(struct rig_command_cluster *cluster, uint32_t node,
                                       struct rig_node_status *status, struct rig_err *err);
enum rig_rc rig_command_cluster_promote(struct rig_command_cluster *cluster, uint32_t node, struct rig_err *err);
enum rig_rc rig_command_cluster_restore(struct rig_command_cluster *cluster, struct rig_err *err);

#endif
