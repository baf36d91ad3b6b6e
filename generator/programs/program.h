/*
 * Programs: applications as transactions over tables, whose reads decide what they do next.
 *
 * A program is a table of tables, statements, kinds of transactions, and conditions that its tables fulfil when
 * transactions are isolated. Drivers run its statements (drivers/rows.h); everything else is here. A kind draws its
 * inputs from random numbers that are a function of the seed, the client and the position in its stream, so that a
 * stream is the same for every run; what the statements answer decides the rest.
 *
 * Each row is a register of the history. Its value is that of the column `writer`, which every write sets to a value
 * that no other write of the run has; the column `overwrote` keeps the value before. A row's key in the history packs
 * its table and its primary key (generator/programs/program_call.h). A row as it was loaded, or that is absent and was
 * never inserted, is the initial state.
 *
 *   selection of rows          a read of each row that it gives; without rows nothing, except by the primary key:
 *                              the initial state, unless transactions delete rows of that table
 *   insertion, update          a write of the row
 *   update of a sum            a read of the value that it overwrote, then a write
 *   deletion                   a write, if there was a row; that the row is absent afterwards is no read
 *
 * A write is noted before it is sent, so that a transaction that failed has every write that the database may have
 * seen.
 *
 * Sources of each program: its file. Reasons: docs/adr/0030-applications-as-programs.md.
 *
 * Threads: a call from one thread at a time; all else is constant.
 */
#ifndef RIG_GENERATOR_PROGRAMS_PROGRAM_H
#define RIG_GENERATOR_PROGRAMS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/vec.h"
#include "drivers/rows.h"
#include "generator/generator.h"

struct rig_program_call;

enum {
    RIG_PROGRAM_CONDITION_COLUMNS = 6,
    RIG_PROGRAM_KEY_COLUMNS = 6,      /* of a primary key at most */
    RIG_PROGRAM_MOST_OPS = 2048,      /* of a transaction; more are an error of it */
    RIG_PROGRAM_MOST_CELLS = 1 << 14, /* of a statement's answer */
};

/* The last two columns of every table. */
#define RIG_PROGRAM_OWN_COLUMNS "overwrote", "writer"
enum { RIG_PROGRAM_OWN_COUNT = 2 };

struct rig_program_table {
    struct rig_row_table rows;
    uint8_t key_bits[RIG_PROGRAM_KEY_COLUMNS]; /* of each column of the primary key in a row's key */
    bool standing;                             /* its rows are loaded; transactions neither insert nor delete any */
    bool deletes;                              /* transactions delete rows */
};

/* Updates of some columns of the row with a primary key. */
struct rig_program_update {
    uint32_t table;
    uint8_t columns[RIG_ROW_ASSIGNMENTS - RIG_PROGRAM_OWN_COUNT];
    uint32_t column_count;
};

struct rig_program_kind {
    const char *name;
    uint32_t weight; /* in the mix */
    bool read_only;
    /* The transaction. False: it rolls back, or a statement failed. */
    bool (*run)(struct rig_program_call *call);
};

/* A condition on the tables after the load. */
struct rig_program_condition {
    const char *name;   /* "tpcc-1" */
    const char *text;   /* what is fulfilled */
    const char *source; /* its clause */
    const char *sql;    /* gives the rows that break it, with columns as in `columns`; `{name}` is a table */
    const char *columns[RIG_PROGRAM_CONDITION_COLUMNS];
    /* Update serializability guarantees each condition; snapshot isolation too, but where this is set. */
    bool needs_more_than_snapshots;
};

struct rig_program_size {
    int64_t warehouses, users, rows;
};

/* Rows before the load. */
struct rig_program_loader {
    const struct rig_program_size *size;
    struct rig_rng rng;
    /* Adds one row: all columns but the last two. */
    enum rig_rc (*add)(struct rig_program_loader *loader, uint32_t table, const int64_t *cells, struct rig_err *err);
};

struct rig_program {
    const char *name; /* of the shape */
    const struct rig_program_table *tables;
    const struct rig_row_statement *queries; /* selections other than by the primary key */
    const struct rig_program_update *updates;
    const struct rig_program_kind *kinds;
    const struct rig_program_condition *conditions;
    uint32_t table_count, query_count, update_count, kind_count, condition_count;
    enum rig_rc (*load)(struct rig_program_loader *loader, struct rig_err *err);
    /* RIG_E_PLAN for sizes that its keys cannot hold. */
    enum rig_rc (*check)(const struct rig_program_size *size, struct rig_err *err);
};

/* The program of a shape (enum rig_load_shape); NULL: it has none. */
const struct rig_program *rig_program_of(int64_t shape);
struct rig_program_size rig_program_size_of(const struct rig_generator_options *options);
/* Rejects a plan whose shape has no program, or sizes that it cannot have. RIG_E_PLAN. */
enum rig_rc rig_program_check(const struct rig_generator_options *options, struct rig_err *err);

/* The tables and all statements, for drivers. */
enum rig_rc rig_program_schema_new(const struct rig_program *program, struct rig_row_schema **schema,
                                   struct rig_err *err);
void rig_program_schema_free(struct rig_row_schema *schema);

/*
 * The programs, one file each.
 */

extern const struct rig_program rig_program_cart;
extern const struct rig_program rig_program_courseware;
extern const struct rig_program rig_program_smallbank;
extern const struct rig_program rig_program_tpcc;

/*
 * The numbers of a program's statements: four of each table, then its queries, then two of each update.
 */

enum rig_program_of_table {
    RIG_PROGRAM_GET,
    RIG_PROGRAM_GET_FOR_UPDATE,
    RIG_PROGRAM_INSERT,
    RIG_PROGRAM_DELETE,
    RIG_PROGRAM_OF_TABLE,
};

enum rig_program_of_update { RIG_PROGRAM_SET, RIG_PROGRAM_ADD, RIG_PROGRAM_OF_UPDATE };

static inline uint32_t rig_program_table_statement(uint32_t table, enum rig_program_of_table which)
{
    return table * RIG_PROGRAM_OF_TABLE + (uint32_t)which;
}

static inline uint32_t rig_program_query_statement(const struct rig_program *program, uint32_t query)
{
    return program->table_count * RIG_PROGRAM_OF_TABLE + query;
}

static inline uint32_t rig_program_update_statement(const struct rig_program *program, uint32_t update,
                                                    enum rig_program_of_update which)
{
    return rig_program_query_statement(program, program->query_count) + update * RIG_PROGRAM_OF_UPDATE +
           (uint32_t)which;
}

#endif
