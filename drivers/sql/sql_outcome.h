/*
 * Tables of the certain part of a transaction's fate after an error: code x SQLSTATE x phase. Each database has its own
 * (pg_outcome.c, my_outcome.c, sqlite_outcome.c), with the rule that its rows follow.
 *
 * Pure functions.
 */
#ifndef RIG_DRIVERS_SQL_SQL_OUTCOME_H
#define RIG_DRIVERS_SQL_SQL_OUTCOME_H

#include "drivers/driver.h"
#include "drivers/sql/sql_wait.h"

/* Codes of events that the client itself detects, in the place of a server's; RIG_SQL_TIMEOUT and RIG_SQL_INTERRUPTED
 * are two more. */
#define RIG_SQL_LOST        "connection-lost"    /* end of file, a reset, or a failed send */
#define RIG_SQL_MISMATCH    "mismatch"           /* the comparison of a compare-and-set did not hold */
#define RIG_SQL_PROTOCOL    "protocol"           /* an answer that is invalid for the statement */
#define RIG_SQL_MALFORMED   "malformed-value"    /* a value that the driver cannot have written */
#define RIG_SQL_UNREACHABLE "unreachable"        /* no connection to the requested node */
#define RIG_SQL_POOR        "insufficient-funds" /* a transfer would leave a balance below 0 */
#define RIG_SQL_LIMIT       "element-limit"      /* the reads of one transaction exceed rig's maximum */

/* The phases of a row. */
#define RIG_SQL_BEFORE_COMMIT RIG_PHASE_CONNECT, RIG_PHASE_OPERATION
#define RIG_SQL_AT_COMMIT     RIG_PHASE_COMMIT, RIG_PHASE_COMMIT

struct rig_sql_outcome {
    const char *code;  /* a server's code, one of the words above, or "" for any other */
    const char *state; /* the first characters of the SQLSTATE beside the code; "" for any */
    enum rig_phase from, to;
    enum rig_outcome outcome; /* fail or info */
    bool session_lost;
    const char *reason;
};

/* The class of an error, by which clients wait. */
struct rig_sql_class {
    const char *code;
    enum rig_error_class error_class;
};

/* The outcomes and classes of a database's errors. The first row that matches decides; the last row of each phase
 * matches everything. */
struct rig_sql_outcomes {
    const struct rig_sql_outcome *rows;
    size_t row_count;
    const struct rig_sql_class *classes;
    size_t class_count;
    bool by_start; /* a row or class has the first characters of some codes; else it has a whole one */
};

/* The row for `code` and `state` in `phase`; never NULL. */
const struct rig_sql_outcome *rig_sql_outcome_find(const struct rig_sql_outcomes *outcomes, enum rig_phase phase,
                                                   const char *code, const char *state);
enum rig_error_class rig_sql_error_class(const struct rig_sql_outcomes *outcomes, const char *code);

#endif
