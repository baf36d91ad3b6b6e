/*
 * Tables and statements: what a program does to a database, as drivers see it.
 *
 * A program (generator/programs/program.h) is a transaction whose reads decide what it does next. It names its
 * statements by number; the schema describes them, so that a driver can prepare them before the load. Every cell is a
 * number of 64 bits and never NULL. Two columns of every table are rig's own: the one that holds the unique value of
 * the row's last write, and the one that keeps the value which that write replaced.
 *
 * Constant data during a run; any thread.
 */
#ifndef RIG_DRIVERS_ROWS_H
#define RIG_DRIVERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "history/model/transaction.h"

struct rig_transaction;

enum {
    RIG_ROW_COLUMNS = 24,    /* of a table at most */
    RIG_ROW_CONDITIONS = 6,  /* of a statement at most */
    RIG_ROW_ASSIGNMENTS = 8, /* of a statement at most */
    RIG_ROW_VALUES = RIG_ROW_COLUMNS,
};

struct rig_row_table {
    const char *name;
    const char *columns[RIG_ROW_COLUMNS]; /* the key's first */
    uint32_t column_count;
    uint32_t key_count;                /* leading columns that are the primary key */
    uint8_t index[RIG_ROW_CONDITIONS]; /* the columns of a further index */
    uint32_t index_count;              /* 0: none */
    uint8_t unique;                    /* a column with a constraint UNIQUE; 0: none */
    uint8_t refers;        /* a column with a foreign key that refers to `unique` of the same table; 0: none */
    uint32_t filler_bytes; /* of a text that no statement reads or writes, so that rows have a real size */
};

enum rig_row_act { RIG_ROW_SELECT, RIG_ROW_INSERT, RIG_ROW_UPDATE, RIG_ROW_DELETE };
enum rig_row_test { RIG_ROW_EQUAL, RIG_ROW_AT_LEAST, RIG_ROW_BELOW };
enum rig_row_source {
    RIG_ROW_VALUE, /* column = value */
    RIG_ROW_SUM,   /* column = column + value */
    RIG_ROW_COPY,  /* column = the column `from` as it was before; takes no value */
};

struct rig_row_condition {
    uint8_t column;
    uint8_t test; /* enum rig_row_test */
};

struct rig_row_assignment {
    uint8_t column;
    uint8_t source; /* enum rig_row_source */
    uint8_t from;   /* of a copy */
};

/*
 * Values are those of the assignments first, then those of the conditions, in their order; an insertion takes all
 * columns. Copies come before the assignment to the column that they copy.
 */
struct rig_row_statement {
    enum rig_row_act act;
    uint32_t table;
    struct rig_row_assignment assignments[RIG_ROW_ASSIGNMENTS];
    uint32_t assignment_count;
    struct rig_row_condition conditions[RIG_ROW_CONDITIONS];
    uint32_t condition_count;
    bool ordered; /* a selection: by `order` */
    uint8_t order;
    bool descending;
    uint32_t limit;  /* 0: none */
    bool for_update; /* a selection that locks its rows until the end, where the database can */
    bool counted;    /* an update that gives the number of its rows alone, and sends no other statement for them */
};

/* Whether the statement gives rows, not only their number. */
static inline bool rig_row_gives_rows(const struct rig_row_statement *statement)
{
    return statement->act == RIG_ROW_SELECT || (statement->act == RIG_ROW_UPDATE && !statement->counted);
}

/* The number of values that the statement takes. */
static inline uint32_t rig_row_value_count(const struct rig_row_statement *statement, const struct rig_row_table *table)
{
    uint32_t count = statement->condition_count;
    for (uint32_t i = 0; i < statement->assignment_count; i++)
        count += statement->assignments[i].source != RIG_ROW_COPY;
    return statement->act == RIG_ROW_INSERT ? table->column_count : count;
}

struct rig_row_schema {
    const struct rig_row_table *tables;
    uint32_t table_count;
    const struct rig_row_statement *statements;
    uint32_t statement_count;
};

/* The rows that a statement gives: all columns of each, in order. A selection gives those selected, an update those
 * updated, as they are afterwards; insertions, deletions and updates that are counted give their number alone. */
struct rig_row_answer {
    uint32_t count;
    int64_t *cells;       /* the caller's memory */
    size_t cell_capacity; /* more cells than that are an error of the transaction */
};

/* The open transaction of a session, as its program sees it; made by the driver. */
struct rig_rows {
    /* Runs the statement and fills the answer. False: the transaction has failed, and the program returns at once. */
    bool (*execute)(struct rig_rows *rows, uint32_t statement, const int64_t *values, struct rig_row_answer *answer);
    /* Optional: core->hold() for the transaction, such that its time does not count towards a time-out of the driver.
     * NULL: the core calls core->hold() itself. */
    void (*hold)(struct rig_rows *rows);
};

/* A program under way; made by the core. */
struct rig_row_program {
    /* Runs the statements of the transaction. False: roll back, or a statement failed. */
    bool (*body)(struct rig_row_program *program, struct rig_rows *rows);
    /* To be called after the body, before anything is sent that could commit. */
    void (*committing)(struct rig_row_program *program);
};

/* The code of a transaction that its program rolled back. */
#define RIG_ROWS_ROLLED_BACK "program-rollback"

/* The words of a database's own shell, for scripts that need no rig. The driver adds to the caller's buffers. */
struct rig_row_shell {
    struct rig_buf run;    /* a command of bash that reads statements, a line each, and prints their rows at once */
    struct rig_buf server; /* the variables that name the server, for a person */
    struct rig_buf setup;  /* lines at the start of each of its processes */
    struct rig_buf begin;  /* lines that begin a transaction at the plan's level; empty: the first statement does */
    struct rig_buf commit, rollback; /* without a semicolon */
    struct rig_buf mark;             /* a line that prints "step {n}" */
    struct rig_buf create;           /* the tables, a semicolon after each */
    struct rig_buf *statements;      /* those of the schema, with a ? for each value, and without a semicolon */
};

/* Optional group of a driver that runs programs. The run's schema is rig_run_env.rows; `setup` creates its tables,
 * empty, in place of those of the workload. */
struct rig_row_ops {
    /* Adds rows to a table before the load: `row_count` times all its columns. On the main thread, after `setup`. */
    enum rig_rc (*load)(void *run, uint32_t table, const int64_t *cells, uint32_t row_count, struct rig_err *err);
    /*
     * On the client's thread, in place of `transact`: opens a transaction, calls program->body, and commits or rolls
     * back. The transaction's question has read_only, client and node, and no operations. A transaction that the
     * program rolled back has failed, with the code RIG_ROWS_ROLLED_BACK. Never runs the program again.
     */
    enum rig_outcome (*run_program)(void *session, struct rig_transaction *transaction,
                                    struct rig_row_program *program);
    /*
     * Optional: runs a query after the load, on the main thread. `{name}` stands for the table of that name. Calls
     * `tell` for each row of the result, with its values as text.
     */
    enum rig_rc (*query)(void *run, const char *sql,
                         void (*tell)(void *context, const char *const *values, uint32_t count), void *context,
                         struct rig_err *err);
    /* Optional: no I/O except reading files that the options name. RIG_E_PLAN: there is no such shell, with the remedy.
     * */
    enum rig_rc (*shell)(const void *options, const struct rig_row_schema *rows, struct rig_row_shell *shell,
                         struct rig_err *err);
};

#endif
