/*
 * The tables of a run, and the SQL statements of its operations, prepared in this order in each session.
 *
 * Key k is in table k mod `tables`: rig_0, ... (k INTEGER PRIMARY KEY, v): a list or set as text with commas, or a
 * number. The tables of the workload predicate are those of drivers/sql/sql_ops.h. Queues and stacks have a row for
 * each element, numbered by its insertion. A key without a row is in its initial state. With a program, the tables and
 * statements are the program's own.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_SCHEMA_H
#define RIG_DRIVERS_SQLITE_SQLITE_SCHEMA_H

#include "base/buf.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sqlite/sqlite_driver.h"
#include "drivers/sqlite/sqlite_wire.h"

struct rig_sqlite_schema {
    const struct rig_run_env *env;
    const struct rig_sqlite_options *options;
    struct rig_sql_dialect dialect;
    struct rig_buf statements; /* texts, each with its NUL */
    uint32_t statement_count;
};

/* RIG_E_LIMIT. Borrows `env` and its options. */
enum rig_rc rig_sqlite_schema_init(struct rig_sqlite_schema *schema, const struct rig_run_env *env,
                                   struct rig_err *err);
/* Takes a zeroed one. */
void rig_sqlite_schema_done(struct rig_sqlite_schema *schema);

/* The script that makes the tables, with accounts where the workload has them. */
void rig_sqlite_schema_create(const struct rig_sqlite_schema *schema, struct rig_buf *sql);
/* That which makes the indexes of the workload sql. */
void rig_sqlite_schema_index(const struct rig_sqlite_schema *schema, struct rig_buf *sql);
/* The script that sets a connection up: its pragmas. */
void rig_sqlite_schema_pragmas(const struct rig_sqlite_schema *schema, struct rig_buf *sql);

/* The words of the shell `sqlite3` for scripts: a process for each session, each with the plan's pragmas. RIG_E_PLAN:
 * the plan needs one process for all sessions. */
enum rig_rc rig_sqlite_schema_shell(const struct rig_sqlite_options *options, const struct rig_row_schema *rows,
                                    struct rig_row_shell *shell, struct rig_err *err);

/* A statement with its values. */
struct rig_sqlite_call {
    struct rig_sqlite_step step;
    int64_t values[RIG_SQLITE_VALUES_MOST];
};

/* The call of operation `op`; false: none of its own, because the write after it compares. */
bool rig_sqlite_schema_of_op(const struct rig_sqlite_schema *schema, const struct rig_transaction *transaction,
                             uint32_t op, struct rig_sqlite_call *call);
/* That of a program's statement. */
void rig_sqlite_schema_of_row(const struct rig_sqlite_schema *schema, uint32_t statement, const int64_t *values,
                              struct rig_sqlite_call *call);

#endif
