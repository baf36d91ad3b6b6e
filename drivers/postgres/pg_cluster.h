/*
 * The local cluster: PostgreSQL servers that rig creates, starts, monitors, stops, restores and removes. One primary
 * and any number of streaming standbys, pg-1 to pg-N; pg-1 begins as the primary.
 *
 * All begin as copies of one data folder that has never run (drivers/local/local_template.h), so that the cluster is up
 * in about 0.3 s a node without a base backup. Their common parts are in pg_site.h, one server in pg_node.h, roles in
 * pg_replication.h. The servers' logs go to pg-N.log in the run's folder.
 *
 * Threads: start and stop on the main thread, changes of nodes on the nemesis's, one call at a time; status, endpoints
 * and the primary's number from any; kill_now also in a signal handler.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CLUSTER_H
#define RIG_DRIVERS_POSTGRES_PG_CLUSTER_H

#include "drivers/postgres/pg_node.h"
#include "drivers/postgres/pg_replication.h"
#include "drivers/postgres/pg_site.h"
#include "drivers/sql/sql_client.h"

/* A certificate follows changes of roles (pg_certificate.h); called by the thread that makes them. `promoted` NULL:
 * none. */
struct rig_pg_role_hooks {
    void *context;
    /* The node could take writes, and no client is let to it yet. */
    void (*promoted)(void *context, const struct rig_pg_node *node, const struct rig_pg_line *line);
    /* Whether a former primary has data that are to be read before they are replaced. */
    bool (*wanted)(void *context, uint32_t node);
    /* Reads them. `server` runs with these data where no client finds it; NULL: it could not be started, for a reason.
     * */
    void (*read_former)(void *context, uint32_t node, const struct rig_pg_node *server, const char *failure);
};

struct rig_pg_cluster {
    struct rig_sql_cluster sql;
    struct rig_pg_site site;
    struct rig_pg_routes routes;
    struct rig_pg_node nodes[RIG_NODES_MOST];
    struct rig_pg_node aside; /* a former primary while its data are read */
    struct rig_pg_role_hooks roles;
    atomic_uint primary;
    atomic_uint held_back;   /* a node that is being promoted, plus 1; 0: none */
    atomic_int timeline;     /* that the primary writes */
    struct rig_pg_line line; /* the same and more; for changes of roles: main, then the nemesis's thread */
};

void rig_pg_cluster_init(struct rig_pg_cluster *cluster, const struct rig_run_env *env,
                         const struct rig_pg_options *options);
/* Stops all servers that still run. */
void rig_pg_cluster_done(struct rig_pg_cluster *cluster);

static inline struct rig_pg_cluster *rig_pg_cluster_of(const void *run)
{
    return (struct rig_pg_cluster *)((const struct rig_sql_run *)run)->cluster;
}

extern const struct rig_cluster_ops rig_pg_cluster_ops;

/* The primary is the node that was made one last; a node is held back while it is being
 * promoted, and the role hooks were not told. */
extern const struct rig_sql_nodes rig_pg_nodes;

/* Lets the role hooks read the data of a former primary where they still want it; the node is ended for it. */
void rig_pg_cluster_read_former(struct rig_pg_cluster *cluster, uint32_t node);
/* A node's address for clients; valid after start. */
enum rig_rc rig_pg_cluster_endpoint(struct rig_pg_cluster *cluster, uint32_t node, struct rig_sql_endpoint *endpoint,
                                    struct rig_err *err);
/* Fills in the options that the plan leaves open: user, database and password of the superuser. */
void rig_pg_cluster_credentials(const struct rig_pg_cluster *cluster, struct rig_pg_target *target);

#endif
