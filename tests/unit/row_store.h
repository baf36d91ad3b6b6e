/*
 * Tables in memory that interpret the statements of programs (drivers/rows.h), one transaction at a time: the model of
 * what a driver does. Linear searches.
 */
#ifndef RIG_TESTS_UNIT_ROW_STORE_H
#define RIG_TESTS_UNIT_ROW_STORE_H

#include <string.h>

#include "base/vec.h"
#include "drivers/rows.h"
#include "tests/unit/cmocka_first.h"

RIG_VEC(int64_t, row_cells)

enum { ROW_STORE_TABLES = 16 };

struct row_store {
    struct rig_rows rows; /* first */
    const struct rig_row_schema *schema;
    struct row_cells tables[ROW_STORE_TABLES];
    struct row_cells before[ROW_STORE_TABLES]; /* the open transaction */
    uint64_t executed;
    uint64_t fail_at; /* this statement fails, counted from 1; 0: none */
};

static inline uint32_t store_columns(const struct row_store *store, uint32_t table)
{
    return store->schema->tables[table].column_count;
}

static inline size_t store_count(const struct row_store *store, uint32_t table)
{
    return store->tables[table].count / store_columns(store, table);
}

static inline int64_t *store_row(struct row_store *store, uint32_t table, size_t index)
{
    return store->tables[table].at + index * store_columns(store, table);
}

static inline void store_add(struct row_store *store, uint32_t table, const int64_t *cells)
{
    for (uint32_t i = 0; i < store_columns(store, table); i++)
        assert_true(row_cells_add(&store->tables[table], cells[i]));
}

static inline void store_remove(struct row_store *store, uint32_t table, size_t index)
{
    const uint32_t columns = store_columns(store, table);
    struct row_cells *cells = &store->tables[table];
    memmove(cells->at + index * columns, cells->at + (index + 1) * columns,
            (cells->count - (index + 1) * columns) * sizeof *cells->at);
    cells->count -= columns;
}

static inline bool store_matches(const int64_t *row, const struct rig_row_statement *statement, const int64_t *values)
{
    for (uint32_t i = 0; i < statement->condition_count; i++) {
        const int64_t cell = row[statement->conditions[i].column];
        const uint8_t test = statement->conditions[i].test;
        if (test == RIG_ROW_EQUAL ? cell != values[i] : test == RIG_ROW_BELOW ? cell >= values[i] : cell < values[i])
            return false;
    }
    return true;
}

static inline void store_give(struct rig_row_answer *answer, const int64_t *row, uint32_t columns)
{
    assert_true((size_t)(answer->count + 1) * columns <= answer->cell_capacity);
    memcpy(answer->cells + (size_t)answer->count++ * columns, row, columns * sizeof *row);
}

static inline void store_assign(int64_t *row, const struct rig_row_statement *statement, const int64_t *values)
{
    for (uint32_t i = 0; i < statement->assignment_count; i++) {
        const struct rig_row_assignment *assignment = &statement->assignments[i];
        if (assignment->source == RIG_ROW_COPY)
            row[assignment->column] = row[assignment->from];
        else
            row[assignment->column] = (assignment->source == RIG_ROW_SUM ? row[assignment->column] : 0) + *values++;
    }
}

/* Insertion sort of the rows of an answer. */
static inline void store_order(struct rig_row_answer *answer, const struct rig_row_statement *statement,
                               uint32_t columns)
{
    const int64_t sign = statement->descending ? -1 : 1;
    for (uint32_t i = 1; i < answer->count; i++) {
        for (uint32_t j = i; j > 0; j--) {
            int64_t *row = answer->cells + (size_t)j * columns, *previous = row - columns;
            if (sign * previous[statement->order] <= sign * row[statement->order])
                break;
            for (uint32_t k = 0; k < columns; k++) {
                const int64_t kept = row[k];
                row[k] = previous[k];
                previous[k] = kept;
            }
        }
    }
}

static inline bool store_insert(struct row_store *store, uint32_t table, const int64_t *values)
{
    for (size_t i = 0; i < store_count(store, table); i++) {
        if (memcmp(store_row(store, table, i), values, store->schema->tables[table].key_count * sizeof *values) == 0)
            return false; /* a duplicate key */
    }
    store_add(store, table, values);
    return true;
}

static inline bool store_execute(struct rig_rows *rows, uint32_t index, const int64_t *values,
                                 struct rig_row_answer *answer)
{
    struct row_store *store = (struct row_store *)rows;
    assert_true(index < store->schema->statement_count);
    const struct rig_row_statement *statement = &store->schema->statements[index];
    const uint32_t table = statement->table, columns = store_columns(store, table);
    if (++store->executed == store->fail_at)
        return false;
    answer->count = 0;
    if (statement->act == RIG_ROW_INSERT) {
        answer->count = 1;
        return store_insert(store, table, values);
    }
    const int64_t *conditions =
        values + rig_row_value_count(statement, &store->schema->tables[table]) - statement->condition_count;
    for (size_t i = 0; i < store_count(store, table); i++) {
        int64_t *row = store_row(store, table, i);
        if (!store_matches(row, statement, conditions))
            continue;
        if (statement->act == RIG_ROW_UPDATE)
            store_assign(row, statement, values);
        if (statement->act != RIG_ROW_DELETE) {
            store_give(answer, row, columns);
            continue;
        }
        store_remove(store, table, i--);
        answer->count++;
    }
    if (statement->ordered)
        store_order(answer, statement, columns);
    if (statement->limit > 0 && answer->count > statement->limit)
        answer->count = statement->limit;
    return true;
}

static inline void store_copy(struct row_cells *to, const struct row_cells *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        assert_true(row_cells_add(to, from->at[i]));
}

/* Runs a program as a driver does; returns whether it committed. */
static inline bool store_run(struct row_store *store, struct rig_row_program *program)
{
    for (uint32_t i = 0; i < store->schema->table_count; i++)
        store_copy(&store->before[i], &store->tables[i]);
    const bool commits = program->body(program, &store->rows);
    for (uint32_t i = 0; !commits && i < store->schema->table_count; i++)
        store_copy(&store->tables[i], &store->before[i]);
    return commits;
}

static inline void store_done(struct row_store *store)
{
    for (uint32_t i = 0; i < ROW_STORE_TABLES; i++) {
        row_cells_done(&store->tables[i]);
        row_cells_done(&store->before[i]);
    }
}

#endif
