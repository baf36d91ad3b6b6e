/*
 * The things of a run on the server: its tables, created, marked and dropped, and transactions that are prepared.
 *
 * A run creates a schema with its own name, and its tables in it, in one transaction, and marks the schema with a
 * comment. In a schema that the plan names, it creates and marks tables only. It drops nothing to free a name: a name
 * that is taken is an error. Afterwards it drops only objects with its own mark, without CASCADE: a user's view of a
 * table keeps all of them. The tables of a killed run stay; each later run names them and the statement that removes
 * them.
 *
 * Two-phase commit of a share of the transactions: PREPARE TRANSACTION, then COMMIT PREPARED. Each has an identifier
 * that no other transaction of the run has, so that a request that arrives late concerns its own transaction only. A
 * PREPARE without an answer is a fail: nothing sends its COMMIT PREPARED. A COMMIT PREPARED without an answer is an
 * info. A transaction that stays prepared keeps its locks, also over a restart of the server. So the next session of
 * its client rolls it back, and `teardown` those that are left on a server that rig did not start.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TABLES_H
#define RIG_DRIVERS_POSTGRES_PG_TABLES_H

#include <stddef.h>

#include "base/buf.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/sql/sql_client.h"

#define RIG_PG_JOIN_VIEW "_joined"

/* SET statements that leave the planner one way to join; `join` is an enum rig_pg_row_join. */
const char *rig_pg_join_settings(int join);

/* Errors of `create` have the remedy, such as a missing GRANT; all tables are made, or none. */
extern const struct rig_sql_tables rig_pg_tables;

/* Rolls back what the client left prepared, or all clients (UINT32_MAX). Outside of a transaction and of pipeline mode.
 * RIG_E_CLUSTER. */
enum rig_rc rig_pg_tables_resolve_prepared(struct rig_sql_run *run, uint32_t client,
                                           struct rig_pg_connection *connection, int64_t deadline_ns,
                                           struct rig_err *err);

#endif
