/*
 * One server of a local cluster: the PostgreSQL parts beyond drivers/local/local_site.h, and the driver's own requests
 * to it.
 *
 * Its data folder decides whether it is a standby (the file standby.signal, which PostgreSQL removes when it is
 * promoted); no other state records this.
 *
 * Threads: one at a time changes a node (main, then the nemesis's); status, port and pid may be read from any.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_NODE_H
#define RIG_DRIVERS_POSTGRES_PG_NODE_H

#include <stdatomic.h>

#include "drivers/local/local_site.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_site.h"

enum { RIG_PG_ANSWER_BYTES = 256 };

struct rig_pg_node {
    struct rig_local_node local; /* "pg-1"; also its application name on the primary */
    struct rig_pg_site *site;
    uint32_t index;
    atomic_int port; /* of TCP, and in the socket's name; 0: none yet */
    bool aside;      /* only its private socket is open, with a number that no client knows */
};

/* Zeroed before; variables that were set since stay. */
void rig_pg_node_init(struct rig_pg_node *node, struct rig_pg_site *site, uint32_t index);
/* A server over the data of a node that is down, for rig's own requests. */
void rig_pg_node_init_aside(struct rig_pg_node *aside, const struct rig_pg_node *node);

/* Starts it over its data and waits until it answers. RIG_OK when it runs. `always`: also while the run ends. */
enum rig_rc rig_pg_node_start(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err);
/* As rig_local_node_stop(), and removes the shared memory of a killed server. */
enum rig_rc rig_pg_node_stop(struct rig_pg_node *node, enum rig_node_end how, struct rig_err *err);
/* Whether its data are a standby's. */
bool rig_pg_node_is_standby(const struct rig_pg_node *node);
enum rig_rc rig_pg_node_make_standby(const struct rig_pg_node *node, struct rig_err *err);

/* Its private socket, which no fault of the network reaches. */
void rig_pg_node_socket(const struct rig_pg_node *node, struct rig_sql_endpoint *endpoint);
/* Connects as superuser by the socket; disconnect it in any case. */
enum rig_rc rig_pg_node_connect(const struct rig_pg_node *node, struct rig_pg_connection *connection,
                                struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err);
/* Runs `sql` on a connection of its own; `answer` (may be NULL) is the first value, "" for none or a null. */
enum rig_rc rig_pg_node_ask(const struct rig_pg_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err);

#endif
