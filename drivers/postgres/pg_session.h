/*
 * The run and session objects: a session is one client's connection to the server that takes its writes, another one
 * when a different server answers its reads, a third to a node that a read requests, and the state for running one
 * transaction after the other.
 *
 * A transaction runs statement by statement here, or in one go in pg_pipeline.c; both fill the answer of the
 * transaction and leave its outcome to the table of pg_outcome.h.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SESSION_H
#define RIG_DRIVERS_POSTGRES_PG_SESSION_H

#include "base/rng.h"
#include "drivers/driver.h"
#include "drivers/postgres/pg_certificate.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_outcome.h"
#include "drivers/postgres/pg_rows.h"
#include "drivers/postgres/pg_schema.h"
#include "drivers/postgres/pg_servers.h"
#include "drivers/postgres/pg_two_phase.h"

struct rig_pg_run {
    const struct rig_run_env *env;
    const struct rig_pg_options *options;
    struct rig_pg_schema schema;
    struct rig_pg_rows rows;
    struct rig_wakes wakes;
    struct rig_pg_cluster cluster;
    struct rig_pg_servers servers;
    char server_version[64];
    uint64_t reminder; /* of the run's tables on given hosts; 0: none */
    struct rig_pg_certificate certificate;
    struct rig_pg_views views;
    bool created; /* the server was asked to make the tables */
    struct rig_pg_two_phase two_phase;
    _Atomic uint64_t deferrable_count; /* transactions that began DEFERRABLE */
};

struct rig_pg_session {
    struct rig_pg_run *run;
    struct rig_sql_waiter waiter;
    struct rig_pg_connection main;
    struct rig_pg_connection reader; /* .pg NULL when the main one reads as well */
    struct rig_pg_connection visit;  /* to the node requested last; .pg NULL: none */
    uint32_t main_server;
    uint32_t reader_server;
    uint32_t visit_server;
    uint32_t client;
    struct rig_rng rng; /* of shares of transactions */
};

/* A transaction in progress: the state that its statements share. */
struct rig_pg_turn {
    struct rig_pg_session *session;
    struct rig_pg_connection *connection;
    struct rig_transaction *transaction;
    struct rig_row_program *program; /* NULL: the transaction's operations */
    int64_t deadline_ns;
    enum rig_phase phase; /* the phase that the sending has reached, or that of the statement that failed */
    bool failed;          /* the transaction has an error_code, answered or seen in `phase` */
    bool committing;      /* COMMIT was given to libpq: it may have left */
    bool aborted;         /* before COMMIT the server reported that a statement of the transaction had failed */
    bool refused;         /* the server answered with an error */
    bool skips;           /* that error makes it skip the rest of a pipeline, and answer its Sync */
    bool committed;       /* COMMIT was acknowledged: only an answer that contradicts it changes the outcome */
    bool session_lost;
    bool deferrable;
    char gid[RIG_PG_GID_BYTES]; /* of a commit in two phases; empty: it has one */
    bool prepared;              /* by its first phase */
};

/* The driver's hooks: `session` is a struct rig_pg_session, `run` a struct rig_pg_run. */
enum rig_rc rig_pg_session_open(void *session, void *run, uint32_t client, struct rig_err *err);
enum rig_outcome rig_pg_session_transact(void *session, struct rig_transaction *transaction);
enum rig_outcome rig_pg_session_run_program(void *session, struct rig_transaction *transaction,
                                            struct rig_row_program *program);
void rig_pg_session_interrupt(void *session);
void rig_pg_session_close(void *session, bool last);

/* Shared by both ways of running a transaction. */

/* Records the first error; later ones are consequences. `text` is flattened. */
void rig_pg_turn_fail(struct rig_pg_turn *turn, enum rig_phase phase, const char *code, const char *text);
/* Replaces the error, and an acknowledgement: they prove nothing. The outcome is unknown once COMMIT may have left. */
void rig_pg_turn_overrule(struct rig_pg_turn *turn, const char *code, const char *text);
/* The answers do not fit the statements: no answer of the transaction proves anything, and the session ends. */
void rig_pg_turn_lose_step(struct rig_pg_turn *turn, const char *text);
/* Whether a result, which is no error, has the form of an answer to the statement. False: the turn lost step. */
bool rig_pg_turn_check_tag(struct rig_pg_turn *turn, const char *sql, const PGresult *result);
/* Whether the server, when all is answered, reports this state of the transaction. False: the turn lost step. */
bool rig_pg_turn_check_status(struct rig_pg_turn *turn, PGTransactionStatusType expected);
/* rig_pg_turn_fail() from a result that is an error, or from a connection that broke (`result` NULL). */
void rig_pg_turn_fail_result(struct rig_pg_turn *turn, enum rig_phase phase, const PGresult *result);
/* Takes the answer of operation `op`: nothing for writes, the value for reads. */
void rig_pg_turn_take(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result);
/* Takes the answer to COMMIT, which is no error. */
void rig_pg_turn_take_commit(struct rig_pg_turn *turn, const PGresult *result);
/* The same of PREPARE TRANSACTION. */
void rig_pg_turn_take_prepare(struct rig_pg_turn *turn, const PGresult *result);
enum { RIG_PG_ENDING_BYTES = RIG_PG_GID_BYTES + 32 };
/* The statement of a commit in two phases. */
void rig_pg_turn_print_ending(const struct rig_pg_turn *turn, const char *statement,
                              char sql[static RIG_PG_ENDING_BYTES]);
/* Whether the plan wants a hold when `at` operations are done, before PREPARE TRANSACTION. */
bool rig_pg_turn_holds_at(const struct rig_pg_turn *turn, uint32_t at);
/* Pauses as the transaction requires, and moves the deadline by the time held. */
void rig_pg_turn_hold(struct rig_pg_turn *turn);
/* False, and the turn failed: the operation would take more from an account than there is. The read that it builds on was
 * answered. */
bool rig_pg_turn_affords(struct rig_pg_turn *turn, uint32_t op);
/* Waits as the plan wants between two operations; the deadline moves along. */
void rig_pg_turn_delay(struct rig_pg_turn *turn);
const struct rig_pg_statement *rig_pg_turn_begin_statement(const struct rig_pg_turn *turn);

/* A transaction statement by statement. Each is a round trip; false, and the turn failed, when it did not succeed. */
bool rig_pg_turn_begin(struct rig_pg_turn *turn);
/* Runs a statement (by its name where statements are prepared, else by its text); `*result` is the caller's. */
bool rig_pg_turn_perform(struct rig_pg_turn *turn, const char *name, const char *text, int value_count,
                         const char *const *values, PGresult **result);
void rig_pg_turn_commit(struct rig_pg_turn *turn);

#endif
