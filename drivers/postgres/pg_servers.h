/*
 * The servers of a run as a client sees them: rig's own nodes, or the given hosts and behind them the read-only hosts;
 * who of them takes writes now, and who answers reads.
 *
 * Whoever takes writes is found anew at each connecting: first who should (rig's own primary; of given hosts each
 * client's in turn), then the others; one that is in recovery is passed over. So clients find the primary again after a
 * failover, and given hosts that all take writes are used evenly.
 *
 * Threads: any; the servers are constant once rig's own are started, and who is the primary is asked.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SERVERS_H
#define RIG_DRIVERS_POSTGRES_PG_SERVERS_H

#include "drivers/postgres/pg_cluster.h"

struct rig_pg_servers {
    const struct rig_run_env *env;
    const struct rig_pg_options *options;
    struct rig_pg_cluster *cluster;    /* borrowed; used when no hosts are given */
    struct rig_pg_endpoint *endpoints; /* owned: the hosts, then the read-only hosts */
    uint32_t host_count;
    uint32_t read_only_host_count;
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
                                  struct rig_pg_endpoint *endpoint, struct rig_pg_target *target, struct rig_err *err);

/* The server's name in reports: of rig's own nodes "pg-1", of given hosts what the plan says. */
const char *rig_pg_servers_name(const struct rig_pg_servers *servers, uint32_t server);

/*
 * Opens a connection to a server that takes writes, by `open`; `*server` says which. At most connect-timeout, which the
 * servers that are tried share. RIG_E_CLUSTER when there is none; the connection is disconnected then.
 */
enum rig_rc rig_pg_servers_open_writer(const struct rig_pg_servers *servers, uint32_t client, rig_pg_open_function open,
                                       void *context, struct rig_pg_connection *connection, uint32_t *server,
                                       struct rig_err *err);
/*
 * The same for transactions that only read, as reads-from says. `writer` is where the client writes: when that is the
 * one that reads as well, `*server` is `writer` and nothing is opened.
 */
enum rig_rc rig_pg_servers_open_reader(const struct rig_pg_servers *servers, uint32_t client, uint32_t writer,
                                       rig_pg_open_function open, void *context, struct rig_pg_connection *connection,
                                       uint32_t *server, struct rig_err *err);

/* As rig_cluster_ops.address says. */
enum rig_rc rig_pg_servers_address(const struct rig_pg_servers *servers, uint32_t server,
                                   struct rig_node_address *address, struct rig_err *err);
/* As rig_cluster_ops.status says, also of given hosts. */
enum rig_rc rig_pg_servers_status(const struct rig_pg_servers *servers, uint32_t server, struct rig_node_status *status,
                                  struct rig_err *err);

#endif
