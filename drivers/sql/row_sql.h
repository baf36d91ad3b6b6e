/*
 * The SQL of the tables and statements of programs (drivers/rows.h), for drivers of SQL databases.
 *
 * Pure functions that add text to a buffer. A table's name is what the dialect writes before the name of the schema.
 */
#ifndef RIG_DRIVERS_SQL_ROW_SQL_H
#define RIG_DRIVERS_SQL_ROW_SQL_H

#include "base/buf.h"
#include "drivers/rows.h"

struct rig_sql_dialect {
    const char *prefix; /* before each table's name, such as "schema." */
    bool numbered;      /* values are $1, $2, ...; else ? */
    bool returning;     /* UPDATE ... RETURNING gives the rows as they are afterwards */
    bool for_update;    /* SELECT ... FOR UPDATE locks the rows */
    bool named_indexes; /* CREATE INDEX needs a name: <table>_index */
};

/* CREATE TABLE, and CREATE INDEX for the further index, each with a semicolon. */
void rig_sql_create_table(const struct rig_sql_dialect *dialect, const struct rig_row_table *table,
                          struct rig_buf *sql);
/* One statement, without a semicolon. */
void rig_sql_statement(const struct rig_sql_dialect *dialect, const struct rig_row_schema *schema,
                       const struct rig_row_statement *statement, struct rig_buf *sql);
/* INSERT of rows with their numbers written in. */
void rig_sql_insert_rows(const struct rig_sql_dialect *dialect, const struct rig_row_table *table, const int64_t *cells,
                         uint32_t row_count, struct rig_buf *sql);
/* The query with each `{name}` replaced by the table's name. */
void rig_sql_query(const struct rig_sql_dialect *dialect, const char *query, struct rig_buf *sql);

#endif
