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

#include "drivers/sql/sql_outcome.h"

/* Conflicts are those of locks and snapshots; a full disk and lack of memory are a lack of resources. */
extern const struct rig_sql_outcomes rig_sqlite_outcomes;
/* The name of an extended error code of SQLite or of the server; of an unknown one, the name of its primary code. */
const char *rig_sqlite_code_name(int32_t code);

#endif
