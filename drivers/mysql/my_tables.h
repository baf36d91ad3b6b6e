/*
 * The things of a run on the server: its tables, created, marked and dropped, and transactions that are prepared.
 *
 * A run creates a database with its own name, and its tables in it; in a database that the plan names, tables only.
 * Each table has a comment as its mark. A name that is taken is an error; nothing is dropped to free it. Afterwards the
 * run drops only tables with its own mark, and its database only when nothing else is in it, since DROP DATABASE would
 * remove that too. The tables of a killed run stay; each later run names them.
 *
 * Two-phase commit of a share of the transactions: XA START, XA END and XA PREPARE, then XA COMMIT. Each has an
 * identifier that no other transaction of the run has: the run's name, the client and a number, with a format of rig's
 * own. A request that arrives late so concerns its own transaction only. An XA PREPARE without an answer is a fail:
 * nothing sends its XA COMMIT. Whatever an XA COMMIT is answered other than success is an info. A transaction that
 * stays prepared keeps its locks, also over a restart of the server. So the next session of its client rolls it back,
 * and `teardown` those that are left on a server that rig did not start. Nothing but transactions of this run, by
 * format and name, is ever rolled back.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_TABLES_H
#define RIG_DRIVERS_MYSQL_MY_TABLES_H

#include "drivers/mysql/my_connection.h"
#include "drivers/sql/sql_client.h"

/* Errors of `create` have the remedy, such as a missing GRANT; a part of the tables may exist after one. */
extern const struct rig_sql_tables rig_my_tables;

/* Waits until `server` has the rows that keys have before the load. */
enum rig_rc rig_my_tables_await_rows(struct rig_sql_run *run, uint32_t server, int64_t timeout_ns, struct rig_err *err);
/*
 * Rolls back what the client left prepared, or all clients (UINT32_MAX). Outside of a transaction. A transaction
 * belongs to its session until the server notices that it ended, so this tries again for `patience_ns`. `*left`, 0
 * before: the number that stay. RIG_E_CLUSTER: the server gives no list.
 */
enum rig_rc rig_my_tables_resolve_prepared(struct rig_sql_run *run, uint32_t client,
                                           struct rig_my_connection *connection, int64_t patience_ns,
                                           int64_t deadline_ns, uint32_t *left, struct rig_err *err);

#endif
