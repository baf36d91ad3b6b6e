/*
 * One connection on libpq, used without blocking: every wait is bounded by a deadline and ends when the session is
 * interrupted.
 *
 * Names of hosts are resolved in drivers/sql/sql_wait.h, because libpq would wait for the resolver without a deadline.
 *
 * Threads: one a connection. A waiter is shared with the threads that interrupt it.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_CONNECTION_H
#define RIG_DRIVERS_POSTGRES_PG_CONNECTION_H

#include <libpq-fe.h>

#include "drivers/driver.h"
#include "drivers/postgres/pg_options.h"
#include "drivers/sql/sql_client.h"

/* The server to connect to, and the account. Texts that are NULL or empty are left to libpq. Borrowed. */
struct rig_pg_target {
    const struct rig_sql_endpoint *endpoint;
    const char *user;
    const char *dbname;
    const char *password;
    const char *conninfo;
    const struct rig_tls_options *tls; /* NULL: what conninfo and libpq's defaults give */
    const char *application;           /* its name in pg_stat_activity; NULL: "rig" */
};

#define RIG_PG_ANSWER_MOST (INT64_C(64) << 20)

struct rig_pg_connection {
    struct rig_sql_connection sql; /* .refuses_writes: a standby; .backend: the server's process number */
    PGconn *pg;
    struct rig_sql_waiter *waiter;
    /* The last notice of class 57P: why the server ends the session, sent before the connection breaks. */
    char farewell_code[6];
    char farewell_text[RIG_ERROR_TEXT_BYTES];
    bool awaiting_commit; /* the next result is COMMIT's: a warning from now on belongs to it */
    bool commit_warned;
    bool unasked; /* a message came that answers nothing */
    char warning_text[RIG_ERROR_TEXT_BYTES];
    int64_t answer_bytes; /* bytes received for the transaction or query, at least; libpq holds a row whole */
    int64_t value_bytes;  /* of the values in its results */
    int64_t answer_most;  /* 0: RIG_PG_ANSWER_MOST */
    bool counts_errors;   /* of the session, which the server logs up to a number (pg_session.h) */
    uint32_t errors;      /* number of the session's errors */
    char query_code[6];   /* SQLSTATE of the last rig_pg_query() that failed; empty: it gave none */
};

/* Leaves the connection safe for rig_pg_disconnect() also on failure. RIG_E_CLUSTER, naming the server. */
enum rig_rc rig_pg_connect(struct rig_pg_connection *connection, const struct rig_pg_target *target,
                           struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err);
void rig_pg_disconnect(struct rig_pg_connection *connection);

/* Sends libpq's buffered data. For a connection that breaks, rig_pg_next() reads the reason. */
const char *rig_pg_flush(struct rig_pg_connection *connection, int64_t deadline_ns);
/*
 * The next result, as from PQgetResult() but bounded; the caller clears it. Returns NULL, RIG_SQL_TIMEOUT,
 * RIG_SQL_INTERRUPTED, RIG_PG_TOO_LARGE, or RIG_SQL_PROTOCOL when the server begins a COPY. On a broken connection
 * `*result` is an error without SQLSTATE, or NULL.
 */
const char *rig_pg_next(struct rig_pg_connection *connection, int64_t deadline_ns, PGresult **result);

/* Whether the server sent more than the answers. Takes what has arrived, without waiting; when all is answered. */
bool rig_pg_has_unasked(struct rig_pg_connection *connection);

/*
 * Runs `sql` (one or more statements) by the simple protocol and waits for its end. `*result` (NULL: not wanted) is the
 * first one, given to the caller. RIG_E_CLUSTER with the server's message.
 */
enum rig_rc rig_pg_query(struct rig_pg_connection *connection, const char *sql, int64_t deadline_ns, PGresult **result,
                         struct rig_err *err);

/*
 * Whether the server is a standby. A server that cannot report this is none: another database may speak PostgreSQL's
 * protocol. Out of pipeline mode.
 */
bool rig_pg_in_recovery(struct rig_pg_connection *connection, int64_t deadline_ns);

/* Copies a message as one line, cut to fit, without libpq's guesses at the cause. */
void rig_pg_one_line(char *line, size_t size, const char *message);

#endif
