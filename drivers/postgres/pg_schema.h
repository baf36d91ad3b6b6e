/*
 * The place of a workload's tables, and its statements.
 *
 * Key k is in table k mod `tables`: rig_list_N or rig_set_N (k bigint, v text or bigint[]) or rig_register_N,
 * rig_counter_N or rig_account_N (k bigint, v bigint), in a schema with the run's name. With a row for each element of
 * a set, rows are (k bigint, v bigint, n bigint) and numbered by n in the order of their insertion, in which they are
 * read: so most reads of a set show the elements of earlier ones first, and take little space in a record. Queues and
 * stacks are arrays (rig_row_N), locks the number of the holder, from 1, or 0 (rig_lock_N). In a schema that the plan
 * names, the tables have the run's name in the place of `rig`. A key without a row is in its initial state. Statements
 * name tables with their schema: a pooler may give each transaction another session, with another search_path. The
 * statements of a run are fixed texts, prepared under rig_<index>; the simple protocol sends them with their numbers
 * written in.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_SCHEMA_H
#define RIG_DRIVERS_POSTGRES_PG_SCHEMA_H

#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"
#include "base/buf.h"
#include "drivers/postgres/pg_options.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_ops.h"
#include "drivers/sql/sql_values.h"

enum { RIG_PG_STATEMENT_NAME_BYTES = 32, RIG_PG_STATEMENT_TEXT_BYTES = 2560, RIG_PG_NUMBERS = 4 };
enum { RIG_PG_STEM_BYTES = 64, RIG_PG_TABLE_BYTES = RIG_PG_SCHEMA_NAME_BYTES + RIG_PG_STEM_BYTES + 16 };

struct rig_pg_place {
    char schema[RIG_PG_SCHEMA_NAME_BYTES]; /* without quotes, and with none in it */
    char stem[RIG_PG_STEM_BYTES];          /* of a table's name, before its number: "rig_list_" */
    bool own;                              /* the run makes the schema */
};

void rig_pg_place_find(const struct rig_run_env *env, const struct rig_pg_options *options, struct rig_pg_place *place);
/* Table `number` as SQL names it. */
void rig_pg_place_table(const struct rig_pg_place *place, int64_t number, char name[static RIG_PG_TABLE_BYTES]);

/* What SQL writes before the name of a program's table: the schema, and in a schema of the plan the run's name. */
void rig_pg_place_prefix(const struct rig_pg_place *place, char prefix[static RIG_PG_TABLE_BYTES]);

struct rig_pg_statement {
    char name[RIG_PG_STATEMENT_NAME_BYTES]; /* empty: it is not prepared, and takes no numbers */
    char text[RIG_PG_STATEMENT_TEXT_BYTES]; /* with $1 the key, $2 the value and $3 the expected value */
    int parameter_count;
};

/* Statements of every run come first, then those of each table. */
enum rig_pg_fixed {
    RIG_PG_BEGIN,
    RIG_PG_BEGIN_READ_ONLY,
    RIG_PG_BEGIN_DEFERRABLE,
    RIG_PG_BEGIN_STANDBY, /* repeatable read at most */
    RIG_PG_COMMIT,
    RIG_PG_ROLLBACK,
    RIG_PG_SAVEPOINT,
    RIG_PG_ROLLBACK_TO,
    RIG_PG_OF_LEVEL, /* the first four for each level, where transactions have levels of their own */
    RIG_PG_FIXED_COUNT = RIG_PG_OF_LEVEL + RIG_PG_COMMIT * RIG_SQL_ISOLATION_COUNT,
};
enum rig_pg_of_table {
    RIG_PG_READ,
    RIG_PG_READ_LOCKED, /* of transactions that also write */
    RIG_PG_PUT,         /* the upsert */
    RIG_PG_UPDATE,      /* of insert-then-update: the first statement */
    RIG_PG_INSERT,      /* of insert-then-update: the statement when there was no row */
    RIG_PG_REPLACE,     /* the row's number, by a sum of what was read and an increment */
    RIG_PG_COMPARE, /* objects: a write that changes no row unless the value is as expected; a lock is released by it */
    RIG_PG_TAKE,    /* queues and stacks */
    RIG_PG_EXTEND,  /* an append to a string, which changes no row where it is full */
    RIG_PG_ROWS,    /* of the workload predicate: the first of its statements (drivers/sql/sql_ops.h) */
    RIG_PG_OF_TABLE_COUNT = RIG_PG_ROWS + RIG_SQL_PREDICATE_COUNT,
};

