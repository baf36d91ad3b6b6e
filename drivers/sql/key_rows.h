/*
 * The rows that keys have before the load: those of accounts (rig_run_env.accounts) and of prefilled keys
 * (rig_run_env.prefilled_keys).
 *
 * Space: the text grows with the logarithm of the number of rows. Pure functions that add text to a buffer.
 */
#ifndef RIG_DRIVERS_SQL_KEY_ROWS_H
#define RIG_DRIVERS_SQL_KEY_ROWS_H

#include "base/buf.h"
#include "drivers/driver.h"

/* The tables of a run, of which key k is in table k mod `table_count`. */
struct rig_sql_key_tables {
    const struct rig_run_env *env;
    int64_t table_count;
};

/* The highest key that has a row in table `number` before the load; -1: none. */
int64_t rig_sql_last_key_row(const struct rig_sql_key_tables *tables, int64_t number);
/* Adds the statements that make the rows of table `number`, called `name`, with columns k and v; a semicolon and a space
 * after each. Nothing where no row is wanted. */
void rig_sql_add_key_rows(const struct rig_sql_key_tables *tables, int64_t number, const char *name,
                          struct rig_buf *sql);

#endif
