/*
 * The run object, and the connections of its sessions: connecting, the settings and statements of a fresh connection,
 * and the rest between two transactions.
 *
 * A transaction runs statement by statement (pg_statements.c), or in one go (pg_pipeline.c); both fill the answer of
 * the transaction and leave its outcome to the table of pg_outcome.h.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SESSION_H
#define RIG_DRIVERS_POSTGRES_PG_SESSION_H

#include "drivers/postgres/pg_certificate.h"
#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_outcome.h"
#include "drivers/postgres/pg_schema.h"
#include "drivers/sql/sql_client.h"

struct rig_pg_run {
    struct rig_sql_run sql;
    const struct rig_pg_options *options;
    struct rig_pg_schema schema;
    struct rig_pg_rows rows;
    struct rig_pg_cluster cluster;
    struct rig_pg_certificate certificate;
    struct rig_pg_views views;
    _Atomic uint64_t deferrable_count; /* transactions that began DEFERRABLE */
};

/*
 * How many errors of a client's session a server of rig's own logs: the first RIG_PG_ERRORS_LOGGED, then none.
 *
 * A load with conflicts has thousands of serialization failures in a second, about 350 bytes of log each, which is
 * several times the size of the record (docs/adr/0092-errors-in-server-logs.md). All errors of clients are in the
 * record. Errors of other processes, warnings and what else the server logs stay. A plan that sets log_min_messages is
 * obeyed.
 */
enum { RIG_PG_ERRORS_LOGGED = 50 };
/* Counts an error that the server answered. */
void rig_pg_count_error(struct rig_pg_connection *connection);

extern const struct rig_sql_client rig_pg_client;

#endif
