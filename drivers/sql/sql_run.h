/*
 * The life of a run: its servers, its own connections, its tables on the server, and programs before and after the
 * load.
 *
 * Writers expect rig's own primary; among given hosts, and nodes that all take writes, each client expects its own
 * server.
 *
 * A run makes its tables, and drops only what has its own mark; on servers that rig starts nothing need be dropped. The
 * tables of a killed run stay, and each later run names them.
 *
 * Threads: the main thread; the servers from any, constant once rig's own are started.
 */
#ifndef RIG_DRIVERS_SQL_SQL_RUN_H
#define RIG_DRIVERS_SQL_SQL_RUN_H

#include "drivers/sql/sql_client.h"

enum { RIG_SQL_REMEDY_BYTES = 512, RIG_SQL_SCRIPT_MOST = 16 << 20 };

/* `env` and its options outlive it. Safe for rig_sql_run_done() after a failure, and that on a zeroed one. */
enum rig_rc rig_sql_run_init(struct rig_sql_run *run, const struct rig_sql_client *client,
                             const struct rig_run_env *env, struct rig_sql_cluster *cluster, struct rig_err *err);
void rig_sql_run_done(struct rig_sql_run *run);

/* ---- hooks of the driver; `run` is a struct rig_sql_run ---- */

enum rig_rc rig_sql_run_setup(void *run, struct rig_err *err);
void rig_sql_run_teardown(void *run);
/* Hooks of rig_row_ops. */
enum rig_rc rig_sql_run_load(void *run, uint32_t table, const int64_t *cells, uint32_t row_count, struct rig_err *err);
enum rig_rc rig_sql_run_query(void *run, const char *query, rig_sql_tell tell, void *context, struct rig_err *err);

/* Tells the pairs that `question` gives, of rig_driver.settings; nothing where the server does not answer. */
void rig_sql_run_tell_settings(struct rig_sql_run *run, const char *question,
                               void (*tell)(void *context, const char *name, const char *value), void *context);

/* ---- servers ---- */

/* Whether rig starts them: no hosts are given. */
bool rig_sql_run_is_local(const struct rig_sql_run *run);
/* Also before the start. */
uint32_t rig_sql_run_server_count(const struct rig_sql_run *run);
/* The server's name in reports: "pg-1" for rig's own nodes, the plan's text for given hosts. */
const char *rig_sql_run_server_name(const struct rig_sql_run *run, uint32_t server);

/* Opens a connection to a server, and may set it up. The callee's errors leave the connection safe for `disconnect`. */
typedef enum rig_rc (*rig_sql_opens)(void *context, struct rig_sql_connection *connection, uint32_t server,
                                     int64_t deadline_ns, struct rig_err *err);
struct rig_sql_opening {
    rig_sql_opens open;
    void *context;
    struct rig_sql_connection *connection;
};
/*
 * Opens a connection to a server that takes writes; `*server` is its number. At most connect-timeout, which all tried
 * servers share. RIG_E_CLUSTER when there is none; the connection is disconnected then.
 */
enum rig_rc rig_sql_run_open_writer(struct rig_sql_run *run, uint32_t client, const struct rig_sql_opening *by,
                                    uint32_t *server, struct rig_err *err);
/*
 * The same for transactions that only read, as reads-from selects. `writer` is the server for the client's writes: when
 * it also answers the reads, `*server` is `writer` and nothing is opened.
 */
enum rig_rc rig_sql_run_open_reader(struct rig_sql_run *run, uint32_t client, uint32_t writer,
                                    const struct rig_sql_opening *by, uint32_t *server, struct rig_err *err);

/* ---- the run's own connections ---- */

/* Connects to the server that takes writes. `to_the_end`: also after the run was told to end. Disconnect it in any
 * case. */
enum rig_rc rig_sql_own_connect(struct rig_sql_own *own, struct rig_sql_run *run, bool to_the_end, struct rig_err *err);
/* The same to one server, in any role. */
enum rig_rc rig_sql_own_connect_to(struct rig_sql_own *own, struct rig_sql_run *run, uint32_t server, bool to_the_end,
                                   int64_t timeout_ns, struct rig_err *err);
void rig_sql_own_disconnect(struct rig_sql_own *own);
/* Runs statements on it. */
enum rig_rc rig_sql_own_query(struct rig_sql_own *own, const char *sql, rig_sql_tell tell, void *context,
                              struct rig_err *err);

#endif
