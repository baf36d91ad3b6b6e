/*
 * The certain part of a transaction's fate after an error: a table of SQLSTATE x phase.
 *
 * The rule behind the rows: PostgreSQL commits when, and only when, it executes a COMMIT that it has received.
 *   - Before a COMMIT may have left this process, every event means fail: the server rolls back a transaction
 *     when its session ends or fails without one.
 *   - Once it may have left, an error means fail only when the server can raise that error no later than the writing of
 *     the commit record. Everything else, known or not, is info.
 * The phase of an *answered* error is that of the statement it answers; in a pipeline the server skips everything
 * behind a failed statement, so an error answered to an earlier statement is certain even though COMMIT was sent, as
 * soon as the server has answered the Sync and reports a failed transaction. An answer that does not fit its statement
 * proves nothing, and neither does any other of the transaction (pg_turn.h). An event without an answer (connection
 * lost, time-out, interruption) has the phase that the sending has reached; so has an error that a pooler raises itself
 * because it lost the server.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_OUTCOME_H
#define RIG_DRIVERS_POSTGRES_PG_OUTCOME_H

#include "drivers/sql/sql_outcome.h"

/* Further codes for events that the client itself detects. */
#define RIG_PG_ROLLED_BACK    "rolled-back"    /* COMMIT was answered with the tag ROLLBACK */
#define RIG_PG_COMMIT_WARNING "commit-warning" /* COMMIT was acknowledged, with a warning */
#define RIG_PG_TOO_LARGE      "answer-limit"   /* the answers to one transaction are longer than max-answer */

/* Serialization failures, deadlocks and lock time-outs are conflicts; SQLSTATE class 53 is a lack of resources. */
extern const struct rig_sql_outcomes rig_pg_outcomes;

#endif
