/*
 * The settings of a server that differ from its defaults, for the reports of a run.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SETTINGS_H
#define RIG_DRIVERS_POSTGRES_PG_SETTINGS_H

#include "drivers/postgres/pg_connection.h"

/* Reports each setting that a configuration file, a command line, a database or a role changed. Reports nothing when
 * the server does not answer the query: another database may speak PostgreSQL's protocol. */
void rig_pg_settings_tell(struct rig_pg_connection *connection, int64_t deadline_ns,
                          void (*tell)(void *context, const char *name, const char *value), void *context);

#endif
