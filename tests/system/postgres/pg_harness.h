/*
 * Shared by the live tests of the postgres driver: a core for the driver, a server started by the driver's own cluster
 * operations, sessions, and SQL beside the driver.
 *
 * Without PostgreSQL's binaries a test reports that and ends with status 77, which ctest shows as skipped.
 */
#ifndef RIG_TESTS_SYSTEM_POSTGRES_PG_HARNESS_H
#define RIG_TESTS_SYSTEM_POSTGRES_PG_HARNESS_H

#include "tests/unit/cmocka_first.h"

#include <libpq-fe.h>
#include <pthread.h>

#include "drivers/driver.h"
#include "drivers/postgres/pg_options.h"

enum { OPS_MOST = 64 };

/* Called while a transaction is held open. */
typedef void (*hold_function)(void *context);

struct harness {
    char folder[256]; /* removed at the end */
    struct rig_pg_options options;
    struct rig_run_env env;
    char run_name[32];
    void *run;
    bool started;
};

/* One session with the transaction it runs. */
struct client {
    struct harness *harness;
    void *session;
    bool open;
    struct rig_transaction transaction;
    struct rig_op ops[OPS_MOST];
    struct rig_read reads[OPS_MOST];
    hold_function hold;
    void *hold_context;
    pthread_t thread;
    enum rig_outcome outcome; /* of client_start() */
};

/* Ends the program with status 77 when no server can be started here. */
void harness_require_postgres(void);
/* The options' defaults, as the table states them. */
void harness_defaults(struct rig_pg_options *options);
/* Begins a run, up to and including the driver's init. */
void harness_begin(struct harness *harness, const struct rig_pg_options *options, enum rig_workload workload,
                   uint32_t client_count);
/* Starts a server as `options` say and creates the tables; fails the test on an error. */
void harness_start(struct harness *harness, const struct rig_pg_options *options, enum rig_workload workload,
                   uint32_t client_count);
/* The same for a second run against the server of another harness. */
void harness_attach(struct harness *harness, const struct harness *server, const struct rig_pg_options *options);
/* Without creating tables, for servers that do not answer. */
void harness_attach_without_tables(struct harness *harness, const struct harness *server,
                                   const struct rig_pg_options *options);
void harness_stop(struct harness *harness);
/* One server for all tests of a program, with the options' defaults: set-up and tear-down of cmocka's group. */
extern struct harness harness_server;
int harness_start_server(void **state);
int harness_stop_server(void **state);
/* The core that the runs use. */
const struct rig_core *harness_core(void);
/* Makes the core's stopping() answer true. */
void harness_set_stopping(bool stopping);

enum rig_rc client_try_open(struct client *client, struct harness *harness, struct rig_err *err);
void client_open(struct client *client, struct harness *harness);
void client_close(struct client *client);
/* A fresh transaction without operations. */
void client_begin(struct client *client);
void client_append(struct client *client, int64_t key, int64_t value);
void client_read(struct client *client, int64_t key);
/* Calls `hold` before operation `before_op`. */
void client_hold(struct client *client, uint32_t before_op, hold_function hold, void *context);
enum rig_outcome client_run(struct client *client);
/* Runs the transaction on a thread of its own; client_join() waits for its outcome. */
void client_start(struct client *client);
enum rig_outcome client_join(struct client *client);
/* The server process of the session's main connection. */
int client_backend(const struct client *client);
/* The session's main connection; out of pipeline mode it takes SQL between transactions. */
PGconn *client_connection(const struct client *client);
/* The read of operation `op` as text, "nil", "unknown" or "1,2,3"; static storage. */
const char *client_seen(const struct client *client, uint32_t op);

/* A connection of the test's own. */
PGconn *sql_connect(const struct harness *harness);
/* Runs SQL and fails the test on an error; the first value of the result as text, "" for none; static storage. */
const char *sql(PGconn *pg, const char *format, ...) RIG_PRINTF(2, 3);
/* Repeats a query until it answers `expected`; fails the test after 20 s. */
void sql_await(PGconn *pg, const char *query, const char *expected);
/* The list of a key as a text without the driver, "nil" for none. */
const char *sql_list(PGconn *pg, int64_t key);

/* Waits until the server process waits for `event` ("Lock" types by their wait_event, "SyncRep", ...). */
void sql_await_wait(PGconn *pg, int backend, const char *event);
/*
 * COMMIT waits for a standby that does not exist, in sessions that are opened from now on; or no longer. The connection
 * itself does not wait.
 */
void sql_commit_waits(const struct harness *harness, PGconn *pg, bool waits);

/* Where a client reaches the first server of a run. */
struct rig_sql_endpoint server_endpoint(const struct harness *harness);

const char *outcome_name(enum rig_outcome outcome);
/* Fails the test, with all details of the transaction, unless outcome and code are these. */
void expect_outcome(const struct client *client, enum rig_outcome got, enum rig_outcome expected, const char *code);

#endif
