#include "drivers/sim/sim_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { PREFIX_COLUMNS = 2 };

/* The mixing is that of splitmix64. */
static uint64_t hash_of(const int64_t *cells, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)cells[i]) + UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ (hash >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        hash = (hash ^ (hash >> 27)) * UINT64_C(0x94D049BB133111EB);
        hash ^= hash >> 31;
    }
    return hash;
}

static uint32_t prefix_of(const struct rig_row_table *form)
{
    return form->key_count < PREFIX_COLUMNS ? form->key_count : PREFIX_COLUMNS;
}

bool rig_sim_tables_init(struct rig_sim_tables *tables, const struct rig_row_schema *schema)
{
    *tables = (struct rig_sim_tables){.schema = schema, .at = calloc(schema->table_count, sizeof *tables->at)};
    for (uint32_t i = 0; i < schema->table_count && tables->at != NULL; i++) {
        tables->at[i].form = &schema->tables[i];
        rig_table_init(&tables->at[i].by_key);
        rig_table_init(&tables->at[i].by_prefix);
    }
    return tables->at != NULL;
}

void rig_sim_tables_done(struct rig_sim_tables *tables)
{
    for (uint32_t i = 0; tables->at != NULL && i < tables->schema->table_count; i++) {
        struct rig_sim_table *table = &tables->at[i];
        rig_sim_row_vec_done(&table->rows);
        rig_sim_cells_done(&table->keys);
        rig_sim_row_versions_done(&table->versions);
        rig_sim_cells_done(&table->cells);
        rig_table_done(&table->by_key);
        rig_table_done(&table->by_prefix);
    }
    free(tables->at);
    *tables = (struct rig_sim_tables){0};
}

static const int64_t *key_of(const struct rig_sim_table *table, uint32_t row)
{
    return table->keys.at + (size_t)row * table->form->key_count;
}

static uint32_t find_row(const struct rig_sim_table *table, const int64_t *key)
{
    const uint32_t count = table->form->key_count;
    uint32_t row = rig_table_get(&table->by_key, hash_of(key, count));
    while (row != RIG_SIM_NO_ROW && memcmp(key_of(table, row), key, count * sizeof *key) != 0)
        row = table->rows.at[row].next_of_key;
    return row;
}

uint32_t rig_sim_tables_row(struct rig_sim_tables *tables, uint32_t index, const int64_t *key)
{
    struct rig_sim_table *table = &tables->at[index];
    const uint32_t count = table->form->key_count, known = find_row(table, key);
    if (known != RIG_SIM_NO_ROW)
        return known;
    const uint32_t row = (uint32_t)table->rows.count;
    if (row == RIG_SIM_NO_ROW || !rig_sim_row_vec_reserve(&table->rows, (size_t)row + 1) ||
        !rig_sim_cells_reserve(&table->keys, table->keys.count + count))
        return RIG_SIM_NO_ROW;
    uint32_t *of_key = rig_table_put(&table->by_key, hash_of(key, count));
    uint32_t *of_prefix = rig_table_put(&table->by_prefix, hash_of(key, prefix_of(table->form)));
    if (of_key == NULL || of_prefix == NULL)
        return RIG_SIM_NO_ROW;
    memcpy(table->keys.at + table->keys.count, key, count * sizeof *key);
    table->keys.count += count;
    table->rows.at[table->rows.count++] =
        (struct rig_sim_row){.newest = RIG_SIM_NO_ROW, .next_of_key = *of_key, .next_of_prefix = *of_prefix};
    *of_key = *of_prefix = row;
    return row;
}

/* Whether conditions demand the values of the first `count` columns, which are written to `cells`. */
static bool demands(const struct rig_row_statement *statement, const int64_t *conditions, uint32_t count,
                    int64_t *cells)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < statement->condition_count; i++) {
        const struct rig_row_condition *condition = &statement->conditions[i];
        if (condition->test != RIG_ROW_EQUAL || condition->column >= count)
            continue;
        found |= 1u << condition->column;
        if (conditions != NULL)
            cells[condition->column] = conditions[i];
    }
    return found == (1u << count) - 1;
}

