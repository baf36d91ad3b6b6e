/*
 * The run and turn objects; the connections of sessions, and errors of transactions.
 *
 * A transaction is a sequence of requests (my_batch.h), which fills the answer of the transaction and leaves its
 * outcome to the table of my_outcome.h.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_SESSION_H
#define RIG_DRIVERS_MYSQL_MY_SESSION_H

#include "base/buf.h"
#include "drivers/mysql/my_certificate.h"
#include "drivers/mysql/my_cluster.h"
#include "drivers/mysql/my_outcome.h"
#include "drivers/mysql/my_schema.h"
#include "drivers/sql/sql_session.h"

enum { RIG_MY_REQUEST_MOST = 8 << 20, RIG_MY_DEFAULT_PORT = 3306 };

struct rig_my_run {
    struct rig_sql_run sql;
    const struct rig_my_options *options;
    struct rig_my_schema schema;
    struct rig_my_certificate certificate;
    struct rig_my_views views;
    struct rig_my_cluster cluster;
    atomic_ullong interrupted; /* statements of clients that were answered with error 1317 */
};

struct rig_my_turn {
    struct rig_sql_turn sql; /* .may_commit: more than the beginning was sent */
    bool ending;             /* XA END and XA PREPARE are on their way: the server's status means nothing */
    bool has_last;           /* of views: `last` is the number of the last commit before the own one */
    uint64_t last;
};

static inline struct rig_my_run *rig_my_run_of(const struct rig_my_turn *turn)
{
    return (struct rig_my_run *)turn->sql.session->run;
}

/* Its waits end with the turn's deadline, which holds move. */
static inline struct rig_my_connection *rig_my_connection_of(const struct rig_my_turn *turn)
{
    struct rig_my_connection *connection = (struct rig_my_connection *)turn->sql.connection;
    connection->deadline_ns = turn->sql.deadline_ns;
    return connection;
}

extern const struct rig_sql_client rig_my_client;

/* Whether the server waits for a request. False: it sent more than the answers, and the turn lost step. */
bool rig_my_turn_check_quiet(struct rig_my_turn *turn);
/* Whether the server reports an open transaction with its last answer. False: the turn lost step, because the server
 * may have ended the transaction with an error that came for another answer, and then commits each statement by itself.
 * */
bool rig_my_turn_check_open(struct rig_my_turn *turn);
/* Whether an answer that is no error has rows where the statement gives some. False: the turn lost step. */
bool rig_my_turn_check_form(struct rig_my_turn *turn, const char *sql, bool has_rows);
/*
 * rig_sql_turn_fail() from an answer that is an error (`number` is not 0), a wait that ended early, or a connection
 * that broke: `answered` is the phase of the statement, turn->sql.phase that of the sending.
 */
void rig_my_turn_fail_answer(struct rig_my_turn *turn, enum rig_phase answered, unsigned number, const char *sqlstate,
                             const char *text);
/* The same from libmariadb's error of the connection. */
void rig_my_turn_fail_request(struct rig_my_turn *turn, enum rig_phase answered);

#endif
