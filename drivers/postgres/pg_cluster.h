/*
 * The local cluster: one PostgreSQL server that rig creates, starts, watches, stops and removes.
 *
 * Everything lies in one private folder (mode 0700): the data folder and the socket. It is made below the run's work
 * folder where the server's account can reach it and the socket's path is short enough (107 bytes), else below /var/tmp
 * or /tmp. The socket asks for no password, since only the account and root reach it; on TCP the server asks for a
 * random one. The server's log goes to postgres-1.log in the run's folder.
 *
 * Start takes about 1.5 s, most of it initdb. Threads: the main thread; kill_now from any, also in a signal handler.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CLUSTER_H
#define RIG_DRIVERS_POSTGRES_PG_CLUSTER_H

#include "base/child.h"
#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_options.h"

enum { RIG_PG_PATH_BYTES = 1024 };

struct rig_pg_cluster {
    const struct rig_run_env *env;
    const struct rig_pg_options *options;
    struct rig_account account;
    char bin_dir[RIG_PG_PATH_BYTES];
    char folder[128]; /* the private folder; empty: none was made */
    struct rig_pg_endpoint endpoint;
    char password[33]; /* of the superuser, for TCP */
    struct rig_children *children;
    struct rig_child server;
};

void rig_pg_cluster_init(struct rig_pg_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_pg_options *options);
/* Stops what still runs. */
void rig_pg_cluster_done(struct rig_pg_cluster *cluster);

/* As rig_cluster_ops says. */
enum rig_rc rig_pg_cluster_start(struct rig_pg_cluster *cluster, struct rig_err *err);
void rig_pg_cluster_stop(struct rig_pg_cluster *cluster);
void rig_pg_cluster_kill_now(struct rig_pg_cluster *cluster);
enum rig_rc rig_pg_cluster_status(struct rig_pg_cluster *cluster, struct rig_node_status *status, struct rig_err *err);

/* Where it listens; valid after start. */
const struct rig_pg_endpoint *rig_pg_cluster_endpoint(const struct rig_pg_cluster *cluster);
/* Fills what the plan leaves open: user, database and password of the superuser. */
void rig_pg_cluster_credentials(const struct rig_pg_cluster *cluster, struct rig_pg_target *target);

/* Finds the folder of initdb and postgres: as asked for, the newest below /usr/lib/postgresql, or in PATH. */
enum rig_rc rig_pg_binaries_find(const char *asked, char *folder, size_t size, struct rig_err *err);

#endif
