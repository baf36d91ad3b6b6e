/*
 * The servers of a run (drivers/sql/sql_servers.h): addresses, accounts, roles and status. Writers expect rig's own
 * primary; among given hosts each client expects its own server.
 *
 * Threads: any; the servers are constant once rig's own are started, and the primary is determined by a request.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SERVERS_H
#define RIG_DRIVERS_POSTGRES_PG_SERVERS_H

#include "drivers/postgres/pg_cluster.h"
#include "drivers/sql/sql_servers.h"

struct rig_pg_servers {
    const struct rig_run_env *env;
    const struct rig_pg_options *options;
    struct rig_pg_cluster *cluster; /* borrowed; used when no hosts are given */
    struct rig_sql_hosts hosts;
};

/* Connects to one server for a client; a callback, since it also sets the session up. */
typedef enum rig_rc (*rig_pg_open_function)(void *context, struct rig_pg_connection *connection, uint32_t server,
                                            int64_t deadline_ns, struct rig_err *err);

enum rig_rc rig_pg_servers_init(struct rig_pg_servers *servers, const struct rig_run_env *env,
                                const struct rig_pg_options *options, struct rig_pg_cluster *cluster,
                                struct rig_err *err);
void rig_pg_servers_done(struct rig_pg_servers *servers);

uint32_t rig_pg_servers_count(const struct rig_pg_servers *servers);
/* The server to connect to and the account; `endpoint` is filled, and borrowed by `target`. */
enum rig_rc rig_pg_servers_target(const struct rig_pg_servers *servers, uint32_t server,
                                  struct rig_sql_endpoint *endpoint, struct rig_pg_target *target, struct rig_err *err);
/* Whether rig started the servers, and the account is its superuser there. */
bool rig_pg_servers_are_own(const struct rig_pg_servers *servers, const struct rig_pg_target *target);

/* The server's name in reports: "pg-1" for rig's own nodes, the plan's text for given hosts. */
const char *rig_pg_servers_name(const struct rig_pg_servers *servers, uint32_t server);

/*
 * Opens a connection to a server that takes writes, by `open`; `*server` is its number. At most connect-timeout, which
 * all tried servers share. RIG_E_CLUSTER when there is none; the connection is disconnected then.
 */
enum rig_rc rig_pg_servers_open_writer(const struct rig_pg_servers *servers, uint32_t client, rig_pg_open_function open,
                                       void *context, struct rig_pg_connection *connection, uint32_t *server,
                                       struct rig_err *err);
/*
 * The same for transactions that only read, as reads-from selects. `writer` is the server for the client's writes: when
 * it also answers the reads, `*server` is `writer` and nothing is opened.
 */
enum rig_rc rig_pg_servers_open_reader(const struct rig_pg_servers *servers, uint32_t client, uint32_t writer,
                                       rig_pg_open_function open, void *context, struct rig_pg_connection *connection,
                                       uint32_t *server, struct rig_err *err);

/* See rig_cluster_ops.address. */
enum rig_rc rig_pg_servers_address(const struct rig_pg_servers *servers, uint32_t server,
                                   struct rig_node_address *address, struct rig_err *err);
/* See rig_cluster_ops.status; also for given hosts. */
enum rig_rc rig_pg_servers_status(const struct rig_pg_servers *servers, uint32_t server, struct rig_node_status *status,
                                  struct rig_err *err);

#endif
