#include "drivers/sim/sim_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

#define SIM_NO_ROW UINT32_MAX

/* The rows that can fulfil a statement's conditions, and others. SIM_NO_ROW: the end. */
struct sim_candidates {
    const struct rig_sim_table *table;
    enum { SIM_BY_KEY, SIM_BY_PREFIX, SIM_BY_SCAN } by;
    uint32_t row;
};

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

/* The schema is borrowed. False when memory runs out; safe for `done` then. */
static bool sim_tables_init(struct rig_sim_tables *tables, const struct rig_row_schema *schema)
{
    *tables = (struct rig_sim_tables){.schema = schema, .at = calloc(schema->table_count, sizeof *tables->at)};
    for (uint32_t i = 0; i < schema->table_count && tables->at != NULL; i++) {
        tables->at[i].form = &schema->tables[i];
        rig_table_init(&tables->at[i].by_key);
        rig_table_init(&tables->at[i].by_prefix);
    }
    return tables->at != NULL;
}

static void sim_tables_done(struct rig_sim_tables *tables)
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
    while (row != SIM_NO_ROW && memcmp(key_of(table, row), key, count * sizeof *key) != 0)
        row = table->rows.at[row].next_of_key;
    return row;
}

/* The row with the primary key, which is made when it is new; SIM_NO_ROW when memory runs out. */
static uint32_t sim_tables_row(struct rig_sim_tables *tables, uint32_t index, const int64_t *key)
{
    struct rig_sim_table *table = &tables->at[index];
    const uint32_t count = table->form->key_count, known = find_row(table, key);
    if (known != SIM_NO_ROW)
        return known;
    const uint32_t row = (uint32_t)table->rows.count;
    if (row == SIM_NO_ROW || !rig_sim_row_vec_reserve(&table->rows, (size_t)row + 1) ||
        !rig_sim_cells_reserve(&table->keys, table->keys.count + count))
        return SIM_NO_ROW;
    uint32_t *of_key = rig_table_put(&table->by_key, hash_of(key, count));
    uint32_t *of_prefix = rig_table_put(&table->by_prefix, hash_of(key, prefix_of(table->form)));
    if (of_key == NULL || of_prefix == NULL)
        return SIM_NO_ROW;
    memcpy(table->keys.at + table->keys.count, key, count * sizeof *key);
    table->keys.count += count;
    table->rows.at[table->rows.count++] =
        (struct rig_sim_row){.newest = SIM_NO_ROW, .next_of_key = *of_key, .next_of_prefix = *of_prefix};
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

/* Whether the statement names one row by its primary key. */
static bool sim_statement_is_of_key(const struct rig_row_statement *statement, const struct rig_row_table *table)
{
    return statement->act == RIG_ROW_INSERT || demands(statement, NULL, table->key_count, NULL);
}

static struct sim_candidates sim_tables_find(const struct rig_sim_tables *tables,
                                             const struct rig_row_statement *statement, const int64_t *conditions)
{
    const struct rig_sim_table *table = &tables->at[statement->table];
    const uint32_t prefix = prefix_of(table->form);
    struct sim_candidates found = {.table = table, .by = SIM_BY_SCAN};
    int64_t cells[RIG_ROW_COLUMNS];
    if (demands(statement, conditions, table->form->key_count, cells)) {
        found.by = SIM_BY_KEY;
        found.row = find_row(table, cells);
    } else if (demands(statement, conditions, prefix, cells)) {
        found.by = SIM_BY_PREFIX;
        found.row = rig_table_get(&table->by_prefix, hash_of(cells, prefix));
    } else if (table->rows.count == 0) {
        found.row = SIM_NO_ROW;
    }
    return found;
}

static uint32_t sim_candidates_next(struct sim_candidates *candidates)
{
    const uint32_t row = candidates->row;
    if (row == SIM_NO_ROW)
        return row;
    if (candidates->by == SIM_BY_KEY)
        candidates->row = SIM_NO_ROW;
    else if (candidates->by == SIM_BY_PREFIX)
        candidates->row = candidates->table->rows.at[row].next_of_prefix;
    else
        candidates->row = (size_t)row + 1 < candidates->table->rows.count ? row + 1 : SIM_NO_ROW;
    return row;
}

/* The version of the row that commits up to `commit` show; SIM_NO_ROW: it is absent. */
static uint32_t sim_tables_version(const struct rig_sim_tables *tables, uint32_t index, uint32_t row, uint64_t commit)
{
    const struct rig_sim_table *table = &tables->at[index];
    uint32_t version = table->rows.at[row].newest;
    while (version != SIM_NO_ROW && table->versions.at[version].commit > commit)
        version = table->versions.at[version].older;
    return version == SIM_NO_ROW || table->versions.at[version].deleted ? SIM_NO_ROW : version;
}

static const int64_t *sim_tables_cells(const struct rig_sim_tables *tables, uint32_t index, uint32_t version)
{
    const struct rig_sim_table *table = &tables->at[index];
    RIG_REQUIRE(version < table->versions.count);
    return table->cells.at + (size_t)version * table->form->column_count;
}

/* Memory for `count` more versions in each table; false when it runs out. */
static bool sim_tables_reserve(struct rig_sim_tables *tables, size_t count)
{
    for (uint32_t i = 0; i < tables->schema->table_count; i++) {
        struct rig_sim_table *table = &tables->at[i];
        if (table->versions.count + count >= SIM_NO_ROW ||
            !rig_sim_row_versions_reserve(&table->versions, table->versions.count + count) ||
            !rig_sim_cells_reserve(&table->cells, table->cells.count + count * table->form->column_count))
            return false;
    }
    return true;
}

/* Adds a version of the commit. Memory was reserved. */
static void sim_tables_install(struct rig_sim_tables *tables, uint32_t index, uint32_t row, uint64_t commit,
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

/* Other streams of the seed are numbered by client. */
static const uint64_t rows_stream = UINT64_C(0x726f77) << 40;

/* ---- the store ---- */

enum rig_rc rig_sim_rows_check(const struct rig_sim_options *options, struct rig_err *err)
{
    static const unsigned bugs = 1u << RIG_SIM_BUG_NONE | 1u << RIG_SIM_BUG_LOST_UPDATE | 1u << RIG_SIM_BUG_STALE_READ |
                                 1u << RIG_SIM_BUG_MISSED_PIVOT | 1u << RIG_SIM_BUG_MOVING_SNAPSHOT |
                                 1u << RIG_SIM_BUG_LOST_COMMIT | 1u << RIG_SIM_BUG_ABORTED_COMMIT;
    if (options->bug >= 32 || (bugs >> options->bug & 1) == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "bug `%s` does not concern programs; use `lost-update`, `stale-read`, `missed-pivot`, "
                        "`moving-snapshot`, `lost-commit` or `aborted-commit`",
                        rig_sim_bug_names[options->bug]);
    return RIG_OK;
}

enum rig_rc rig_sim_row_store_init(struct rig_sim_row_store *store, const struct rig_row_schema *schema,
                                   const struct rig_sim_options *options, uint64_t seed, struct rig_err *err)
{
    store->options = *options;
    rig_rng_init(&store->rng, seed, rows_stream);
    return sim_tables_init(&store->tables, schema) ? RIG_OK : rig_no_memory(err, "the simulated tables");
}

void rig_sim_row_store_done(struct rig_sim_row_store *store)
{
    if (store->tables.schema != NULL)
        sim_tables_done(&store->tables);
}

bool rig_sim_row_store_load(struct rig_sim_row_store *store, uint32_t table, const int64_t *cells)
{
    const uint32_t row = sim_tables_row(&store->tables, table, cells);
    if (row == SIM_NO_ROW || !sim_tables_reserve(&store->tables, 1))
        return false;
    sim_tables_install(&store->tables, table, row, 0, cells, false);
    return true;
}

static bool strikes(struct rig_sim_row_store *store, enum rig_sim_bug bug)
{
    return store->options.bug == (int64_t)bug && rig_rng_unit(&store->rng) < store->options.bug_rate;
}

static bool uses_snapshots(const struct rig_sim_row_store *store)
{
    return store->options.isolation != RIG_SIM_READ_COMMITTED && store->options.isolation != RIG_SIM_READ_UNCOMMITTED;
}

/* ---- the transaction ---- */

static bool fail(struct rig_sim_rows *rows, const char *code, const char *text)
{
    rows->error_code = code;
    rows->error_text = text;
    return false;
}

static bool fail_for_memory(struct rig_sim_rows *rows)
{
    return fail(rows, "out-of-memory", "the simulated database has no memory left");
}

void rig_sim_rows_begin(struct rig_sim_rows *rows, struct rig_sim_row_store *store)
{
    const uint64_t commit = store->tables.commit;
    rows->store = store;
    rows->snapshot = commit;
    rows->is_stale = false;
    rows->own.count = rows->seen.count = 0;
    rows->error_code = rows->error_text = NULL;
    if (strikes(store, RIG_SIM_BUG_STALE_READ)) {
        const uint64_t back = 1 + rig_rng_below(&store->rng, (uint64_t)store->options.staleness);
        rows->snapshot = commit > back ? commit - back : 0;
        rows->is_stale = true;
    }
}

void rig_sim_rows_done(struct rig_sim_rows *rows)
{
    rig_sim_own_rows_done(&rows->own);
    rig_sim_seen_vec_done(&rows->seen);
}

static struct rig_sim_own_row *find_own(struct rig_sim_rows *rows, uint32_t table, uint32_t row)
{
    for (size_t i = 0; i < rows->own.count; i++) {
        if (rows->own.at[i].table == table && rows->own.at[i].row == row)
            return &rows->own.at[i];
    }
    return NULL;
}

/* The row as the transaction sees it when commits up to `commit` are visible; NULL: it is absent. */
static const int64_t *see(struct rig_sim_rows *rows, uint32_t table, uint32_t row, uint64_t commit)
{
    const struct rig_sim_own_row *own = find_own(rows, table, row);
    if (own != NULL)
        return own->deleted ? NULL : own->cells;
    const uint32_t version = sim_tables_version(&rows->store->tables, table, row, commit);
    return version == SIM_NO_ROW ? NULL : sim_tables_cells(&rows->store->tables, table, version);
}

/* The transaction's own copy of a row, of which it sees `cells`; NULL when memory runs out. */
static struct rig_sim_own_row *own_row(struct rig_sim_rows *rows, uint32_t table, uint32_t row, const int64_t *cells)
{
    struct rig_sim_own_row fresh = {.table = table, .row = row};
    struct rig_sim_own_row *known = find_own(rows, table, row);
    if (known != NULL)
        return known;
    memcpy(fresh.cells, cells, rows->store->tables.schema->tables[table].column_count * sizeof *cells);
    return rig_sim_own_rows_add(&rows->own, fresh) ? &rows->own.at[rows->own.count - 1] : NULL;
}

static bool matches(const int64_t *cells, const struct rig_row_statement *statement, const int64_t *conditions)
{
    for (uint32_t i = 0; i < statement->condition_count; i++) {
        const int64_t cell = cells[statement->conditions[i].column], value = conditions[i];
        switch ((enum rig_row_test)statement->conditions[i].test) {
        case RIG_ROW_EQUAL:
            if (cell != value)
                return false;
            break;
        case RIG_ROW_AT_LEAST:
            if (cell < value)
                return false;
            break;
        case RIG_ROW_BELOW:
            if (cell >= value)
                return false;
            break;
        }
    }
    return true;
}

static const int64_t *conditions_of(const struct rig_row_schema *schema, const struct rig_row_statement *statement,
                                    const int64_t *values)
{
    return values + rig_row_value_count(statement, &schema->tables[statement->table]) - statement->condition_count;
}

/* The sum of a hash of each committed row that fulfils the conditions, so that their order does not matter. */
static uint64_t digest_of(const struct rig_sim_row_store *store, const struct rig_row_statement *statement,
                          const int64_t *conditions, uint64_t commit)
{
    struct sim_candidates candidates = sim_tables_find(&store->tables, statement, conditions);
    uint64_t digest = 0;
    uint32_t row;
    while ((row = sim_candidates_next(&candidates)) != SIM_NO_ROW) {
        const uint32_t version = sim_tables_version(&store->tables, statement->table, row, commit);
        if (version == SIM_NO_ROW ||
            !matches(sim_tables_cells(&store->tables, statement->table, version), statement, conditions))
            continue;
        uint64_t mixed = ((uint64_t)row << 32 | version) + UINT64_C(0x9E3779B97F4A7C15);
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        digest += mixed ^ (mixed >> 27);
    }
    return digest;
}

/* Remembers the statement where the isolation level repeats it at the commit. */
static bool remember(struct rig_sim_rows *rows, uint32_t index, const int64_t *values)
{
    const struct rig_row_schema *schema = rows->store->tables.schema;
    const struct rig_row_statement *statement = &schema->statements[index];
    const struct rig_row_table *table = &schema->tables[statement->table];
    const bool repeats =
        rows->store->options.isolation == RIG_SIM_SERIALIZABLE ||
        (rows->store->options.isolation == RIG_SIM_REPEATABLE_READ && sim_statement_is_of_key(statement, table));
    if (!repeats)
        return true;
    struct rig_sim_seen_rows seen = {.statement = index};
    memcpy(seen.values, values, rig_row_value_count(statement, table) * sizeof *values);
    seen.digest = digest_of(rows->store, statement, conditions_of(schema, statement, values), rows->snapshot);
    return rig_sim_seen_vec_add(&rows->seen, seen);
}

/* ---- statements ---- */

static bool insert(struct rig_sim_rows *rows, uint32_t table, const int64_t *values, uint64_t commit)
{
    const uint32_t row = sim_tables_row(&rows->store->tables, table, values);
    if (row == SIM_NO_ROW)
        return fail_for_memory(rows);
    if (see(rows, table, row, commit) != NULL)
        return fail(rows, "duplicate-key", "there is a row with this primary key");
    struct rig_sim_own_row *own = own_row(rows, table, row, values);
    if (own == NULL)
        return fail_for_memory(rows);
    const uint32_t columns = rows->store->tables.schema->tables[table].column_count;
    memcpy(own->cells, values, columns * sizeof *values);
    own->inserted = !own->deleted;
    own->deleted = false;
    return true;
}

static void assign(int64_t *cells, const struct rig_row_statement *statement, const int64_t *values)
{
    for (uint32_t i = 0; i < statement->assignment_count; i++) {
        const struct rig_row_assignment *assignment = &statement->assignments[i];
        int64_t *cell = &cells[assignment->column];
        switch ((enum rig_row_source)assignment->source) {
        case RIG_ROW_COPY:
            *cell = cells[assignment->from];
            break;
        case RIG_ROW_SUM:
            *cell += *values++;
            break;
        case RIG_ROW_VALUE:
            *cell = *values++;
            break;
        }
    }
}

static bool give(struct rig_sim_rows *rows, struct rig_row_answer *answer, const int64_t *cells, uint32_t columns)
{
    if ((size_t)(answer->count + 1) * columns > answer->cell_capacity)
        return fail(rows, "too-large", "a statement of the program gave more rows than rig takes");
    memcpy(answer->cells + (size_t)answer->count++ * columns, cells, columns * sizeof *cells);
    return true;
}

/* Insertion sort: results are short. */
static void order(struct rig_row_answer *answer, const struct rig_row_statement *statement, uint32_t columns)
{
    int64_t kept[RIG_ROW_COLUMNS];
    for (uint32_t i = 1; i < answer->count; i++) {
        uint32_t at = i;
        memcpy(kept, answer->cells + (size_t)i * columns, columns * sizeof *kept);
        for (; at > 0; at--) {
            const int64_t *previous = answer->cells + (size_t)(at - 1) * columns;
            const int64_t left = previous[statement->order], right = kept[statement->order];
            if (statement->descending ? left >= right : left <= right)
                break;
            memcpy(answer->cells + (size_t)at * columns, previous, columns * sizeof *previous);
        }
        memcpy(answer->cells + (size_t)at * columns, kept, columns * sizeof *kept);
    }
}

/* Gives, changes or deletes a row that fulfils the conditions. */
static bool act_on(struct rig_sim_rows *rows, const struct rig_row_statement *statement, const int64_t *values,
                   uint32_t row, const int64_t *cells, struct rig_row_answer *answer)
{
    const uint32_t columns = rows->store->tables.schema->tables[statement->table].column_count;
    if (statement->act == RIG_ROW_SELECT)
        return give(rows, answer, cells, columns);
    struct rig_sim_own_row *own = own_row(rows, statement->table, row, cells);
    if (own == NULL)
        return fail_for_memory(rows);
    if (statement->act == RIG_ROW_DELETE) {
        own->deleted = true;
        answer->count++;
        return true;
    }
    assign(own->cells, statement, values);
    return give(rows, answer, own->cells, columns);
}

bool rig_sim_rows_execute(struct rig_sim_rows *rows, uint32_t index, const int64_t *values,
                          struct rig_row_answer *answer)
{
    struct rig_sim_row_store *store = rows->store;
    const struct rig_row_schema *schema = store->tables.schema;
    RIG_REQUIRE(index < schema->statement_count && rows->error_code == NULL);
    const struct rig_row_statement *statement = &schema->statements[index];
    const bool moves = !uses_snapshots(store) || strikes(store, RIG_SIM_BUG_MOVING_SNAPSHOT);
    const uint64_t commit = moves ? store->tables.commit : rows->snapshot;
    answer->count = statement->act == RIG_ROW_INSERT;
    if (statement->act == RIG_ROW_INSERT)
        return insert(rows, statement->table, values, commit);
    if (!moves && !remember(rows, index, values))
        return fail_for_memory(rows);
    const int64_t *conditions = conditions_of(schema, statement, values);
    struct sim_candidates candidates = sim_tables_find(&store->tables, statement, conditions);
    uint32_t row;
    while ((row = sim_candidates_next(&candidates)) != SIM_NO_ROW) {
        const int64_t *cells = see(rows, statement->table, row, commit);
        if (cells != NULL && matches(cells, statement, conditions) &&
            !act_on(rows, statement, values, row, cells, answer))
            return false;
    }
    if (statement->ordered)
        order(answer, statement, schema->tables[statement->table].column_count);
    if (statement->limit > 0 && answer->count > statement->limit)
        answer->count = statement->limit;
    return true;
}

/* ---- the commit ---- */

/* Whether the row can be written: snapshots demand that nothing was committed since. */
static bool check_own(struct rig_sim_rows *rows, const struct rig_sim_own_row *own)
{
    const struct rig_sim_tables *tables = &rows->store->tables;
    const struct rig_sim_table *table = &tables->at[own->table];
    const uint32_t newest = table->rows.at[own->row].newest;
    const bool lives = sim_tables_version(tables, own->table, own->row, tables->commit) != SIM_NO_ROW;
    if (own->inserted && lives)
        return fail(rows, "duplicate-key", "another transaction committed a row with this primary key");
    const bool changed = uses_snapshots(rows->store)
                             ? newest != SIM_NO_ROW && table->versions.at[newest].commit > rows->snapshot
                             : !own->inserted && !lives;
    return !changed || fail(rows, "conflict", "another transaction committed a row of this one first");
}

static bool validate(struct rig_sim_rows *rows)
{
    struct rig_sim_row_store *store = rows->store;
    const struct rig_row_schema *schema = store->tables.schema;
    for (size_t i = 0; i < rows->own.count; i++) {
        if (!check_own(rows, &rows->own.at[i]))
            return false;
    }
    if ((rows->is_stale && rows->own.count == 0) || strikes(store, RIG_SIM_BUG_MISSED_PIVOT))
        return true;
    for (size_t i = 0; i < rows->seen.count; i++) {
        const struct rig_sim_seen_rows *seen = &rows->seen.at[i];
        const struct rig_row_statement *statement = &schema->statements[seen->statement];
        const int64_t *conditions = conditions_of(schema, statement, seen->values);
        if (digest_of(store, statement, conditions, store->tables.commit) != seen->digest)
            return fail(rows, "not-serializable", "a statement of the transaction would give other rows now");
    }
    return true;
}

/* All at once, or nothing. */
static bool install(struct rig_sim_rows *rows)
{
    struct rig_sim_tables *tables = &rows->store->tables;
    if (!sim_tables_reserve(tables, rows->own.count))
        return fail_for_memory(rows);
    tables->commit++;
    for (size_t i = 0; i < rows->own.count; i++) {
        const struct rig_sim_own_row *own = &rows->own.at[i];
        sim_tables_install(tables, own->table, own->row, tables->commit, own->cells, own->deleted);
    }
    return true;
}

bool rig_sim_rows_commit(struct rig_sim_rows *rows)
{
    RIG_REQUIRE(rows->error_code == NULL);
    const bool blind = rows->own.count > 0 && strikes(rows->store, RIG_SIM_BUG_LOST_UPDATE);
    if (!blind && !validate(rows)) {
        rig_sim_rows_roll_back(rows);
        return false;
    }
    return strikes(rows->store, RIG_SIM_BUG_LOST_COMMIT) || install(rows);
}

void rig_sim_rows_roll_back(struct rig_sim_rows *rows)
{
    if (rows->own.count > 0 && strikes(rows->store, RIG_SIM_BUG_ABORTED_COMMIT))
        (void)install(rows);
}
