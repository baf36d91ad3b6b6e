/*
 * The certain part of a transaction's fate after an error: a table of SQLSTATE x phase.
 *
 * The rule behind the rows: PostgreSQL commits when, and only when, it executes a COMMIT that it has received.
 *   - Before a COMMIT may have left this process, every event means fail: the server rolls back a transaction
 *     when its session ends or fails without one.
 *   - Once it may have left, an error means fail only when the server can raise that error no later than the writing of
 *     the commit record. Everything else, known or not, is info.
 * The phase of an *answered* error is that of the statement it answers; in a pipeline the server skips everything
 * behind a failed statement, so an error answered to an earlier statement is certain even though COMMIT was sent, as soon
 * as the server has answered the Sync and reports a failed transaction. An answer that does not fit its statement proves
 * nothing, and neither does any other of the transaction (pg_answer.h). An event without an answer (connection lost, time-out, interruption) has the phase that the sending has reached; so has
 * an error that a pooler raises itself because it lost the server.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_OUTCOME_H
#define RIG_DRIVERS_POSTGRES_PG_OUTCOME_H

#include "drivers/driver.h"
#include "drivers/sql/sql_wait.h"

/* Codes for events that the client itself detects, in the place of an SQLSTATE. */
#define RIG_PG_LOST           "connection-lost"    /* end of file, a reset, or a failed send */
#define RIG_PG_TIMEOUT        RIG_SQL_TIMEOUT      /* the driver's own transaction-timeout */
#define RIG_PG_INTERRUPTED    RIG_SQL_INTERRUPTED  /* rig's interrupt hook */
#define RIG_PG_ROLLED_BACK    "rolled-back"        /* COMMIT was answered with the tag ROLLBACK */
#define RIG_PG_MISMATCH       "mismatch"           /* the comparison of a compare-and-set did not hold */
#define RIG_PG_COMMIT_WARNING "commit-warning"     /* COMMIT was acknowledged, with a warning */
#define RIG_PG_PROTOCOL       "protocol"           /* an answer that is invalid for the statement */
#define RIG_PG_MALFORMED      "malformed-value"    /* a value that this driver cannot have written */
#define RIG_PG_UNREACHABLE    "unreachable"        /* no connection to the requested node */
#define RIG_PG_TOO_LARGE      "answer-limit"       /* the answers to one transaction are longer than max-answer */
#define RIG_PG_POOR           "insufficient-funds" /* a transfer would leave a balance below 0 */
#define RIG_PG_LIMIT          "element-limit"      /* the reads of one transaction exceed rig's maximum */

struct rig_pg_outcome_row {
    const char *code;    /* an SQLSTATE, the first characters of some, one of the words above, or "" for any other */
    enum rig_phase from; /* first and last phase that the row is for */
    enum rig_phase to;
    enum rig_outcome outcome; /* fail or info */
    bool session_lost;
    const char *reason;
};

/* The first row that matches decides; the last row of each phase matches everything. */
extern const struct rig_pg_outcome_row rig_pg_outcome_table[];
extern const size_t rig_pg_outcome_row_count;

/* The class of the error, by which clients wait: serialization failures, deadlocks and lock time-outs are conflicts,
 * SQLSTATE class 53 is a lack of resources. */
enum rig_error_class rig_pg_error_class(const char *code);

/* The row for `code` in `phase`; never NULL. */
const struct rig_pg_outcome_row *rig_pg_outcome_find(enum rig_phase phase, const char *code);

#endif