bool rig_sim_statement_is_of_key(const struct rig_row_statement *statement, const struct rig_row_table *table)
{
    return statement->act == RIG_ROW_INSERT || demands(statement, NULL, table->key_count, NULL);
}

struct rig_sim_candidates rig_sim_tables_find(const struct rig_sim_tables *tables,
                                              const struct rig_row_statement *statement, const int64_t *conditions)
{
    const struct rig_sim_table *table = &tables->at[statement->table];
    const uint32_t prefix = prefix_of(table->form);
    struct rig_sim_candidates found = {.table = table, .by = RIG_SIM_BY_SCAN};
    int64_t cells[RIG_ROW_COLUMNS];
    if (demands(statement, conditions, table->form->key_count, cells)) {
        found.by = RIG_SIM_BY_KEY;
        found.row = find_row(table, cells);
    } else if (demands(statement, conditions, prefix, cells)) {
        found.by = RIG_SIM_BY_PREFIX;
        found.row = rig_table_get(&table->by_prefix, hash_of(cells, prefix));
    } else if (table->rows.count == 0) {
        found.row = RIG_SIM_NO_ROW;
    }
    return found;
}

uint32_t rig_sim_candidates_next(struct rig_sim_candidates *candidates)
{
    const uint32_t row = candidates->row;
    if (row == RIG_SIM_NO_ROW)
        return row;
    if (candidates->by == RIG_SIM_BY_KEY)
        candidates->row = RIG_SIM_NO_ROW;
    else if (candidates->by == RIG_SIM_BY_PREFIX)
        candidates->row = candidates->table->rows.at[row].next_of_prefix;
    else
        candidates->row = (size_t)row + 1 < candidates->table->rows.count ? row + 1 : RIG_SIM_NO_ROW;
    return row;
}

uint32_t rig_sim_tables_version(const struct rig_sim_tables *tables, uint32_t index, uint32_t row, uint64_t commit)
{
    const struct rig_sim_table *table = &tables->at[index];
    uint32_t version = table->rows.at[row].newest;
    while (version != RIG_SIM_NO_ROW && table->versions.at[version].commit > commit)
        version = table->versions.at[version].older;
    return version == RIG_SIM_NO_ROW || table->versions.at[version].deleted ? RIG_SIM_NO_ROW : version;
}

const int64_t *rig_sim_tables_cells(const struct rig_sim_tables *tables, uint32_t index, uint32_t version)
{
    const struct rig_sim_table *table = &tables->at[index];
    RIG_REQUIRE(version < table->versions.count);
    return table->cells.at + (size_t)version * table->form->column_count;
}

bool rig_sim_tables_reserve(struct rig_sim_tables *tables, size_t count)
{
    for (uint32_t i = 0; i < tables->schema->table_count; i++) {
        struct rig_sim_table *table = &tables->at[i];
        if (table->versions.count + count >= RIG_SIM_NO_ROW ||
            !rig_sim_row_versions_reserve(&table->versions, table->versions.count + count) ||
            !rig_sim_cells_reserve(&table->cells, table->cells.count + count * table->form->column_count))
            return false;
    }
    return true;
}

void rig_sim_tables_install(struct rig_sim_tables *tables, uint32_t index, uint32_t row, uint64_t commit,
                            const int64_t *cells, bool deleted)
{
    struct rig_sim_table *table = &tables->at[index];
    const uint32_t columns = table->form->column_count;
    const struct rig_sim_row_version fresh = {
        .commit = commit, .older = table->rows.at[row].newest, .deleted = deleted};
    RIG_REQUIRE(table->versions.count < table->versions.capacity);
    RIG_REQUIRE(table->cells.count + columns <= table->cells.capacity);
    table->versions.at[table->versions.count++] = fresh;
    memcpy(table->cells.at + table->cells.count, cells, columns * sizeof *cells);
    table->cells.count += columns;
    table->rows.at[row].newest = (uint32_t)table->versions.count - 1;
}
