/*
 * Hooks of a driver's cluster (rig_cluster_ops) that are the same for each SQL database. `run` is a struct rig_sql_run.
 *
 * Threads: as the hooks of the same names.
 */
#ifndef RIG_DRIVERS_SQL_SQL_CLUSTER_H
#define RIG_DRIVERS_SQL_SQL_CLUSTER_H

#include "drivers/sql/sql_client.h"

/* No hosts are given. */
bool rig_sql_cluster_wanted(const void *options);
uint32_t rig_sql_cluster_node_count(const void *run);
enum rig_rc rig_sql_cluster_status(void *run, uint32_t node, struct rig_node_status *status, struct rig_err *err);
enum rig_rc rig_sql_cluster_address(void *run, uint32_t node, struct rig_node_address *address, struct rig_err *err);
void rig_sql_cluster_kill_now(void *run);
uint32_t rig_sql_cluster_processes(void *run, uint32_t node, pid_t *pids, uint32_t capacity);
const char *rig_sql_cluster_data_dir(const void *run, uint32_t node);
enum rig_rc rig_sql_cluster_set_environment(void *run, uint32_t node, const char *name, const char *value,
                                            struct rig_err *err);

/* The account with which clients of another rig reach the servers of the local cluster. Borrowed. */
struct rig_sql_access {
    const char *user, *password, *dbname; /* NULL or empty: as the plan has it */
    bool all_write;                       /* each server takes writes; else the primary alone */
};
/* Tells the settings of a plan for the started servers, as rig_cluster_ops.access(). */
enum rig_rc rig_sql_cluster_tell_access(void *run, const struct rig_sql_access *access,
                                        void (*tell)(void *context, const char *setting), void *context,
                                        struct rig_err *err);

/* A node of the local cluster, also before the start. */
struct rig_local_node *rig_sql_cluster_node(const struct rig_sql_cluster *cluster, uint32_t index);

#endif