struct rig_pg_schema {
    const struct rig_pg_options *options;
    enum rig_workload workload;
    struct rig_pg_place place;
    struct rig_pg_statement *statements; /* owned */
    size_t statement_count;
    const char *run_name;              /* borrowed */
    uint32_t clauses;                  /* of struct rig_run_env */
    bool views;                        /* statements return their snapshots and the writers of rows (pg_view.h) */
    const struct rig_row_schema *rows; /* the tables of programs, in place of those of the workload; NULL: none */
};

/* `env` and `options` outlive it. */
enum rig_rc rig_pg_schema_init(struct rig_pg_schema *schema, const struct rig_run_env *env,
                               const struct rig_pg_options *options, struct rig_err *err);
void rig_pg_schema_done(struct rig_pg_schema *schema);

/* The statement that begins a transaction of that level. */
const struct rig_pg_statement *rig_pg_schema_begin(const struct rig_pg_schema *schema, enum rig_pg_fixed which,
                                                   int64_t isolation);
const struct rig_pg_statement *rig_pg_schema_fixed(const struct rig_pg_schema *schema, enum rig_pg_fixed which);
/* The statement of the transaction's savepoint that precedes operation `op`; NULL: none. */
const struct rig_pg_statement *rig_pg_schema_before_op(const struct rig_pg_schema *schema,
                                                       const struct rig_transaction *transaction, uint32_t op);
const struct rig_pg_statement *rig_pg_schema_of_key(const struct rig_pg_schema *schema, int64_t key,
                                                    enum rig_pg_of_table which);
/* True when this run's options use the statement; others need not be prepared. */
bool rig_pg_schema_uses(const struct rig_pg_schema *schema, size_t statement);

/* The same as texts, for the parameters of a prepared statement; values point into it. */
struct rig_pg_texts {
    char at[RIG_PG_NUMBERS][RIG_SQL_INT_BYTES];
    const char *values[RIG_PG_NUMBERS];
};
void rig_pg_texts_print(struct rig_pg_texts *texts, const struct rig_sql_numbers *numbers);

/*
 * The statement of operation `op` of the transaction, and its numbers. NULL: none of its own, because the write after
 * it compares. An operation on an object is one statement, which changes one row: it takes effect at once, at any
 * isolation level.
 */
const struct rig_pg_statement *rig_pg_schema_of_op(const struct rig_pg_schema *schema,
                                                   const struct rig_transaction *transaction, uint32_t op,
                                                   struct rig_sql_numbers *numbers);
/* Writes the statement with its numbers in the place of $1 to $4; at least twice its text's size. */
void rig_pg_statement_print(const struct rig_pg_statement *statement, const struct rig_sql_numbers *numbers, char *text,
                            size_t size);

/* The number of the run's tables, and the one of an index as SQL names it. */
uint32_t rig_pg_schema_table_count(const struct rig_pg_schema *schema);
void rig_pg_schema_table(const struct rig_pg_schema *schema, uint32_t table, char name[static RIG_PG_TABLE_BYTES]);

/* The columns of a table, for CREATE TABLE; and the columns of a further index, for CREATE INDEX, or NULL. */
const char *rig_pg_schema_columns(const struct rig_pg_schema *schema);
const char *rig_pg_schema_index(const struct rig_pg_schema *schema);
/*
 * The SQL of a run's programs (drivers/rows.h). Each statement is one round trip, because the program decides by its
 * answer what comes next.
 */
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

#endif
