/*
 * The run's tables on the server: created, marked and dropped.
 *
 * A run creates a database with its own name, and its tables in it; in a database that the plan names, tables only. Each
 * table has a comment as its mark. A name that is taken is an error; nothing is dropped to free it. Afterwards the run
 * drops only tables with its own mark, and its database only when nothing else is in it, since DROP DATABASE would remove
 * that too. The tables of a killed run stay; each later run names them.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_TABLES_H
#define RIG_DRIVERS_MYSQL_MY_TABLES_H

#include "drivers/mysql/my_connection.h"
#include "drivers/mysql/my_schema.h"
#include "drivers/mysql/my_servers.h"

enum { RIG_MY_REMEDY_BYTES = 512 };

/* RIG_E_CLUSTER with the remedy, such as a missing GRANT; a part of the tables may exist then. */
enum rig_rc rig_my_tables_create(const struct rig_my_schema *schema, const struct rig_run_env *env,
                                 struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* RIG_OK also when there are none. RIG_E_CLUSTER names the tables that stay, and the reason. */
enum rig_rc rig_my_tables_drop(const struct rig_my_schema *schema, const struct rig_run_env *env,
                               struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* Logs the tables of other runs on the server. */
void rig_my_tables_tell_others(const struct rig_run_env *env, struct rig_my_connection *connection,
                               int64_t deadline_ns);
/* The SQL that removes the run's tables by hand. */
void rig_my_tables_remedy(const struct rig_my_schema *schema, const struct rig_run_env *env, char *text, size_t size);
/* Whether anything is on the server that rig_my_tables_create() makes; true as well when the server does not tell. */
bool rig_my_tables_remain(const struct rig_my_schema *schema, const struct rig_run_env *env,
                          struct rig_my_connection *connection, int64_t deadline_ns);

/* Waits until `server` has the rows that keys have before the load. */
enum rig_rc rig_my_tables_await_rows(const struct rig_my_schema *schema, const struct rig_run_env *env,
                                     const struct rig_my_servers *servers, uint32_t server, int64_t deadline_ns,
                                     struct rig_err *err);

#endif
