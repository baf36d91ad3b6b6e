/*
 * What differs from the defaults of a server, for the reports of a run.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SETTINGS_H
#define RIG_DRIVERS_POSTGRES_PG_SETTINGS_H

#include "drivers/postgres/pg_connection.h"

/* Tells each setting that a configuration file, a command line, a database or a role changed. Nothing where the server
 * does not say: what speaks PostgreSQL's protocol may be another database. */
void rig_pg_settings_tell(struct rig_pg_connection *connection, int64_t deadline_ns,
                          void (*tell)(void *context, const char *name, const char *value), void *context);

#endif
