/*
 * The preparation of a fresh connection for a session's transactions: its settings, and its statements.
 *
 * Threads: the session's.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_PREPARATION_H
#define RIG_DRIVERS_POSTGRES_PG_PREPARATION_H

#include "drivers/postgres/pg_session.h"

/* Sends SET for the session's options; one round trip, none when there are none. RIG_E_CLUSTER. */
enum rig_rc rig_pg_preparation_set(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                                   int64_t deadline_ns, struct rig_err *err);
/* Prepares all statements in one round trip; leaves the connection out of pipeline mode. RIG_E_CLUSTER. */
enum rig_rc rig_pg_preparation_statements(struct rig_pg_connection *connection, const struct rig_pg_run *run,
                                          int64_t deadline_ns, struct rig_err *err);

#endif
