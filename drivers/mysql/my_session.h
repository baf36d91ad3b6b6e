/*
 * The run and session objects: a session is one client's connection to the server that takes its writes, another one
 * when a different server answers its reads, a third to a node that a read requests, and the state for running one
 * transaction after the other.
 *
 * A transaction is a sequence of requests (my_batch.h), or a program (my_rows.h); both fill the answer of the transaction
 * and leave its outcome to the table of my_outcome.h.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_SESSION_H
#define RIG_DRIVERS_MYSQL_MY_SESSION_H

#include "base/buf.h"
#include "base/rng.h"
#include "drivers/driver.h"
#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_outcome.h"
#include "drivers/mysql/my_certificate.h"
#include "drivers/mysql/my_schema.h"
#include "drivers/mysql/my_servers.h"
#include "drivers/mysql/my_two_phase.h"

enum { RIG_MY_REQUEST_MOST = 8 << 20 };

struct rig_my_run {
    const struct rig_run_env *env;
    const struct rig_my_options *options;
    struct rig_my_schema schema;
    struct rig_my_certificate certificate;
    struct rig_my_views views;
    struct rig_wakes wakes;
    struct rig_my_cluster cluster;
    struct rig_my_servers servers;
    struct rig_my_two_phase two_phase;
    char server_version[96];
    uint64_t reminder;         /* of the run's tables on given hosts; 0: none */
    bool created;              /* the server was asked to make the tables */
    atomic_ullong interrupted; /* statements of clients that were answered with error 1317 */
};

struct rig_my_session {
    struct rig_my_run *run;
    uint32_t client;
    struct rig_rng rng; /* of shares of transactions */
    struct rig_sql_waiter waiter;
    struct rig_my_connection main;
    struct rig_my_connection reader; /* .my NULL when the main one reads as well */
    struct rig_my_connection visit;  /* to the node requested last; .my NULL: none */
    uint32_t main_server;
    uint32_t reader_server;
    uint32_t visit_server;
    struct rig_buf sql;  /* of a request */
    struct rig_buf cell; /* of a prepared statement's answer */
    uint64_t last_gtid;  /* of the main connection: its last commit that changed anything, of views */
};

/* A transaction in progress: the state that its requests share. */
struct rig_my_turn {
    struct rig_my_session *session;
    struct rig_my_connection *connection;
    struct rig_transaction *transaction;
    int64_t deadline_ns;
    enum rig_phase phase; /* the phase that the sending has reached, or that of the statement that failed */
    bool failed;          /* the transaction has an error_code, answered or seen in `phase` */
    bool executes;        /* more than the beginning of the transaction was sent */
    bool committed;       /* COMMIT was acknowledged: only an answer that contradicts it changes the outcome */
    bool session_lost;
    char xid[RIG_MY_XID_BYTES]; /* of a commit in two phases; empty: it has one */
    bool ending;                /* XA END and XA PREPARE are on their way: the server's status means nothing, and */
    bool prepared;              /*   they were acknowledged */
    char sqlstate[6];
    bool has_last; /* of views: `last` is the number of the last commit before the own one */
    uint64_t last;
};

/* The driver's hooks: `session` is a struct rig_my_session, `run` a struct rig_my_run. */
enum rig_rc rig_my_session_open(void *session, void *run, uint32_t client, struct rig_err *err);
enum rig_outcome rig_my_session_transact(void *session, struct rig_transaction *transaction);
enum rig_outcome rig_my_session_run_program(void *session, struct rig_transaction *transaction,
                                            struct rig_row_program *program);
void rig_my_session_interrupt(void *session);
void rig_my_session_close(void *session, bool last);

/* Records the first error; later ones are consequences. `text` may be NULL: the reason of the table. */
void rig_my_turn_fail(struct rig_my_turn *turn, enum rig_phase phase, const char *code, const char *text);
/* The answers do not fit the statements: no answer of the transaction proves anything, and the session ends. The server
 * may have ended the transaction with an error that came for another answer, and then commits each statement by itself. */
void rig_my_turn_lose_step(struct rig_my_turn *turn, const char *text);
/* Whether the server waits for a request. False: it sent more than the answers, and the turn lost step. */
bool rig_my_turn_check_quiet(struct rig_my_turn *turn);
/* Whether the server reports an open transaction with its last answer. False: the turn lost step. */
bool rig_my_turn_check_open(struct rig_my_turn *turn);
/* Whether an answer that is no error has rows where the statement gives some. False: the turn lost step. */
bool rig_my_turn_check_form(struct rig_my_turn *turn, const char *sql, bool has_rows);
/*
 * rig_my_turn_fail() from an answer that is an error (`number` is not 0), a wait that ended early, or a connection that broke:
 * `answered` is the phase of the statement, turn->phase that of the sending.
 */
void rig_my_turn_fail_answer(struct rig_my_turn *turn, enum rig_phase answered, unsigned number, const char *sqlstate,
                             const char *text);
/* The same from libmariadb's error of the connection. */
void rig_my_turn_fail_request(struct rig_my_turn *turn, enum rig_phase answered);

#endif
