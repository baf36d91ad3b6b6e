/*
 * A second table beside each table of the workload predicate, for reads that join two tables (the option row-join).
 *
 * The second table has each row's key, id, version and class. A trigger keeps it in step, as part of each statement that
 * writes. Reads are of a view that joins both tables and takes the class from the second one; a row whose versions differ
 * has the version 0 there, which no statement writes. Updates and deletes, and the stream of commits, are of the first
 * table.
 *
 * Pure functions that add text; names are as SQL writes them.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_JOIN_H
#define RIG_DRIVERS_POSTGRES_PG_JOIN_H

#include <stddef.h>

#include "base/buf.h"

/* Behind a table's name: the second table, and the view. */
#define RIG_PG_JOIN_SECOND "_class"
#define RIG_PG_JOIN_VIEW   "_joined"

/* Each behind the creation, or before and behind the removal, of the tables; with a semicolon. */
void rig_pg_join_create(const char *table, const char *columns, const char *index, struct rig_buf *sql);
void rig_pg_join_drop_view(const char *table, struct rig_buf *sql);
void rig_pg_join_drop_trigger(const char *table, struct rig_buf *sql);

/* SET statements that leave the planner one way to join; `join` is an enum rig_pg_row_join. */
const char *rig_pg_join_settings(int join);

#endif
