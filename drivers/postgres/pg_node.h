/*
 * One server of a local cluster: its data, its process, and the driver's own way to ask it.
 *
 * Whether it is a standby is a fact of its data folder (the file standby.signal, which PostgreSQL removes when it is
 * promoted); here is no second opinion on that.
 *
 * Threads: one at a time changes a node (main, then the nemesis's); status, port and pid may be asked from any.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_NODE_H
#define RIG_DRIVERS_POSTGRES_PG_NODE_H

#include <stdatomic.h>

#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_site.h"

enum { RIG_PG_VARIABLES_MOST = 16, RIG_PG_ANSWER_BYTES = 256 };

struct rig_pg_node {
    struct rig_pg_site *site;
    uint32_t index;
    char name[16]; /* "pg-1"; also what it calls itself to the primary */
    char log_name[24];
    char data[RIG_PG_FILE_BYTES];
    atomic_int port; /* of TCP, and in the socket's name; 0: none yet */
    struct rig_child server;
    char *variables[RIG_PG_VARIABLES_MOST + 1]; /* owned: "NAME=value" of its environment */
};

/* Zeroed before; variables that were set since stay. */
void rig_pg_node_init(struct rig_pg_node *node, struct rig_pg_site *site, uint32_t index);
/* Of a node that is down. */
void rig_pg_node_done(struct rig_pg_node *node);

/* Starts it over its data and waits until it answers. Of one that runs: RIG_OK. `always`: also while the run ends. */
enum rig_rc rig_pg_node_start(struct rig_pg_node *node, bool always, int64_t deadline_ns, struct rig_err *err);
/* Ends it, and waits until each of its processes is gone and reaped. Of one that is down: RIG_OK. */
enum rig_rc rig_pg_node_stop(struct rig_pg_node *node, enum rig_node_end how, struct rig_err *err);
/* Only tells it to end, at once; for rig_pg_node_stop() to follow, or in a signal handler. Async-signal-safe. */
void rig_pg_node_begin_stop(const struct rig_pg_node *node);
/* Whether its main process runs. */
bool rig_pg_node_runs(const struct rig_pg_node *node);
/* NULL removes the variable. */
enum rig_rc rig_pg_node_set_variable(struct rig_pg_node *node, const char *name, const char *value,
                                     struct rig_err *err);

/* Whether its data is a standby's. */
bool rig_pg_node_is_standby(const struct rig_pg_node *node);
enum rig_rc rig_pg_node_make_standby(const struct rig_pg_node *node, struct rig_err *err);

/* Its private socket, which no fault of the network reaches. */
void rig_pg_node_socket(const struct rig_pg_node *node, struct rig_pg_endpoint *endpoint);
/* Connects as superuser by the socket; disconnect it in any case. */
enum rig_rc rig_pg_node_connect(const struct rig_pg_node *node, struct rig_pg_connection *connection,
                                struct rig_pg_waiter *waiter, int64_t deadline_ns, struct rig_err *err);
/* Runs `sql` on a connection of its own; `answer` (may be NULL) is the first value, "" for none or a null. */
enum rig_rc rig_pg_node_ask(const struct rig_pg_node *node, const char *sql, int64_t timeout_ns,
                            char answer[RIG_PG_ANSWER_BYTES], struct rig_err *err);

#endif
