#include "generator/programs/program_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "generator/programs/program.h"
#include "history/types/row_names.h"

enum { ROW_KEY_TABLE_BITS = 4 };

void rig_row_key_names(const struct rig_program *program, struct rig_buf *line)
{
    rig_buf_printf(line, RIG_ROW_NAMES_LINE "%d", ROW_KEY_TABLE_BITS);
    for (uint32_t i = 0; i < program->table_count; i++) {
        const struct rig_program_table *table = &program->tables[i];
        rig_buf_printf(line, " %s", table->rows.name);
        for (uint32_t j = 0; j < table->rows.key_count; j++)
            rig_buf_printf(line, ":%u", table->key_bits[j]);
    }
    rig_buf_add_char(line, '\n');
}

int64_t rig_row_key_pack(const struct rig_program *program, uint32_t table, const int64_t *columns)
{
    const struct rig_program_table *described = &program->tables[table];
    uint64_t key = 0;
    unsigned bits = ROW_KEY_TABLE_BITS;
    for (uint32_t i = 0; i < described->rows.key_count; i++) {
        const unsigned width = described->key_bits[i];
        if (columns[i] < 0 || (uint64_t)columns[i] >> width != 0)
            return -1;
        key = key << width | (uint64_t)columns[i];
        bits += width;
    }
    RIG_REQUIRE(bits < 64 && table >> ROW_KEY_TABLE_BITS == 0);
    return (int64_t)(key << ROW_KEY_TABLE_BITS | table);
}

uint32_t rig_row_key_unpack(const struct rig_program *program, int64_t key, int64_t columns[RIG_PROGRAM_KEY_COLUMNS])
{
    const uint32_t table = (uint32_t)((uint64_t)key & ((1U << ROW_KEY_TABLE_BITS) - 1));
    RIG_REQUIRE(table < program->table_count);
    const struct rig_program_table *described = &program->tables[table];
    uint64_t left = (uint64_t)key >> ROW_KEY_TABLE_BITS;
    for (uint32_t i = described->rows.key_count; i-- > 0;) {
        columns[i] = (int64_t)(left & ((UINT64_C(1) << described->key_bits[i]) - 1));
        left >>= described->key_bits[i];
    }
    return table;
}

/* A read of an absent row that was loaded, and that nothing deletes, shows this value. It has no writer. */
enum { LOST_ROW = -1 };

#define CALL_SALT UINT64_C(0x70726f6772616d73) /* keeps the random numbers of programs apart from others of the seed */

/* ---- life ---- */

static bool run_body(struct rig_row_program *base, struct rig_rows *rows);

