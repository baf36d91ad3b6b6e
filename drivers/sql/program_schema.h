/*
 * The tables of a run and their statements in a dialect that a file gives (dialect_file.h): names, CREATE TABLE, and
 * texts with `?` for each value.
 *
 * Key k is in table k mod `tables`. Lists, sets, queues and stacks are texts in which each element comes after a comma;
 * the others are numbers. Tables of comparisons, queues and stacks also count their changes in `n`. A table of the
 * workload predicate has rows (drivers/sql/sql_ops.h), and so has one of the workload sql (drivers/sql/random_sql.h).
 *
 * Memory: a text for each statement and table. Constant after its start; any thread.
 */
#ifndef RIG_DRIVERS_SQL_PROGRAM_SCHEMA_H
#define RIG_DRIVERS_SQL_PROGRAM_SCHEMA_H

#include "drivers/sql/dialect_file.h"
#include "drivers/sql/random_sql.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_options.h"

/* X(identifier, name in a dialect's statements, type of a bound value: i a number, t a text) */
#define RIG_SQL_SAID_VALUES(X)                                                                                         \
    X(KEY, "key", 'i')                                                                                                 \
    X(VALUE, "value", 'i')                                                                                             \
    X(EXPECTED, "expected", 'i')                                                                                       \
    X(ELEMENT, "element", 't')                                                                                         \
    X(REST, "rest", 't')                                                                                               \
    X(SEEN, "seen", 'i')                                                                                               \
    X(LOW, "low", 'i')                                                                                                 \
    X(HIGH, "high", 'i')                                                                                               \
    X(NUMBER, "number", 'i')                                                                                           \
    X(CLASS, "class", 'i')

enum rig_sql_said_value {
#define RIG_SQL_SAID_ENUM(name, key, type) RIG_SQL_SAID_##name,
    RIG_SQL_SAID_VALUES(RIG_SQL_SAID_ENUM)
#undef RIG_SQL_SAID_ENUM
        RIG_SQL_SAID_COUNT
};

enum { RIG_SQL_SAID_MOST = 8 };

/* A statement with its values in the order of the `?`. */
struct rig_sql_said {
    char *text;                     /* owned */
    char *quoted;                   /* the same as a JSON string; owned */
    uint8_t values[RIG_ROW_VALUES]; /* enum rig_sql_said_value; of a program's statement: 0, 1, ... */
    char types[RIG_ROW_VALUES + 1];
    uint32_t value_count;
};

struct rig_sql_program_schema {
    const struct rig_sql_dialect_file *dialect;
    const struct rig_run_env *env;
    const struct rig_sql_options *options;
    char stem[64];             /* of the tables' names */
    struct rig_sql_said *said; /* of each table, by enum rig_sql_dialect_statement */
    struct rig_sql_said
        *of_rows; /* of each statement of a program: itself, and the selection of what an update changed */
    uint32_t said_count, row_count;
};

/* RIG_E_PLAN: the dialect cannot run it, with its reason; or its statement has an unknown `{name}`. */
enum rig_rc rig_sql_program_schema_init(struct rig_sql_program_schema *schema,
                                        const struct rig_sql_dialect_file *dialect, const struct rig_run_env *env,
                                        const struct rig_sql_options *options, struct rig_err *err);
void rig_sql_program_schema_done(struct rig_sql_program_schema *schema);

enum { RIG_SQL_PROGRAM_TABLE_BYTES = 96 };

/* The name of table `number`. */
void rig_sql_program_schema_table(const struct rig_sql_program_schema *schema, int64_t number,
                                  char name[static RIG_SQL_PROGRAM_TABLE_BYTES]);
/* The words in which its database takes the workload sql. */
enum rig_sql_random_dialect rig_sql_program_random_dialect(const struct rig_sql_dialect_file *dialect);
/* Adds a statement of operation `op` of the workload sql, of rig_sql_random_parts(). */
void rig_sql_program_random_print(const struct rig_sql_program_schema *schema,
                                  const struct rig_transaction *transaction, uint32_t op, uint32_t part,
                                  struct rig_buf *sql);
/* The statement `which` of the table of a key. */
const struct rig_sql_said *rig_sql_program_schema_say(const struct rig_sql_program_schema *schema, int64_t key,
                                                      enum rig_sql_dialect_statement which);
/* The dialect of a program's SQL. */
struct rig_sql_dialect rig_sql_program_schema_dialect(const struct rig_sql_program_schema *schema);
/* Scripts, with a semicolon and a space after each statement: the tables with the rows that they have before the load;
 * their removal. */
void rig_sql_program_schema_create(const struct rig_sql_program_schema *schema, struct rig_buf *sql);
void rig_sql_program_schema_drop(const struct rig_sql_program_schema *schema, struct rig_buf *sql);
/* The words of the dialect's shell, which it has, for transactions at a level. */
void rig_sql_program_schema_shell(const struct rig_sql_dialect_file *dialect, const struct rig_sql_dialect_level *level,
                                  const struct rig_row_schema *rows, struct rig_row_shell *shell);

#endif
