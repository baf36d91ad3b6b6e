/*
 * The certain part of a transaction's fate after an error: a table of SQLite's error x phase.
 *
 * The rule behind the rows: a transaction commits when, and only when, its session's process executes COMMIT.
 *   - Before COMMIT every event means fail: SQLite rolls back when the process ends without one, and a process whose
 *     transaction was given up never executes it (struct rig_sqlite_page).
 *   - An error answered to COMMIT means fail only where SQLite raises it before it writes what makes the transaction
 *     durable. Everything else, known or not, is info: pages and frames may be on disk, and recovery may find them.
 * Codes are SQLite's own names without "SQLITE_": "BUSY_SNAPSHOT".
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_OUTCOME_H
#define RIG_DRIVERS_SQLITE_SQLITE_OUTCOME_H

#include "drivers/driver.h"

/* Codes of events that the client itself detects, in the place of SQLite's. */
#define RIG_SQLITE_LOST        "connection-lost"    /* the session's process is gone */
#define RIG_SQLITE_TIMEOUT     "timeout"            /* the driver's own transaction-timeout */
#define RIG_SQLITE_INTERRUPTED "interrupted"        /* rig's interrupt hook */
#define RIG_SQLITE_MISMATCH    "mismatch"           /* the comparison of a compare-and-set did not hold */
#define RIG_SQLITE_PROTOCOL    "protocol"           /* an answer that is invalid for the question */
#define RIG_SQLITE_MALFORMED   "malformed-value"    /* a value that this driver cannot have written */
#define RIG_SQLITE_POOR        "insufficient-funds" /* a transfer would leave a balance below 0 */
#define RIG_SQLITE_LIMIT       "element-limit"      /* the reads of one transaction exceed rig's maximum */

struct rig_sqlite_outcome_row {
    const char *code; /* the first characters of some codes, or "" for any other */
    enum rig_phase from, to;
    enum rig_outcome outcome; /* fail or info */
    bool session_lost;
    const char *reason;
};

/* The first row that matches decides; the last row of each phase matches everything. */
extern const struct rig_sqlite_outcome_row rig_sqlite_outcome_table[];
extern const size_t rig_sqlite_outcome_row_count;

/* The row for `code` in `phase`; never NULL. */
const struct rig_sqlite_outcome_row *rig_sqlite_outcome_find(enum rig_phase phase, const char *code);
/* Conflicts are those of locks and snapshots; a full disk and lack of memory are a lack of resources. */
enum rig_error_class rig_sqlite_error_class(const char *code);
/* The name of an extended error code of SQLite or of the server; of an unknown one, the name of its primary code. */
const char *rig_sqlite_code_name(int32_t code);

#endif
