/*
 * Programs over tables (drivers/rows.h): their statements as SQL, a program's transaction, rows before the load, and
 * queries after it.
 *
 * Each statement is one round trip, because the program decides by its answer what comes next.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_ROWS_H
#define RIG_DRIVERS_POSTGRES_PG_ROWS_H

#include "base/buf.h"
#include "drivers/driver.h"
#include "drivers/postgres/pg_schema.h"
#include "drivers/sql/row_sql.h"

struct rig_pg_turn;

enum { RIG_PG_ROWS_SCRIPT_MOST = 16 << 20 };

/* The SQL of a run's programs. */
struct rig_pg_rows {
    const struct rig_row_schema *schema; /* NULL: the run has no programs */
    struct rig_sql_dialect dialect;
    char prefix[RIG_PG_TABLE_BYTES];
    struct rig_pg_rows_statement {
        char name[RIG_PG_STATEMENT_NAME_BYTES];
        char *text;
        int parameter_count;
    } * statements;
};

/* `rows` outlives it; NULL for a run without programs. Safe for rig_pg_rows_done() after a failure. */
enum rig_rc rig_pg_rows_init(struct rig_pg_rows *rows, const struct rig_row_schema *schema,
                             const struct rig_pg_place *place, struct rig_err *err);
void rig_pg_rows_done(struct rig_pg_rows *rows);

/* Runs the transaction of `program`: from BEGIN to the answer of COMMIT. */
void rig_pg_rows_run(struct rig_pg_turn *turn, struct rig_row_program *program);

/* Adds rows to a table. */
enum rig_rc rig_pg_rows_load(const struct rig_pg_rows *rows, struct rig_pg_connection *connection, int64_t deadline_ns,
                             uint32_t table, const int64_t *cells, uint32_t row_count, struct rig_err *err);
/* Runs a query on the tables (rig_row_ops.query). */
enum rig_rc rig_pg_rows_query(const struct rig_pg_rows *rows, struct rig_pg_connection *connection, int64_t deadline_ns,
                              const char *sql, void (*tell)(void *context, const char *const *values, uint32_t count),
                              void *context, struct rig_err *err);

#endif
