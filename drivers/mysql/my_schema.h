/*
 * The place of a workload's tables, and its statements.
 *
 * Key k is in table k mod `tables`: rig_list_N or rig_set_N (k bigint, v longtext, or k, v, n with a row for each
 * element, numbered by n), rig_register_N, rig_counter_N or rig_account_N (k, v bigint), in a database with the run's
 * name. Queues and stacks are texts as lists are (rig_row_N), locks the number of the holder, from 1, or 0
 * (rig_lock_N). In a database that the plan names, the tables have the run's name in the place of `rig`. A key without
 * a row is in its initial state.
 *
 * A table of the workload predicate, rig_table_N, has rows (drivers/sql/sql_ops.h).
 *
 * A write that compares also counts in `n`, so that a row that it matches is a row that it changes: the server reports
 * changed rows. A value is taken from a queue or stack as the statement's last insert id, which one UPDATE can return.
 * The server evaluates the assignments of an UPDATE from left to right, each with the values of those before it.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_SCHEMA_H
#define RIG_DRIVERS_MYSQL_MY_SCHEMA_H

#include "base/buf.h"
#include "drivers/driver.h"
#include "drivers/mysql/my_options.h"
#include "drivers/sql/row_sql.h"
#include "drivers/sql/sql_ops.h"

enum { RIG_MY_STEM_BYTES = 64, RIG_MY_TABLE_BYTES = RIG_MY_DATABASE_BYTES + RIG_MY_STEM_BYTES + 16 };
enum { RIG_MY_VALUES_MOST = RIG_ROW_VALUES + RIG_ROW_CONDITIONS };
enum { RIG_MY_STEPS = 4 }; /* statements of one operation */

struct rig_my_place {
    char database[RIG_MY_DATABASE_BYTES]; /* without quotes, and with none in it */
    char stem[RIG_MY_STEM_BYTES];         /* of a table's name, before its number: "rig_list_" */
    bool own;                             /* the run makes the database */
};

/* A statement: its text with a `?` for each value, and the number of the value that stands there. */
struct rig_my_statement {
    char *text; /* owned */
    uint8_t order[RIG_MY_VALUES_MOST];
    uint32_t value_count; /* of `?` */
    uint32_t next;        /* the statement that follows it for the same operation; 0: none */
};

/* A program's statement: the statement, and for an update the selection of the same rows. */
struct rig_my_row_statement {
    uint32_t number; /* in the schema's statements */
    uint32_t selection;
    bool by_key; /* the update is of one row, by its whole key, which it does not change */
};

struct rig_my_schema {
    const struct rig_my_options *options;
    enum rig_workload workload;
    struct rig_my_place place;
    struct rig_my_statement *statements; /* owned */
    uint32_t statement_count;
    const struct rig_row_schema *rows; /* the tables of programs, in place of those of the workload; NULL: none */
    struct rig_my_row_statement *row_statements; /* owned */
    char prefix[RIG_MY_TABLE_BYTES];
    bool prefilled;   /* keys have rows without a value before the load */
    uint32_t clauses; /* of struct rig_run_env */
};

/* `env` and `options` outlive it. Safe for rig_my_schema_done() after a failure. */
enum rig_rc rig_my_schema_init(struct rig_my_schema *schema, const struct rig_run_env *env,
                               const struct rig_my_options *options, struct rig_err *err);
void rig_my_schema_done(struct rig_my_schema *schema);

/* The number of the statement of operation `op`, and its values (key, value, expected, further); UINT32_MAX: none of
 * its own. */
uint32_t rig_my_schema_of_op(const struct rig_my_schema *schema, const struct rig_transaction *transaction, uint32_t op,
                             struct rig_sql_numbers *numbers);
/* The statements that do the work of that one, in order, all with its values; the last one's answer is the operation's.
 * None for UINT32_MAX. */
uint32_t rig_my_schema_steps(const struct rig_my_schema *schema, uint32_t number, uint32_t steps[static RIG_MY_STEPS]);
/* Adds the statement with its values written in. */
void rig_my_statement_print(const struct rig_my_statement *statement, const int64_t *values, struct rig_buf *sql);

/* START TRANSACTION for the transaction. */
const char *rig_my_schema_begin(const struct rig_my_schema *schema, bool read_only);
/* Adds the settings that the options name to a SET statement that has one already. */
void rig_my_schema_settings(const struct rig_my_options *options, struct rig_buf *sql);
/* The statements that set a session up, for one request. */
void rig_my_schema_session(const struct rig_my_schema *schema, struct rig_buf *sql);

uint32_t rig_my_schema_table_count(const struct rig_my_schema *schema);
/* A table as SQL names it, and its bare name. */
void rig_my_schema_table(const struct rig_my_schema *schema, uint32_t table, char name[static RIG_MY_TABLE_BYTES]);
/* The columns of a table of the workload, for CREATE TABLE. */
const char *rig_my_schema_columns(const struct rig_my_schema *schema);
/* Whether reads of sequences give a row for each element. */
bool rig_my_schema_has_element_rows(const struct rig_my_schema *schema);
/* The dialect of a program's SQL; borrows the schema. */
struct rig_sql_dialect rig_my_schema_dialect(const struct rig_my_schema *schema);

#endif
