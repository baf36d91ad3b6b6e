/*
 * The SQL of tables: of programs (drivers/rows.h) with their statements, and of the rows that keys have before the
 * load, which are those of accounts (rig_run_env.accounts) and of prefilled keys (rig_run_env.prefilled_keys).
 *
 * Space: the text of the keys' rows grows with the logarithm of their number. Pure functions that add text to a buffer.
 * A table's name is what the dialect writes before the name of the schema.
 */
#ifndef RIG_DRIVERS_SQL_ROW_SQL_H
#define RIG_DRIVERS_SQL_ROW_SQL_H

#include "base/buf.h"
#include "drivers/driver.h"
#include "drivers/rows.h"

struct rig_sql_dialect {
    const char *prefix; /* before each table's name, such as "schema." */
    bool numbered;      /* values are $1, $2, ...; else ? */
    bool returning;     /* UPDATE ... RETURNING gives the rows as they are afterwards */
    bool for_update;    /* SELECT ... FOR UPDATE locks the rows */
    bool named_indexes; /* CREATE INDEX needs a name: <table>_index */
    bool single_rows;   /* INSERT takes one row */
    bool quoted,
        upper; /* columns are in double quotes: in lower case, or in upper case, as the database has names without quotes */
    const char *index_prefix; /* before an index's name; NULL: none */
    const char *integer;      /* the type of columns; NULL: bigint */
    const char
        *limit; /* of the rows of a selection, with {n} for their number; one that begins with TOP stands after SELECT.
                            NULL: LIMIT {n} */
    const char *lock; /* with `for_update`; NULL: FOR UPDATE */
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

/* The tables of a run, of which key k is in table k mod `table_count`. */
struct rig_sql_key_tables {
    const struct rig_run_env *env;
    int64_t table_count;
    const char *empty; /* the value of a row without one; NULL: NULL */
};

/* The highest key that has a row in table `number` before the load; -1: none. */
int64_t rig_sql_last_key_row(const struct rig_sql_key_tables *tables, int64_t number);
/* Adds the statements that make the rows of table `number`, called `name`, with columns k and v; a semicolon and a
 * space after each. Nothing where no row is wanted. */
void rig_sql_add_key_rows(const struct rig_sql_key_tables *tables, int64_t number, const char *name,
                          struct rig_buf *sql);

#endif
