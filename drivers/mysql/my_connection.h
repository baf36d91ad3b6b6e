/*
 * One connection on libmariadb, used without blocking: every wait is bounded by a deadline and ends when the session is
 * interrupted.
 *
 * Names of hosts are resolved in drivers/sql/sql_wait.h, because libmariadb would wait for the resolver without a
 * deadline. libmariadb's functions that wait come in pairs, _start and _cont. When a wait ends early, the socket is
 * shut down and the function runs to its end on it: so nothing of it is left behind, and nothing more is sent.
 *
 * Threads: one a connection. A waiter is shared with the threads that interrupt it.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_CONNECTION_H
#define RIG_DRIVERS_MYSQL_MY_CONNECTION_H

#include <mysql.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/tls_options.h"
#include "drivers/sql/sql_client.h"

/* Before the first connection with TLS, while no other thread uses libmariadb. RIG_E_DRIVER. */
enum rig_rc rig_my_tls_watch(struct rig_err *err);

enum { RIG_MY_ANSWER_BYTES = 256 };

/* The server to connect to, and the account. Texts that are NULL are left to libmariadb. Borrowed. */
struct rig_my_target {
    const struct rig_sql_endpoint *endpoint;
    const char *user;
    const char *password;
    const struct rig_tls_options *tls; /* NULL: without */
    bool found_rows;          /* an update reports the rows that it found, also those that it left as they were */
    int64_t max_answer_bytes; /* 0: libmariadb's own limit */
};

struct rig_my_connection {
    struct rig_sql_connection sql;
    MYSQL *my; /* NULL: none */
    struct rig_sql_waiter *waiter;
    int64_t deadline_ns;     /* of the waits from now on */
    const char *reason;      /* why a wait ended early (RIG_SQL_TIMEOUT, ...): the connection is shut down; or NULL */
    MYSQL_STMT **statements; /* owned: prepared on this connection, by number; NULL: not yet */
    uint32_t statement_count;
    struct rig_buf request; /* of a session */
    struct rig_buf cell;    /* of a prepared statement's answer */
    uint64_t last_gtid;     /* the last commit on it that changed anything, of views */
};

/* Leaves the connection safe for rig_my_disconnect() also on failure. RIG_E_CLUSTER, naming the server. */
enum rig_rc rig_my_connect(struct rig_my_connection *connection, const struct rig_my_target *target,
                           struct rig_sql_waiter *waiter, int64_t deadline_ns, struct rig_err *err);
/* Without waiting for the server. */
void rig_my_disconnect(struct rig_my_connection *connection);

/* Whether the server has sent more than the answers; when all is answered. Does not wait. */
bool rig_my_has_unasked(const struct rig_my_connection *connection);
/* Sends one request and waits for the answer to its first statement; false: it is an error, or `reason` was set. */
bool rig_my_send(struct rig_my_connection *connection, const char *sql, size_t length);
/* Waits for the next statement's answer; false as before, and when there is none. */
bool rig_my_next(struct rig_my_connection *connection);
/* The rows of the answer, given to the caller; NULL: the statement gives none, or the connection broke (false). */
bool rig_my_rows(struct rig_my_connection *connection, MYSQL_RES **result);
/* The same for prepared statement `number` of `count`, prepared from `sql` at its first use. Its rows are stored; free
 * them by mysql_stmt_free_result(). NULL: an error, or `reason` was set; `*failed` may have the statement with the
 * error. */
MYSQL_STMT *rig_my_execute(struct rig_my_connection *connection, uint32_t number, uint32_t count, const char *sql,
                           MYSQL_BIND *values, MYSQL_STMT **failed);

/*
 * Runs `sql`, one or more statements, to its end; `take` gets the rows of each, or NULL of one that gives none, and
 * does not free them. False: the one after those that were taken failed.
 */
bool rig_my_each_answer(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                        void (*take)(void *context, MYSQL_RES *result), void *context);
/* Runs `sql` (one or more statements) to its end. `answer` (may be NULL) is the first value of the first row that any
 * of them gave, "" for none or a null. RIG_E_CLUSTER with the server's message. */
enum rig_rc rig_my_query(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                         char answer[RIG_MY_ANSWER_BYTES], struct rig_err *err);
/* The same, and calls `tell` for each row of the last statement that gives rows. */
enum rig_rc rig_my_query_rows(struct rig_my_connection *connection, const char *sql, int64_t deadline_ns,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err);
/* Whether the error number is one that the client itself, or a proxy in its place, gives. */
bool rig_my_is_client_error(unsigned number);

#endif
