/*
 * The run's tables on the server: made, marked and removed.
 *
 * A run makes a schema with its own name, with its tables in it, in one transaction, and marks it with a comment. In a
 * schema that the plan names it makes and marks tables only. It never makes room: a name that is taken is refused. It
 * removes only what carries its own mark, and never what depends on that (no CASCADE): a user's view of a table keeps
 * it. What a killed run left stays, and each later run says where it is and how to remove it.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TABLES_H
#define RIG_DRIVERS_POSTGRES_PG_TABLES_H

#include "drivers/postgres/pg_schema.h"

/* All of them or none. RIG_E_CLUSTER with the remedy, among them the GRANT that is missing. */
enum rig_rc rig_pg_tables_create(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                                 struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* RIG_OK also when there are none. RIG_E_CLUSTER says what stays, and why. */
enum rig_rc rig_pg_tables_drop(const struct rig_pg_schema *schema, const struct rig_run_env *env,
                               struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* Logs what other runs have on the server. */
void rig_pg_tables_tell_others(const struct rig_run_env *env, struct rig_pg_connection *connection,
                               int64_t deadline_ns);
/* What removes the run's tables by hand, as SQL. */
void rig_pg_tables_remedy(const struct rig_pg_schema *schema, char *text, size_t size);

#endif
