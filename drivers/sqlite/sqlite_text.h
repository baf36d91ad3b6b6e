/*
 * Texts of any SQL on SQLite (drivers/sql/sql_text.h), in the database file of the run, with foreign keys.
 *
 * A session that waits for a lock tries again and again; the page that it shares with its server counts the attempts.
 *
 * Threads: those of the hooks.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_TEXT_H
#define RIG_DRIVERS_SQLITE_SQLITE_TEXT_H

#include "drivers/sql/sql_text.h"
#include "drivers/sqlite/sqlite_session.h"

extern const struct rig_sql_texts rig_sqlite_texts;

/* How long a statement waits for a lock: the plan's time, or that of texts where the plan has the default. */
uint32_t rig_sqlite_text_busy_ms(const struct rig_sqlite_run *run);

#endif