enum rig_rc rig_program_call_init(struct rig_program_call *call, const struct rig_generator_options *options,
                                  uint32_t client, uint32_t client_count, struct rig_err *err)
{
    *call = (struct rig_program_call){.base = {.body = run_body},
                                      .program = rig_program_of(options->shape),
                                      .type = &rig_data_types[options->type],
                                      .size = rig_program_size_of(options),
                                      .locking = options->locking,
                                      .client = client,
                                      .client_count = client_count};
    RIG_REQUIRE(call->program != NULL);
    call->ops = calloc(RIG_PROGRAM_MOST_OPS, sizeof *call->ops);
    call->reads = calloc(RIG_PROGRAM_MOST_OPS, sizeof *call->reads);
    call->cells = calloc(RIG_PROGRAM_MOST_CELLS, sizeof *call->cells);
    call->times = calloc(RIG_PROGRAM_MOST_OPS, 2 * sizeof *call->times);
    if (call->ops == NULL || call->reads == NULL || call->cells == NULL || call->times == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the program of client %u", client);
    return RIG_OK;
}

void rig_program_call_done(struct rig_program_call *call)
{
    free(call->ops);
    free(call->reads);
    free(call->cells);
    free(call->times);
    *call = (struct rig_program_call){0};
}

static void clear(struct rig_program_call *call)
{
    call->kind = NULL;
    call->keys = NULL;
    call->key_count = 0;
    call->op_count = 0;
    call->timed = 0;
    call->failed = false;
    call->rollback = NULL;
    call->hold.due = false;
    call->hold.so_far = 0;
}

static const struct rig_program_kind *draw_kind(struct rig_program_call *call)
{
    const struct rig_program *program = call->program;
    uint32_t total = 0;
    for (uint32_t i = 0; i < program->kind_count; i++)
        total += program->kinds[i].weight;
    uint32_t at = (uint32_t)rig_rng_below(&call->rng, total);
    for (uint32_t i = 0; i < program->kind_count; i++) {
        if (at < program->kinds[i].weight)
            return &program->kinds[i];
        at -= program->kinds[i].weight;
    }
    RIG_INVARIANT(false);
    return NULL;
}

void rig_program_call_ask(struct rig_program_call *call, uint64_t seed, uint64_t position)
{
    clear(call);
    rig_rng_init(&call->rng, seed ^ CALL_SALT, position * call->client_count + call->client);
    call->kind = draw_kind(call);
}

void rig_program_call_ask_reads(struct rig_program_call *call, const int64_t *keys, uint32_t key_count)
{
    clear(call);
    call->keys = keys;
    call->key_count = key_count;
}

static bool run_body(struct rig_row_program *base, struct rig_rows *rows)
{
    struct rig_program_call *call = (struct rig_program_call *)base;
    call->rows = rows;
    if (call->kind != NULL)
        return call->kind->run(call) && !call->failed && call->rollback == NULL;
    for (uint32_t i = 0; i < call->key_count && !call->failed; i++) {
        int64_t columns[RIG_PROGRAM_KEY_COLUMNS];
        const uint32_t table = rig_row_key_unpack(call->program, call->keys[i], columns);
        (void)rig_program_find(call, table, columns);
    }
    return !call->failed && call->rollback == NULL;
}

/* ---- operations ---- */

/* Adds an operation; NULL, and the program rolls back, when there are too many. */
static struct rig_read *note(struct rig_program_call *call, enum rig_op_kind kind, int64_t key, int64_t value)
{
    const char *problem = call->op_count == RIG_PROGRAM_MOST_OPS ? "the transaction has more operations than rig takes"
                          : key < 0                              ? "the database gave a key that no row has"
                                                                 : NULL;
    if (problem != NULL) {
        (void)rig_program_roll_back(call, problem);
        return NULL;
    }
    call->ops[call->op_count] = (struct rig_op){.kind = kind, .key = key, .value = value};
    call->reads[call->op_count] = (struct rig_read){.state = RIG_READ_UNKNOWN};
    return &call->reads[call->op_count++];
}

static void set_version(struct rig_read *read, int64_t version)
{
    *read = version == 0 ? (struct rig_read){.state = RIG_READ_NIL}
                         : (struct rig_read){.state = RIG_READ_SEEN, .value = version};
}

/* The operations of the last statement have its times. */
static void note_times(struct rig_program_call *call, uint32_t first)
{
    if (call->now_ns == NULL || call->timed < first)
        return;
    for (uint32_t i = first; i < call->op_count; i++) {
        call->times[2 * (size_t)i] = call->began_ns;
        call->times[2 * (size_t)i + 1] = call->ended_ns;
    }
    call->timed = call->op_count;
}

static bool note_read(struct rig_program_call *call, int64_t key, int64_t version)
{
    struct rig_read *read = note(call, call->type->read_op, key, 0);
    if (read == NULL)
        return false;
    note_times(call, call->op_count - 1);
    set_version(read, version);
    return true;
}

static const struct rig_row_table *table_of(const struct rig_program_call *call, uint32_t table)
{
    RIG_REQUIRE(table < call->program->table_count);
    return &call->program->tables[table].rows;
}

static int64_t key_of(const struct rig_program_call *call, uint32_t table, const int64_t *key)
{
    return rig_row_key_pack(call->program, table, key);
}

static int64_t writer_of(const struct rig_row_table *table, const int64_t *row)
{
    return row[table->column_count - 1];
}

static int64_t overwritten_by(const struct rig_row_table *table, const int64_t *row)
{
    return row[table->column_count - 2];
}

static int64_t next_value(struct rig_program_call *call)
{
    return 1 + (int64_t)call->client + call->written++ * (int64_t)call->client_count;
}

/* ---- statements ---- */

static void hold(struct rig_program_call *call, uint32_t before_op)
{
    call->hold.due = false;
    if (call->hold.hold != NULL)
        call->hold.hold(call, before_op);
}

void rig_program_call_hold_at_commit(struct rig_program_call *call)
{
    if (call->hold.due && call->hold.place != RIG_HOLD_FIRST_WRITE)
        hold(call, call->op_count);
}

/* `writes`: the operations of the statement that are noted already; 0: it reads. */
static bool execute(struct rig_program_call *call, uint32_t statement, const int64_t *values, uint32_t writes,
                    struct rig_row_answer *answer)
{
    if (call->failed || call->rollback != NULL)
        return false;
    const bool is_place = call->hold.place == RIG_HOLD_ANY           ? call->hold.so_far >= call->hold.after
                          : call->hold.place == RIG_HOLD_FIRST_WRITE ? writes > 0
                                                                     : false;
    if (call->hold.due && is_place && call->hold.so_far > 0)
        hold(call, call->op_count - writes);
    call->hold.so_far++;
    *answer = (struct rig_row_answer){.cells = call->cells, .cell_capacity = RIG_PROGRAM_MOST_CELLS};
    if (call->now_ns != NULL)
        call->began_ns = call->now_ns();
    call->failed = !call->rows->execute(call->rows, statement, values, answer);
    if (call->now_ns != NULL)
        call->ended_ns = call->now_ns();
    note_times(call, call->op_count - writes);
    return !call->failed;
}

static const int64_t *get(struct rig_program_call *call, uint32_t table, const int64_t *key,
                          enum rig_program_of_table which)
{
    const struct rig_program_table *described = &call->program->tables[table];
    struct rig_row_answer answer;
    if (!execute(call, rig_program_table_statement(table, which), key, 0, &answer))
        return NULL;
    if (answer.count > 0)
        return note_read(call, key_of(call, table, key), writer_of(&described->rows, answer.cells)) ? answer.cells
                                                                                                    : NULL;
    if (!described->deletes)
        (void)note_read(call, key_of(call, table, key), described->standing ? LOST_ROW : 0);
    return NULL;
}

static const int64_t *require(struct rig_program_call *call, const int64_t *row)
{
    if (row == NULL && !call->failed)
        (void)rig_program_roll_back(call, "a row is missing");
    return row;
}

const int64_t *rig_program_find(struct rig_program_call *call, uint32_t table, const int64_t *key)
{
    return get(call, table, key, RIG_PROGRAM_GET);
}

const int64_t *rig_program_read(struct rig_program_call *call, uint32_t table, const int64_t *key)
{
    return require(call, rig_program_find(call, table, key));
}

const int64_t *rig_program_read_for_update(struct rig_program_call *call, uint32_t table, const int64_t *key)
{
    return require(call, get(call, table, key,
                             call->locking == RIG_LOCKING_FOR_UPDATE ? RIG_PROGRAM_GET_FOR_UPDATE : RIG_PROGRAM_GET));
}

uint32_t rig_program_query(struct rig_program_call *call, uint32_t query, const int64_t *values, const int64_t **rows)
{
    const uint32_t table = call->program->queries[query].table;
    const struct rig_row_table *described = table_of(call, table);
    struct rig_row_answer answer;
    *rows = NULL;
    if (!execute(call, rig_program_query_statement(call->program, query), values, 0, &answer))
        return 0;
    for (uint32_t i = 0; i < answer.count; i++) {
        const int64_t *row = answer.cells + (size_t)i * described->column_count;
        if (!note_read(call, key_of(call, table, row), writer_of(described, row)))
            return 0;
    }
    *rows = answer.cells;
    return answer.count;
}

/* Runs a statement that writes a row, with its operations noted before it is sent. The row's key comes last in
 * `values`. `*row`: as it is afterwards; NULL: there is none. */
static bool update(struct rig_program_call *call, uint32_t index, enum rig_program_of_update which, const int64_t *key,
                   const int64_t *values, const int64_t **row)
{
    const struct rig_program_update *described = &call->program->updates[index];
    const struct rig_row_table *table = table_of(call, described->table);
    const int64_t row_key = key_of(call, described->table, key);
    const uint32_t ops_before = call->op_count;
    int64_t sent[RIG_ROW_VALUES];
    uint32_t count = 0;
    sent[count++] = next_value(call);
    for (uint32_t i = 0; i < described->column_count; i++)
        sent[count++] = values[i];
    for (uint32_t i = 0; i < table->key_count; i++)
        sent[count++] = key[i];
    *row = NULL;
    struct rig_read *read = NULL;
    if (which == RIG_PROGRAM_ADD && (read = note(call, call->type->read_op, row_key, 0)) == NULL)
        return false;
    if (note(call, call->type->write_op, row_key, sent[0]) == NULL)
        return false;
    struct rig_row_answer answer;
    const uint32_t noted = call->op_count - ops_before;
    if (!execute(call, rig_program_update_statement(call->program, index, which), sent, noted, &answer))
        return false;
    if (answer.count == 0) {
        call->op_count = ops_before;
        return true;
    }
    if (read != NULL)
        set_version(read, overwritten_by(table, answer.cells));
    *row = answer.cells;
    return true;
}

bool rig_program_set(struct rig_program_call *call, uint32_t index, const int64_t *key, const int64_t *values)
{
    const int64_t *row;
    return update(call, index, RIG_PROGRAM_SET, key, values, &row) && require(call, row) != NULL;
}

/* The read and the update that a sum is without a statement for it. */
static const int64_t *read_then_set(struct rig_program_call *call, uint32_t index, const int64_t *key,
                                    const int64_t *amounts)
{
    const struct rig_program_update *described = &call->program->updates[index];
    const int64_t *row = rig_program_read_for_update(call, described->table, key);
    if (row == NULL)
        return NULL;
    int64_t sums[RIG_ROW_ASSIGNMENTS];
    for (uint32_t i = 0; i < described->column_count; i++)
        sums[i] = row[described->columns[i]] + amounts[i];
    return update(call, index, RIG_PROGRAM_SET, key, sums, &row) ? require(call, row) : NULL;
}

const int64_t *rig_program_add(struct rig_program_call *call, uint32_t index, const int64_t *key,
                               const int64_t *amounts)
{
    if (call->locking != RIG_LOCKING_ATOMIC_UPDATE)
        return read_then_set(call, index, key, amounts);
    const int64_t *row;
    return update(call, index, RIG_PROGRAM_ADD, key, amounts, &row) ? require(call, row) : NULL;
}

bool rig_program_insert(struct rig_program_call *call, uint32_t table, const int64_t *cells)
{
    const struct rig_row_table *described = table_of(call, table);
    const uint32_t own = described->column_count - RIG_PROGRAM_OWN_COUNT;
    int64_t row[RIG_ROW_COLUMNS];
    memcpy(row, cells, own * sizeof *row);
    row[own] = 0;
    row[own + 1] = next_value(call);
    struct rig_row_answer answer;
    if (note(call, call->type->write_op, key_of(call, table, cells), row[own + 1]) == NULL ||
        !execute(call, rig_program_table_statement(table, RIG_PROGRAM_INSERT), row, 1, &answer))
        return false;
    if (answer.count == 1)
        return true;
    call->op_count--;
    return rig_program_roll_back(call, "a row was not inserted");
}

bool rig_program_delete(struct rig_program_call *call, uint32_t table, const int64_t *key, bool *found)
{
    struct rig_row_answer answer;
    if (note(call, call->type->write_op, key_of(call, table, key), next_value(call)) == NULL ||
        !execute(call, rig_program_table_statement(table, RIG_PROGRAM_DELETE), key, 1, &answer))
        return false;
    *found = answer.count > 0;
    if (!*found)
        call->op_count--;
    return true;
}

bool rig_program_roll_back(struct rig_program_call *call, const char *reason)
{
    if (call->rollback == NULL)
        call->rollback = reason;
    return false;
}

int64_t rig_program_fresh(struct rig_program_call *call)
{
    return next_value(call);
}

int64_t rig_program_draw(struct rig_program_call *call, int64_t least, int64_t most)
{
    RIG_REQUIRE(least <= most);
    return least + (int64_t)rig_rng_below(&call->rng, (uint64_t)(most - least) + 1);
}
