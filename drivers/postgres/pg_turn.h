/*
 * A transaction on PostgreSQL in progress, and the parts that both ways of running it share: statement by statement
 * (pg_statements.c), or in one go (pg_pipeline.c).
 *
 * Threads: the session's.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TURN_H
#define RIG_DRIVERS_POSTGRES_PG_TURN_H

#include <stdbool.h>

#include "drivers/postgres/pg_session.h"
#include "drivers/sql/sql_session.h"

/*
 * Whether an answer can be the one to a statement.
 *
 * Answers carry no number: the place of an answer tells which statement it belongs to. After a message that is lost,
 * doubled or misplaced, an answer would be taken for that of another statement. So each one is compared with the answer
 * that PostgreSQL gives to the statement: the command tag, and the number of rows in it.
 *
 * Source: PostgreSQL's documentation, "Message Formats", CommandComplete.
 */

/* `rows`: the rows that came; -1: the answer has none. Any tag fits a statement that this driver does not write
 * itself. */
bool rig_pg_tag_fits(const char *sql, const char *tag, int rows);
/* Whether no transaction is open after the statement has succeeded. Else one is, if it was open before. */
bool rig_pg_ends_transaction(const char *sql);

struct rig_pg_turn {
    struct rig_sql_turn sql;
    bool aborted; /* before COMMIT the server reported that a statement of the transaction had failed */
    bool refused; /* the server answered with an error */
    bool skips;   /* that error makes it skip the rest of a pipeline, and answer its Sync */
    bool deferrable;
};

static inline struct rig_pg_run *rig_pg_run_of(const struct rig_pg_turn *turn)
{
    return (struct rig_pg_run *)turn->sql.session->run;
}

static inline struct rig_pg_connection *rig_pg_connection_of(const struct rig_pg_turn *turn)
{
    return (struct rig_pg_connection *)turn->sql.connection;
}

/* rig_sql_turn_fail() with a text of libpq's. */
void rig_pg_turn_fail(struct rig_pg_turn *turn, enum rig_phase phase, const char *code, const char *text);
/* rig_pg_turn_fail() from a result that is an error, or from a connection that broke (`result` NULL). */
void rig_pg_turn_fail_result(struct rig_pg_turn *turn, enum rig_phase phase, const PGresult *result);
/* Whether a result, which is no error, has the form of an answer to the statement. False: the turn lost step. */
bool rig_pg_turn_check_tag(struct rig_pg_turn *turn, const char *sql, const PGresult *result);
/* Whether the server, when all is answered, reports this state of the transaction. False: the turn lost step. */
bool rig_pg_turn_check_status(struct rig_pg_turn *turn, PGTransactionStatusType expected);
bool rig_pg_affected_a_row(const PGresult *result);

/* Takes the answer of operation `op`: nothing for writes, the value for reads. */
void rig_pg_turn_take(struct rig_pg_turn *turn, uint32_t op, enum rig_phase phase, const PGresult *result);
/* Its part for the views, of a certificate that has them. */
void rig_pg_turn_take_view(struct rig_pg_turn *turn, uint32_t op, const PGresult *result);
/* Takes the answer to COMMIT, which is no error. */
void rig_pg_turn_take_commit(struct rig_pg_turn *turn, const PGresult *result);
/* The same of PREPARE TRANSACTION. */
void rig_pg_turn_take_prepare(struct rig_pg_turn *turn, const PGresult *result);

enum { RIG_PG_ENDING_BYTES = RIG_SQL_NAME_BYTES + 32 };
/* The statement of a commit in two phases. */
void rig_pg_turn_print_ending(const struct rig_pg_turn *turn, const char *statement,
                              char sql[static RIG_PG_ENDING_BYTES]);
/* The statement of operation `op`, and its numbers; NULL: none of its own. `random` has that of the workload sql. */
const struct rig_pg_statement *rig_pg_turn_statement(const struct rig_pg_turn *turn, uint32_t op,
                                                     struct rig_pg_statement *random, struct rig_sql_numbers *numbers);
const struct rig_pg_statement *rig_pg_turn_begin_statement(const struct rig_pg_turn *turn);

/* A transaction statement by statement. Each is a round trip; false, and the turn failed, when it did not succeed. */
bool rig_pg_statements_begin(struct rig_sql_turn *turn);
bool rig_pg_statements_operate(struct rig_sql_turn *turn, uint32_t op);
bool rig_pg_statements_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                               struct rig_row_answer *answer);
void rig_pg_statements_commit(struct rig_sql_turn *turn);
/* Ends a failed transaction on the server; false when the session cannot be used any more. */
bool rig_pg_statements_roll_back(struct rig_pg_turn *turn);

/*
 * A transaction in pipeline mode: BEGIN, the operations and COMMIT leave in one go, with one Sync behind them, and are
 * answered in one go. A hold or a delay splits it: the earlier part is sent and answered first, with a Sync of its own.
 *
 * From the moment COMMIT is given to libpq it may have left. Errors are certain all the same: the server skips
 * everything between a failed statement and the Sync, so an error answered to a statement before COMMIT excludes the
 * commit. A server that answers anything else between the two has not skipped it: the outcome is unknown then. Reads
 * are evidence when all answers up to the Sync, or up to COMMIT's, are in step.
 */

/* Puts a fresh connection into pipeline mode. */
enum rig_rc rig_pg_pipeline_enter(struct rig_pg_connection *connection, struct rig_err *err);
/* Runs the turn's transaction; the answer is in the turn and its transaction. */
void rig_pg_pipeline_run(struct rig_pg_turn *turn);
/* Ends a failed transaction on the server; false when the session cannot be used any more. */
bool rig_pg_pipeline_rollback(struct rig_pg_turn *turn);

#endif
