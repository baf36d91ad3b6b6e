/*
 * The run's tables on the server: created, marked and dropped.
 *
 * A run creates a schema with its own name, and its tables in it, in one transaction, and marks the schema with a
 * comment. In a schema that the plan names, it creates and marks tables only. It drops nothing to free a name: a name
 * that is taken is an error. Afterwards it drops only objects with its own mark, without CASCADE: a user's view of a
 * table keeps all of them. The tables of a killed run stay; each later run names them and the statement that removes
 * them.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TABLES_H
#define RIG_DRIVERS_POSTGRES_PG_TABLES_H

#include "drivers/postgres/pg_schema.h"

enum { RIG_PG_REMEDY_BYTES = 512 };

/* All of them or none. RIG_E_CLUSTER with the remedy, such as a missing GRANT. */
enum rig_rc rig_pg_tables_create(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                 struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* RIG_OK also when there are none. RIG_E_CLUSTER names the tables that stay, and the reason. */
enum rig_rc rig_pg_tables_drop(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                               struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* Logs the tables of other runs on the server. */
void rig_pg_tables_tell_others(const struct rig_run_env *env, struct rig_pg_connection *connection,
                               int64_t deadline_ns);
/* The SQL that removes the run's tables by hand. */
void rig_pg_tables_remedy(const struct rig_pg_schema *schema, const struct rig_run_env *env, char *text, size_t size);

#endif
