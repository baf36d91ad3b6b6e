/*
 * The server of a run: one node, whose processes are those of its sessions.
 *
 * Its program, rig-sqlite-server, is beside the driver. The database is `rig.db` in the node's data folder.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_CLUSTER_H
#define RIG_DRIVERS_SQLITE_SQLITE_CLUSTER_H

#include "drivers/sql/sql_client.h"
#include "drivers/sqlite/sqlite_driver.h"
#include "drivers/sqlite/sqlite_link.h"

struct rig_sqlite_cluster {
    struct rig_sql_cluster sql;
    const struct rig_sqlite_options *options;
    struct rig_local_site site;
    struct rig_local_node node;
    char program[4096];
    char database[RIG_LOCAL_PATH_BYTES + 16];
    char socket[RIG_LOCAL_PATH_BYTES];
};

void rig_sqlite_cluster_init(struct rig_sqlite_cluster *cluster, const struct rig_run_env *env);
/* Takes a zeroed one. */
void rig_sqlite_cluster_done(struct rig_sqlite_cluster *cluster);

/* The folder of an embedded database; there is no server. RIG_E_CLUSTER. */
enum rig_rc rig_sqlite_cluster_embed(struct rig_sqlite_cluster *cluster, struct rig_err *err);

static inline struct rig_sqlite_cluster *rig_sqlite_cluster_of(const void *run)
{
    return (struct rig_sqlite_cluster *)((const struct rig_sql_run *)run)->cluster;
}

extern const struct rig_cluster_ops rig_sqlite_cluster_ops;

extern const struct rig_sql_nodes rig_sqlite_nodes;

/* Ended by NULL. The `run` of their site is a struct rig_sqlite_run. */
extern const struct rig_fault *const rig_sqlite_faults[];

#endif
