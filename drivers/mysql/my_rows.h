/*
 * Programs over tables (drivers/rows.h): a program's transaction, rows before the load, and queries after it.
 *
 * Each statement is one round trip, because the program decides by its answer what comes next. An update is followed by
 * a locking selection of the same rows. It must find as many rows as the update changed: another transaction can add
 * rows between the two where the isolation level has no range locks, and then rig rolls back.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_ROWS_H
#define RIG_DRIVERS_MYSQL_MY_ROWS_H

#include "drivers/mysql/my_session.h"

/* Runs the transaction of `program`: from BEGIN to the answer of COMMIT. */
void rig_my_rows_run(struct rig_my_turn *turn, struct rig_row_program *program);

/* Adds rows to a table. */
enum rig_rc rig_my_rows_load(const struct rig_my_schema *schema, struct rig_my_connection *connection,
                             int64_t deadline_ns, uint32_t table, const int64_t *cells, uint32_t row_count,
                             struct rig_err *err);
/* Runs a query on the tables (rig_row_ops.query). */
enum rig_rc rig_my_rows_query(const struct rig_my_schema *schema, struct rig_my_connection *connection,
                              int64_t deadline_ns, const char *query,
                              void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                              struct rig_err *err);

#endif
