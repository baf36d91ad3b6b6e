/*
 * How many errors of a client's session a server of rig's own logs: the first RIG_PG_ERRORS_LOGGED, then none.
 *
 * A load with conflicts has thousands of serialization failures in a second, about 350 bytes of log each, which is several
 * times the size of the record (docs/adr/0092-errors-in-server-logs.md). All errors of clients are in the record. Errors of other processes, warnings and
 * what else the server logs stay. A plan that sets log_min_messages is obeyed.
 *
 * Threads: that of the session.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_QUIET_H
#define RIG_DRIVERS_POSTGRES_PG_QUIET_H

#include "drivers/postgres/pg_connection.h"
#include "drivers/postgres/pg_options.h"

enum { RIG_PG_ERRORS_LOGGED = 50 };

/* A new connection, to a server that rig started as its superuser or not. */
void rig_pg_quiet_init(struct rig_pg_connection *connection, const struct rig_pg_options *options,
                       bool is_own_superuser);
/* Counts an error that the server answered. */
void rig_pg_quiet_count(struct rig_pg_connection *connection);
/* Whether the server has logged enough errors of this session. */
bool rig_pg_quiet_is_due(const struct rig_pg_connection *connection);
/* Asks it for silence, once: between two transactions, not in pipeline mode. False when the connection can no longer be used. */
bool rig_pg_quiet_begin(struct rig_pg_connection *connection, int64_t deadline_ns);

#endif
