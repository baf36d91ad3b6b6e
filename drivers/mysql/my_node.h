/*
 * One server of a local cluster: the MariaDB parts beyond drivers/local/local_site.h, and the driver's own requests to
 * it.
 *
 * Each start writes its configuration, which follows its role: `<name>.cnf` in the private folder, the only one that
 * the server reads.
 *
 * Threads: one at a time changes a node (main, then the nemesis's); status, port and pid may be read from any.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_NODE_H
#define RIG_DRIVERS_MYSQL_MY_NODE_H

#include <stdatomic.h>

#include "base/run_files.h"
#include "drivers/local/local_site.h"
#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_options.h"

/*
 * The common parts of a local cluster's nodes beyond drivers/local/local_site.h: MariaDB's programs, and the account of
 * clients.
 *
 * The sockets in the private folder need no password, since only the account and root reach them: the driver's own
 * requests use them as root, independent of every route and every fault of the network. Clients have an account of
 * their own, which a read-only server refuses writes.
 */

#define RIG_MY_CLIENT "rig" /* the account of clients, and of replicas */

enum { RIG_MY_PROGRAM_BYTES = 512 };

struct rig_my_site {
    struct rig_local_site local;
    const struct rig_my_options *options;
    char server[RIG_MY_PROGRAM_BYTES];   /* mariadbd, or mysqld */
    char install[RIG_MY_PROGRAM_BYTES];  /* mariadb-install-db */
    char root[RIG_MY_PROGRAM_BYTES];     /* MySQL's folder, with bin, lib, share and data; empty: it is MariaDB */
    char provider[RIG_MY_PROGRAM_BYTES]; /* Galera's library; empty without it */
    char password[33];                   /* of clients and replicas */
    bool tcp;                            /* clients use TCP */
    uint32_t node_count;
};

/* Zeroes it except its borrowed members; safe for rig_my_site_close(). */
void rig_my_site_init(struct rig_my_site *site, const struct rig_run_env *env, const struct rig_my_options *options);
/* Finds account and programs, makes the folder. RIG_E_CLUSTER with the remedy. */
enum rig_rc rig_my_site_open(struct rig_my_site *site, struct rig_err *err);
void rig_my_site_close(struct rig_my_site *site);
/* As rig_cluster_ops.has_version. */
bool rig_my_site_has_version(const void *options, const char *version);
bool rig_my_site_is_galera(const struct rig_my_site *site);
/* Makes the data folder `data`, which does not exist, of a server that has never run. */
enum rig_rc rig_my_site_make_data(struct rig_my_site *site, const char *data, int64_t deadline_ns, struct rig_err *err);

/* Ports of a node: of SQL, and those of Galera for the group, for state transfers by log and by files. */
enum rig_my_port { RIG_MY_PORT_SQL, RIG_MY_PORT_GROUP, RIG_MY_PORT_LOG, RIG_MY_PORT_FILES, RIG_MY_PORTS };

struct rig_my_node {
    struct rig_local_node local; /* "mariadb-1" */
    struct rig_my_site *site;
    uint32_t index;
    atomic_int ports[RIG_MY_PORTS];  /* 0: none yet */
    atomic_bool writable;            /* its role: it takes writes, and starts with that */
    bool semi_sync;                  /* as the primary it waits for replicas from its start on */
    uint32_t generation;             /* how often its data were made; its server_id follows it */
    bool bootstraps;                 /* Galera: its next start makes a new cluster of its data */
    char group[RIG_NODES_MOST * 24]; /* Galera: the addresses of all nodes' groups */
};

/* Zeroed before; variables that were set since stay. */
void rig_my_node_init(struct rig_my_node *node, struct rig_my_site *site, uint32_t index);
/* Chooses ports that are free, `another` also where it has some. */
enum rig_rc rig_my_node_choose_ports(struct rig_my_node *node, bool another, struct rig_err *err);
/* Starts it over its data and waits until it answers. RIG_OK when it runs. `always`: also while the run ends. */
enum rig_rc rig_my_node_start(struct rig_my_node *node, bool always, int64_t deadline_ns, struct rig_err *err);
/* Starts the process of a node that is down, and has ports, without waiting. */
enum rig_rc rig_my_node_launch(struct rig_my_node *node, struct rig_err *err);
enum rig_rc rig_my_node_stop(struct rig_my_node *node, enum rig_node_end how, struct rig_err *err);

uint16_t rig_my_node_port(const struct rig_my_node *node, enum rig_my_port which);
/* Its private socket, which no fault of the network reaches. */
void rig_my_node_socket(const struct rig_my_node *node, struct rig_sql_endpoint *endpoint);
/* Connects as root by the socket; disconnect it in any case. */
enum rig_rc rig_my_node_connect(const struct rig_my_node *node, struct rig_my_connection *connection,
                                struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err);
/* Runs `sql` on a connection of its own; `answer` (may be NULL) is the first value, "" for none or a null. */
enum rig_rc rig_my_node_ask(const struct rig_my_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err);
/* Writes the configuration of its next start. */
enum rig_rc rig_my_configuration_write(const struct rig_my_node *node, const char *path, struct rig_err *err);

#endif
