/*
 * Texts of any SQL on PostgreSQL (drivers/sql/sql_text.h): by the simple protocol, in a schema of the run's name, which
 * is the search path of the sessions.
 *
 * Threads: those of the hooks.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TEXT_H
#define RIG_DRIVERS_POSTGRES_PG_TEXT_H

#include "drivers/postgres/pg_session.h"
#include "drivers/sql/sql_text.h"

extern const struct rig_sql_texts rig_pg_texts;

/* The settings of a session of texts. RIG_E_CLUSTER. */
enum rig_rc rig_pg_text_prepare(const struct rig_pg_run *run, struct rig_pg_connection *connection, int64_t deadline_ns,
                                struct rig_err *err);

#endif
