/*
 * The certain part of a transaction's fate after an error: a table of error number x SQLSTATE x phase.
 *
 * The rule behind the rows: the server commits when, and only when, it executes a COMMIT that it has received.
 *   - Before a COMMIT may have left this process, every event means fail: the server rolls back a transaction when its
 *     session ends without one, and rig sends ROLLBACK after each error. That matters for errors that roll back only
 *     their statement, such as a lock wait time-out: the transaction is still open then.
 *     So is an XA PREPARE: only an XA COMMIT commits what it prepared, and rig sends that after its answer alone.
 *   - Once it may have left, an error means fail only when the server can raise that error no later than the point at
 *     which the commit becomes durable or is sent to other nodes. Everything else, known or not, is info.
 * The phase of an *answered* error is that of the statement it answers: the server executes the statements of one
 * request in order, and skips those after a failed one, so an error answered to an earlier statement is certain even
 * though COMMIT was sent with it, as soon as the server confirms that it has no further answer. An answer that does not
 * fit its statement proves nothing, and neither does any other of the transaction: its outcome is info. An event
 * without an answer (connection lost, time-out, interruption) has the phase that the sending has reached; so has an
 * error that a proxy raises itself because it lost the server.
 *
 * Sources: MariaDB's server error codes, and sql/handler.cc, ha_commit_trans().
 */
#ifndef RIG_DRIVERS_MYSQL_MY_OUTCOME_H
#define RIG_DRIVERS_MYSQL_MY_OUTCOME_H

#include "drivers/sql/sql_outcome.h"

/* Further codes for events that the client itself detects. */
#define RIG_MY_TOO_LONG "statement-limit" /* the statements of one request exceed rig's maximum */
#define RIG_MY_CHANGED  "rows-changed"    /* the rows of an update were not those that it changed */

/* Deadlocks, lock wait time-outs and changed records are conflicts; full disks, memory, connections and locks a lack of
 * resources. */
extern const struct rig_sql_outcomes rig_my_outcomes;

#endif
