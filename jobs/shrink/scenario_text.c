#include "jobs/shrink/scenario_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "checker/model/level.h"
#include "history/model/builder.h"
#include "history/model/read_list.h"
#include "history/types/sql_forms.h"
#include "history/types/types.h"

/* As in run/scenario/scenario.h, which this layer does not know. */
enum { SESSIONS_MOST = 16, STEPS_MOST = 128, ROWS_MOST = 256 };

struct scene {
    const struct rig_history *history;
    struct rig_op *ops; /* of rows: those of the history, as drivers have them; in an arena */
    const struct rig_interleaving *interleaving;
    int64_t initial;              /* the value of a row that nothing has written */
    const uint32_t *first_writes; /* by key: the write whose value its row has from the start; UINT32_MAX: none */
    struct rig_buf *yaml;
};

/* No transaction wrote it. */
static int64_t choose_initial(const struct rig_history *history)
{
    int64_t initial = 0;
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!rig_op_reads(op->kind) && op->value <= initial)
            initial = op->value - 1;
    }
    return initial;
}

/* The value of the row that a read shows. */
static int64_t value_read(const struct scene *scene, const struct rig_txn_op *op)
{
    if (op->read_state != RIG_READ_SEEN)
        return scene->initial;
    if (!rig_op_reads_sequence(op->kind))
        return op->value;
    const struct rig_read_list list = rig_txn_op_list(scene->history, op);
    return list.count == 0 ? scene->initial : rig_read_element(&list, list.count - 1);
}

/* ---- first rows ---- */

/* Whether another transaction writes the key of a write before it. */
static bool is_written_before(const struct scene *scene, uint32_t write)
{
    const struct rig_history *history = scene->history;
    const uint32_t writer = rig_history_txn_of(history, write);
    for (uint32_t i = 0; i < scene->interleaving->step_count; i++) {
        const struct rig_interleaved *step = &scene->interleaving->steps[i];
        if (step->op == write)
            return false;
        if (step->statement == RIG_STATEMENT_OPERATION && step->txn != writer &&
            !rig_op_reads(history->ops[step->op].kind) && history->ops[step->op].key == history->ops[write].key)
            return true;
    }
    return false;
}

static bool shows_initial(const struct rig_history *history, const struct rig_txn_op *read)
{
    if (read->read_state != RIG_READ_SEEN)
        return true;
    return rig_op_reads_sequence(read->kind) && rig_txn_op_list(history, read).count == 0;
}

/* Whether the transaction can run before all others without a change of what they read: it reads nothing, and each key
 * that it writes was written by no other one before, and is not read in its initial state. */
static bool is_opening(const struct scene *scene, uint32_t txn)
{
    const struct rig_history *history = scene->history;
    bool opens = history->txns[txn].outcome == RIG_OUTCOME_OK;
    for (uint32_t i = history->txns[txn].first_op; opens && i < history->txns[txn + 1].first_op; i++) {
        opens = !rig_op_reads(history->ops[i].kind) && !is_written_before(scene, i);
        for (uint32_t read = 0; opens && read < history->op_count; read++)
            opens = !rig_op_reads(history->ops[read].kind) || history->ops[read].key != history->ops[i].key ||
                    !shows_initial(history, &history->ops[read]);
    }
    return opens;
}

/* Gives rows the values of the transactions that open the history. */
static enum rig_rc find_first_writes(struct scene *scene, struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    uint32_t *writes = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *writes);
    if (writes == NULL)
        return rig_no_memory(err, "the rows of a scenario");
    for (uint32_t key = 0; key < history->key_count; key++)
        writes[key] = UINT32_MAX;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t i = history->txns[txn].first_op; is_opening(scene, txn) && i < history->txns[txn + 1].first_op;
             i++)
            writes[history->ops[i].key] = i;
    }
    scene->first_writes = writes;
    return RIG_OK;
}

static uint32_t first_write(const struct scene *scene, uint32_t key)
{
    return scene->first_writes == NULL ? UINT32_MAX : scene->first_writes[key];
}

/* Whether the first rows have what the transaction wrote, so that the scenario has no steps of it. */
static bool is_opened(const struct scene *scene, uint32_t txn)
{
    const struct rig_history *history = scene->history;
    if (scene->first_writes == NULL || rig_txn_op_count(history, txn) == 0)
        return false;
    const uint32_t write = first_write(scene, rig_txn_ops(history, txn)[0].key);
    return write != UINT32_MAX && rig_history_txn_of(history, write) == txn;
}

static int64_t first_value(const struct scene *scene, uint32_t key)
{
    const uint32_t write = first_write(scene, key);
    return write == UINT32_MAX ? scene->initial : scene->history->ops[write].value;
}

static bool has_rows(const struct rig_history *history)
{
    return rig_data_types[history->workload].shape == RIG_RESULT_ROWS;
}

static void add_rows(const struct scene *scene)
{
    if (has_rows(scene->history)) {
        rig_buf_add_text(scene->yaml, "table: {name: test, columns: [id, k, v, c], rows: []}\n");
        return;
    }
    rig_buf_add_text(scene->yaml, "table: {name: test, columns: [id, value], rows: [");
    for (uint32_t key = 0; key < scene->history->key_count; key++)
        rig_buf_printf(scene->yaml, "%s[%u, %" PRId64 "]", key == 0 ? "" : ", ", (unsigned)key + 1,
                       first_value(scene, key));
    rig_buf_add_text(scene->yaml, "]}\n");
}

/* ---- statements on rows ---- */

/* The statement of an operation on rows; RIG_SQL_PREDICATE_COUNT: another operation does its work. */
static enum rig_sql_predicate form_of(const struct scene *scene, const struct rig_interleaved *step,
                                      struct rig_sql_numbers *numbers)
{
    const uint32_t first = scene->history->txns[step->txn].first_op;
    return rig_sql_ops_predicate(scene->ops + first, rig_txn_op_count(scene->history, step->txn), step->op - first,
                                 numbers);
}

static bool lists_rows(enum rig_sql_predicate form)
{
    return form == RIG_SQL_LIST_BY_ID || form == RIG_SQL_LIST_BY_CLASS;
}

/* Whether a number or a sum says that no row meets the condition: the selection of a scenario shows that, too. */
static bool counts_none(const struct rig_history *history, enum rig_sql_predicate form, const struct rig_txn_op *read)
{
    if (form != RIG_SQL_COUNT_BY_ID && form != RIG_SQL_COUNT_BY_CLASS && form != RIG_SQL_SUM_BY_ID &&
        form != RIG_SQL_SUM_BY_CLASS)
        return false;
    if (read->read_state != RIG_READ_SEEN)
        return read->read_state == RIG_READ_NIL;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    return list.count == 2 && rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1));
}

static void add_condition(const struct scene *scene, enum rig_sql_predicate form, const struct rig_sql_numbers *numbers)
{
    static const bool by_class[RIG_SQL_PREDICATE_COUNT] = {[RIG_SQL_LIST_BY_CLASS] = true,
                                                           [RIG_SQL_COUNT_BY_CLASS] = true,
                                                           [RIG_SQL_SUM_BY_CLASS] = true,
                                                           [RIG_SQL_UPDATE_BY_CLASS] = true,
                                                           [RIG_SQL_DELETE_BY_CLASS] = true};
    const char *column = by_class[form] ? "c" : "id";
    rig_buf_printf(scene->yaml, " where k = %" PRId64, numbers->key);
    if (numbers->value > 0)
        rig_buf_printf(scene->yaml, " and %s >= %" PRId64, column, numbers->value);
    if (numbers->expected < INT64_MAX)
        rig_buf_printf(scene->yaml, " and %s < %" PRId64, column, numbers->expected + 1);
    rig_buf_add_char(scene->yaml, '\n');
}

static void add_row_step(const struct scene *scene, const struct rig_interleaved *step)
{
    struct rig_sql_numbers numbers;
    const enum rig_sql_predicate form = form_of(scene, step, &numbers);
    struct rig_buf *yaml = scene->yaml;
    if (form == RIG_SQL_PREDICATE_COUNT)
        return;
    rig_buf_printf(yaml, "  - T%u: ", (unsigned)rig_txn_name(scene->history, step->txn));
    if (form == RIG_SQL_INSERT) {
        rig_buf_printf(yaml, "insert into test values (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")\n",
                       numbers.value, numbers.key, numbers.value, rig_row_class(numbers.value));
        return;
    }
    if (form == RIG_SQL_UPDATE_BY_ID || form == RIG_SQL_UPDATE_BY_CLASS)
        rig_buf_printf(yaml, "update test set v = %" PRId64 ", c = %" PRId64, numbers.further,
                       rig_row_class(numbers.further));
    else
        rig_buf_printf(yaml, "%s from test", numbers.further != 0 ? "delete" : "select *");
    add_condition(scene, form, &numbers);
}

static int compare_pairs(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* The rows of a read that lists them. */
static void add_rows_read(const struct scene *scene, const struct rig_interleaved *step, uint32_t number)
{
    struct rig_sql_numbers numbers;
    const enum rig_sql_predicate form = form_of(scene, step, &numbers);
    int64_t pairs[2 * ROWS_MOST];
    if (counts_none(scene->history, form, &scene->history->ops[step->op])) {
        rig_buf_printf(scene->yaml, "      %u: []\n", (unsigned)number);
        return;
    }
    if (!lists_rows(form) || scene->history->ops[step->op].read_state == RIG_READ_UNKNOWN)
        return;
    const struct rig_read_list list = rig_txn_op_list(scene->history, &scene->history->ops[step->op]);
    const uint32_t count = list.count < 2 * ROWS_MOST ? list.count : 2 * ROWS_MOST;
    rig_read_copy(&list, 0, count, pairs);
    qsort(pairs, count / 2, 2 * sizeof *pairs, compare_pairs);
    rig_buf_printf(scene->yaml, "      %u: [", (unsigned)number);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        rig_buf_printf(scene->yaml, "%s[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", i == 0 ? "" : ", ",
                       pairs[i], numbers.key, pairs[i + 1], rig_row_class(pairs[i + 1]));
    rig_buf_add_text(scene->yaml, "]\n");
}

/* Whether the table of another key has a row with the number of this insert. */
static bool is_twice(const struct rig_history *history, uint32_t op)
{
    for (uint32_t i = 0; i < op; i++) {
        const struct rig_txn_op *other = &history->ops[i];
        if (!rig_op_reads(other->kind) && other->value == history->ops[op].value && other->key != history->ops[op].key)
            return other->value > 0;
    }
    return false;
}

/* The operations of a history of rows. RIG_E_USAGE where a scenario has no such condition, or one number for rows of
 * two tables, which are one table in a scenario. */
static enum rig_rc take_rows(struct scene *scene, struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    scene->ops = rig_arena_array(arena, (size_t)history->op_count + 1, sizeof *scene->ops);
    if (scene->ops == NULL)
        return rig_no_memory(err, "the statements of a scenario");
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        struct rig_row_where where;
        const bool is_read = rig_op_reads(op->kind);
        scene->ops[i] = (struct rig_op){
            .kind = (enum rig_op_kind)op->kind, .key = history->keys[op->key], .value = is_read ? 0 : op->value};
        if (is_read)
            continue;
        if (op->value < 0 && (!rig_row_condition_of(op->value, &where) || where.column > RIG_ROW_BY_CLASS))
            return rig_fail(err, RIG_E_USAGE, "a scenario has conditions on the numbers and classes of rows alone");
        if (op->value >= 0 && rig_row_is_of_sql(op->value))
            return rig_fail(err, RIG_E_USAGE, "a scenario has no rows of random SQL");
        if (is_twice(history, i))
            return rig_fail(err, RIG_E_USAGE, "a row has the same number in two tables, which a scenario joins");
    }
    return RIG_OK;
}

/* ---- its names ---- */

static enum rig_level level_of(const struct rig_smallest_part *part)
{
    if (part->level != RIG_LEVEL_COUNT)
        return part->level;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (part->verdict->weakest_refuted & RIG_LEVEL_BIT(level))
            return (enum rig_level)level;
    }
    return RIG_LEVEL_STRICT_SERIALIZABLE;
}

static void add_names(const struct scene *scene, const struct rig_smallest_part *part)
{
    rig_buf_printf(scene->yaml,
                   "name: %s-of-a-history\ntitle: the smallest part with this anomaly\nanomaly: %s\nlevel: %s\n",
                   rig_anomaly_info(part->anomaly)->name, rig_anomaly_info(part->anomaly)->name,
                   rig_level_info(level_of(part))->name);
}

/* ---- rows with constraints ---- */

/*
 * A broken constraint of random SQL. A row has its number (id), its version (v), u, which is unique, and r, which
 * refers to the u of a row. A row without u has one of its own here, and one without r refers to itself. The last
 * session reads what is there when all others have ended.
 */

enum { OWN_UNIQUE = 100 }; /* above each value that a random row can have */

static bool is_constraint(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_BROKEN_UNIQUE || anomaly == RIG_ANOMALY_BROKEN_REFERENCE;
}

struct keyed_row {
    int64_t id, version, unique, reference;
    bool is_there;
};

static void fill_row(struct keyed_row *row, int64_t number, uint32_t place)
{
    const uint32_t contents =
        rig_row_class(number) == RIG_ROW_KEYED_CLASS ? (uint32_t)rig_row_payload(number) : RIG_ROW_NULL;
    const uint32_t unique = rig_row_column_code(contents, RIG_ROW_UNIQUE);
    const uint32_t reference = rig_row_column_code(contents, RIG_ROW_REFERENCE);
    *row = (struct keyed_row){.id = number, .version = number};
    row->unique = unique == RIG_ROW_NULL ? OWN_UNIQUE + (int64_t)place : rig_row_value_of(unique);
    row->reference = reference == RIG_ROW_NULL ? row->unique : rig_row_value_of(reference);
}

struct keyed_rows {
    struct keyed_row *at;
    uint32_t count, steps;
    struct rig_buf *yaml;
};

static void add_cells(const struct keyed_row *row, const char *between, struct rig_buf *yaml)
{
    rig_buf_printf(yaml, "%s%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, between, row->id, row->version,
                   row->unique, row->reference);
}

/* The statement of a write: of an update or a delete, one for each row of the part that it met. */
static void add_keyed_write(struct keyed_rows *rows, const struct rig_history *history, uint32_t op, bool commits)
{
    const uint32_t txn = rig_history_txn_of(history, op);
    const int64_t number = history->ops[op].value;
    const unsigned name = rig_txn_name(history, txn);
    if (rig_row_inserts(number)) {
        struct keyed_row *row = &rows->at[rows->count];
        fill_row(row, number, rows->count++);
        row->is_there = commits;
        rig_buf_printf(rows->yaml, "  - T%u: insert into test values (", name);
        add_cells(row, "", rows->yaml);
        rig_buf_add_text(rows->yaml, ")\n");
        rows->steps++;
        return;
    }
    const bool removes = rig_row_action(number) == RIG_ROWS_DELETE;
    const struct rig_read_list met = op > 0 && rig_op_reads(history->ops[op - 1].kind)
                                         ? rig_txn_op_list(history, &history->ops[op - 1])
                                         : (struct rig_read_list){.count = 0};
    for (uint32_t i = 0; i + 1 < met.count; i += 2) {
        uint32_t at = 0;
        while (at < rows->count && rows->at[at].id != rig_read_element(&met, i))
            at++;
        if (at == rows->count)
            continue;
        if (removes)
            rig_buf_printf(rows->yaml, "  - T%u: delete from test where id = %" PRId64 "\n", name, rows->at[at].id);
        else
            rig_buf_printf(rows->yaml, "  - T%u: update test set v = %" PRId64 " where id = %" PRId64 "\n", name,
                           number, rows->at[at].id);
        rows->at[at].is_there = rows->at[at].is_there && !(removes && commits);
        rows->at[at].version = !removes && commits ? number : rows->at[at].version;
        rows->steps++;
    }
}

static void add_keyed_end(struct keyed_rows *rows, const struct rig_history *history, uint32_t txn)
{
    rig_buf_printf(rows->yaml, "  - T%u: %s\n", (unsigned)rig_txn_name(history, txn),
                   history->txns[txn].outcome == RIG_OUTCOME_FAIL ? "rollback" : "commit");
    rows->steps++;
}

static void add_keyed_sign(const struct keyed_rows *rows, const struct rig_history *history)
{
    bool is_first = true;
    rig_buf_add_text(rows->yaml, "  - after: select * from test\n  - after: commit\nshows:\n  - committed: [");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            rig_buf_printf(rows->yaml, "T%u, ", (unsigned)rig_txn_name(history, txn));
    }
    rig_buf_printf(rows->yaml, "after]\n    answers:\n      %u: [", (unsigned)rows->steps + 1);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!rows->at[i].is_there)
            continue;
        add_cells(&rows->at[i], is_first ? "[" : ", [", rows->yaml);
        rig_buf_add_char(rows->yaml, ']');
        is_first = false;
    }
    rig_buf_add_text(rows->yaml, "]\n");
}

static enum rig_rc write_keyed_steps(const struct scene *scene, struct keyed_rows *rows, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    for (uint32_t i = 0; i < scene->interleaving->step_count; i++) {
        const struct rig_interleaved *step = &scene->interleaving->steps[i];
        const bool commits = history->txns[step->txn].outcome != RIG_OUTCOME_FAIL;
        if (step->statement == RIG_STATEMENT_END)
            add_keyed_end(rows, history, step->txn);
        else if (step->statement == RIG_STATEMENT_OPERATION && !rig_op_reads(history->ops[step->op].kind) &&
                 history->ops[step->op].value > 0)
            add_keyed_write(rows, history, step->op, commits);
    }
    if (rows->steps + 2 > STEPS_MOST)
        return rig_fail(err, RIG_E_USAGE, "the part has %u statements, and a scenario has at most %d",
                        (unsigned)rows->steps, (int)STEPS_MOST - 2);
    add_keyed_sign(rows, history);
    return RIG_OK;
}

static enum rig_rc write_keyed_scene(const struct scene *scene, const struct rig_smallest_part *part,
                                     struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    struct keyed_rows rows = {.at = rig_arena_array(arena, (size_t)history->op_count + 1, sizeof *rows.at),
                              .yaml = scene->yaml};
    if (rows.at == NULL)
        return rig_no_memory(err, "the rows of a scenario");
    if (history->key_count > 1 || history->txn_count >= SESSIONS_MOST)
        return rig_fail(err, RIG_E_USAGE, "a scenario of a constraint has one table and at most %d transactions",
                        (int)SESSIONS_MOST - 1);
    rig_buf_printf(scene->yaml,
                   "# The smallest part of a history with this anomaly. A row has its number (id), its version (v), u, "
                   "which is unique,\n# and r, which refers to the u of a row. A row that had no u has one from %d on, "
                   "and one that had no r refers to itself.\n# T<n> is the transaction's number in the history.\n",
                   (int)OWN_UNIQUE);
    add_names(scene, part);
    rig_buf_add_text(scene->yaml,
                     "table: {name: test, columns: [id, v, u, r], rows: [], unique: u, refers: r}\nsteps:\n");
    const enum rig_rc rc = write_keyed_steps(scene, &rows, err);
    return rc == RIG_OK && scene->yaml->failed ? rig_no_memory(err, "a scenario") : rc;
}

/* ---- the steps ---- */

static void add_step(const struct scene *scene, const struct rig_interleaved *step)
{
    const struct rig_history *history = scene->history;
    if (step->statement == RIG_STATEMENT_BEGIN || is_opened(scene, step->txn))
        return; /* a scenario begins a transaction with its first step */
    if (step->statement == RIG_STATEMENT_OPERATION && has_rows(history)) {
        add_row_step(scene, step);
        return;
    }
    rig_buf_printf(scene->yaml, "  - T%u: ", (unsigned)rig_txn_name(history, step->txn));
    if (step->statement == RIG_STATEMENT_END) {
        rig_buf_add_text(scene->yaml, history->txns[step->txn].outcome == RIG_OUTCOME_FAIL ? "rollback\n" : "commit\n");
        return;
    }
    const struct rig_txn_op *op = &history->ops[step->op];
    if (rig_op_reads(op->kind))
        rig_buf_printf(scene->yaml, "select * from test where id = %u\n", (unsigned)op->key + 1);
    else
        rig_buf_printf(scene->yaml, "update test set value = %" PRId64 " where id = %u\n", op->value,
                       (unsigned)op->key + 1);
}

/* Each acknowledged transaction commits, and its reads have their results. */
static void add_sign(const struct scene *scene)
{
    const struct rig_history *history = scene->history;
    bool first = true;
    uint32_t number = 0;
    rig_buf_add_text(scene->yaml, "shows:\n  - committed: [");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_OK || is_opened(scene, txn))
            continue;
        rig_buf_printf(scene->yaml, "%sT%u", first ? "" : ", ", (unsigned)rig_txn_name(history, txn));
        first = false;
    }
    rig_buf_add_text(scene->yaml, "]\n    answers:\n");
    for (uint32_t i = 0; i < scene->interleaving->step_count; i++) {
        const struct rig_interleaved *step = &scene->interleaving->steps[i];
        struct rig_sql_numbers numbers;
        const bool operates = step->statement == RIG_STATEMENT_OPERATION;
        if (is_opened(scene, step->txn) ||
            (operates && has_rows(history) && form_of(scene, step, &numbers) == RIG_SQL_PREDICATE_COUNT))
            continue;
        number += step->statement != RIG_STATEMENT_BEGIN;
        if (!operates || history->txns[step->txn].outcome != RIG_OUTCOME_OK)
            continue;
        if (has_rows(history)) {
            add_rows_read(scene, step, number);
            continue;
        }
        const struct rig_txn_op *op = &history->ops[step->op];
        if (rig_op_reads(op->kind) && op->read_state != RIG_READ_UNKNOWN)
            rig_buf_printf(scene->yaml, "      %u: [[%u, %" PRId64 "]]\n", (unsigned)number, (unsigned)op->key + 1,
                           value_read(scene, op));
    }
}

/* ---- whether its answers suffice ---- */

/*
 * A scenario of rows shows what a SELECT lists. Counts, sums, and the rows that an update or a delete met are not among
 * its answers, so rig_check() judges the history without them.
 *
 * A read of a scenario shows only the last element of a list, as a row of a table does that has the last version alone.
 * A lost append, for example, shows in the list and not in its last element: a scenario of rows would give the same
 * answers on a database without the anomaly. So the lists become registers, whose transactions have the times of the
 * interleaving, and rig_check() judges them.
 */

/* The places of a transaction's first operation, with which a scenario begins it, and of its end. */
static void find_places(const struct rig_interleaving *interleaving, uint32_t txn, struct rig_txn_input *input)
{
    input->invoke_at = input->complete_at = RIG_POSITION_NONE;
    for (uint32_t i = 0; i < interleaving->step_count; i++) {
        const struct rig_interleaved *step = &interleaving->steps[i];
        if (step->txn != txn || step->statement == RIG_STATEMENT_BEGIN)
            continue;
        if (input->invoke_at == RIG_POSITION_NONE)
            input->invoke_at = i;
        if (step->statement == RIG_STATEMENT_END)
            input->complete_at = i;
    }
}

static void find_times(const struct rig_interleaving *interleaving, uint32_t txn, struct rig_txn_input *input)
{
    find_places(interleaving, txn, input);
    const bool ends = input->complete_at != RIG_POSITION_NONE && input->outcome != RIG_OUTCOME_INFO;
    input->complete_at = ends ? input->complete_at : RIG_POSITION_NONE;
    input->invoke_ns = (int64_t)input->invoke_at * RIG_NS_PER_MS;
    input->complete_ns = ends ? (int64_t)input->complete_at * RIG_NS_PER_MS : RIG_NO_TIME;
}

/* The first type whose reads show one value: registers. */
static enum rig_workload find_registers(void)
{
    unsigned workload = 0;
    while (rig_data_types[workload].shape != RIG_RESULT_VALUE)
        workload++;
    return (enum rig_workload)workload;
}

/* The same statements on rows, and of their results those that the scenario shows. */
static enum rig_rc add_txn_of_rows(struct rig_history_builder *builder, const struct scene *scene, uint32_t txn,
                                   struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    const uint32_t count = rig_txn_op_count(history, txn), first = history->txns[txn].first_op;
    struct rig_read *reads = rig_arena_array(arena, count + 1, sizeof *reads);
    const int64_t **lists = rig_arena_array(arena, count + 1, sizeof *lists);
    if (reads == NULL || lists == NULL)
        return rig_no_memory(err, "a history of rows");
    for (uint32_t i = 0; i < count; i++) {
        struct rig_sql_numbers numbers;
        const struct rig_txn_op *op = &history->ops[first + i];
        const enum rig_sql_predicate form = rig_sql_ops_predicate(scene->ops + first, count, i, &numbers);
        const bool shown = lists_rows(form) || counts_none(history, form, op);
        reads[i] =
            (struct rig_read){.state = shown && op->read_state == RIG_READ_NIL ? RIG_READ_NIL : RIG_READ_UNKNOWN};
        lists[i] = NULL;
        if (!shown || op->read_state != RIG_READ_SEEN)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, op);
        reads[i] = (struct rig_read){.state = RIG_READ_SEEN, .count = list.count};
        lists[i] = rig_read_whole(&list, arena);
        if (lists[i] == NULL)
            return rig_no_memory(err, "a history of rows");
    }
    struct rig_txn_input input = {.process = txn,
                                  .outcome = (enum rig_outcome)history->txns[txn].outcome,
                                  .ops = scene->ops + first,
                                  .reads = reads,
                                  .lists = lists,
                                  .op_count = count};
    find_times(scene->interleaving, txn, &input);
    return rig_history_builder_add(builder, &input, err);
}

static enum rig_rc add_txn(struct rig_history_builder *builder, const struct scene *scene, uint32_t txn,
                           struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    const struct rig_data_type *type = &rig_data_types[find_registers()];
    const struct rig_txn_op *from = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    struct rig_op *ops = rig_arena_array(arena, count + 1, sizeof *ops);
    struct rig_read *reads = rig_arena_array(arena, count + 1, sizeof *reads);
    struct rig_txn_input input = {
        .process = txn, .outcome = history->txns[txn].outcome, .ops = ops, .reads = reads, .op_count = count};
    if (ops == NULL || reads == NULL)
        return rig_no_memory(err, "a history of registers");
    for (uint32_t i = 0; i < count; i++) {
        const bool is_read = rig_op_reads(from[i].kind);
        ops[i] = (struct rig_op){.kind = is_read ? type->read_op : type->write_op,
                                 .key = (int64_t)from[i].key,
                                 .value = is_read ? 0 : from[i].value};
        reads[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
        if (!is_read || from[i].read_state != RIG_READ_SEEN) {
            reads[i].state = is_read ? from[i].read_state : RIG_READ_UNKNOWN;
            continue;
        }
        const struct rig_read_list list = rig_txn_op_list(history, &from[i]);
        const uint32_t first = first_write(scene, from[i].key);
        const int64_t last = list.count == 0 ? 0 : rig_read_element(&list, list.count - 1);
        const bool is_first = list.count == 0 || (first != UINT32_MAX && history->ops[first].value == last);
        reads[i].state = is_first ? RIG_READ_NIL : RIG_READ_SEEN;
        reads[i].value = is_first ? 0 : last;
    }
    find_times(scene->interleaving, txn, &input);
    return rig_history_builder_add(builder, &input, err);
}

static enum rig_rc make_shown(const struct scene *scene, struct rig_history **shown, struct rig_err *err)
{
    const struct rig_history *history = scene->history;
    const bool rows = has_rows(history);
    struct rig_history_builder *builder = rig_history_builder_new(rows ? history->workload : find_registers(), 0);
    struct rig_arena arena;
    enum rig_rc rc = builder == NULL ? rig_no_memory(err, "the answers of a scenario") : RIG_OK;
    rig_arena_init(&arena, 0);
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++) {
        if (!is_opened(scene, txn))
            rc = rows ? add_txn_of_rows(builder, scene, txn, &arena, err) : add_txn(builder, scene, txn, &arena, err);
    }
    if (rc == RIG_OK)
        rc = rig_history_builder_finish(builder, shown, err);
    else
        rig_history_builder_free(builder);
    rig_arena_done(&arena);
    return rc;
}

/* Gives whether the answers refute the level of the part, or where none was asked for, one of the weakest that it
 * refutes. Errors as those of rig_check(). */
static enum rig_rc answers_refute(const struct scene *scene, const struct rig_smallest_part *part, bool *refute,
                                  struct rig_err *err)
{
    const uint64_t levels =
        part->level != RIG_LEVEL_COUNT ? RIG_LEVEL_BIT(part->level) : part->verdict->weakest_refuted;
    /* The scenario inserts the rows of its keys before its first step. */
    const struct rig_check_options options = {.levels = levels,
                                              .assumptions = has_rows(part->history) ? 0 : RIG_ASSUMES_PREFILLED};
    struct rig_history *shown = NULL;
    struct rig_verdict *verdict = NULL;
    bool any = false;
    enum rig_rc rc = make_shown(scene, &shown, err);
    if (rc == RIG_OK)
        rc = rig_check(shown, &options, &verdict, err);
    for (unsigned level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++)
        any = any || ((levels & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_REFUTED);
    if (rc == RIG_OK)
        *refute = any;
    rig_verdict_free(verdict);
    rig_history_free(shown);
    return rc;
}

/* ---- the whole ---- */

static enum rig_rc check_part(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                              struct rig_err *err)
{
    const struct rig_history *history = part->history;
    const struct rig_data_type *type = &rig_data_types[history->workload];
    if (rig_workload_is_object(history->workload) ||
        (type->shape != RIG_RESULT_LIST && type->shape != RIG_RESULT_VALUE && type->shape != RIG_RESULT_ROWS))
        return rig_fail(err, RIG_E_USAGE, "a scenario has lists, registers or rows; this history is %s", type->name);
    if (history->txn_count > SESSIONS_MOST || history->key_count > ROWS_MOST || interleaving->step_count > STEPS_MOST)
        return rig_fail(err, RIG_E_USAGE,
                        "the part has %u transactions; a scenario has at most %d, and %d statements on %d keys",
                        (unsigned)history->txn_count, (int)SESSIONS_MOST, (int)STEPS_MOST, (int)ROWS_MOST);
    return RIG_OK;
}

static void add_head(const struct scene *scene, const struct rig_smallest_part *part)
{
    const struct rig_history *history = scene->history;
    const char *type = rig_data_types[history->workload].name;
    struct rig_buf *yaml = scene->yaml;
    rig_buf_printf(yaml, "# The smallest part of a history of %s with this anomaly. ", type);
    rig_buf_add_text(yaml, has_rows(history) ? "A row has its number (id), its table (k), its\n# version (v) and its "
                                               "class (c). T<n> is the transaction's number in the history.\n"
                                             : "A row is a key; its value is that of the\n# last version. T<n> is the "
                                               "transaction's number in the history.\n");
    for (uint32_t key = 0; !has_rows(history) && key < history->key_count; key++) {
        char name[128];
        rig_history_key_name(history, key, name, sizeof name);
        rig_buf_printf(yaml, "#   id %u: key %s", (unsigned)key + 1, name);
        if (first_write(scene, key) != UINT32_MAX)
            rig_buf_printf(yaml, "; T%u wrote its first value before the others began",
                           (unsigned)rig_txn_name(history, rig_history_txn_of(history, first_write(scene, key))));
        rig_buf_add_char(yaml, '\n');
    }
    add_names(scene, part);
}

static enum rig_rc write_scene(struct scene *scene, const struct rig_smallest_part *part, struct rig_arena *arena,
                               struct rig_err *err)
{
    const bool rows = has_rows(scene->history);
    bool refute = true;
    enum rig_rc rc = rows ? take_rows(scene, arena, err) : RIG_OK;
    if (rc == RIG_OK && rig_data_types[scene->history->workload].shape != RIG_RESULT_VALUE)
        rc = answers_refute(scene, part, &refute, err);
    /* Where no read orders the first append of a key and a later one, the row itself can: it has the first value. */
    if (rc == RIG_OK && !refute && !rows) {
        rc = find_first_writes(scene, arena, err);
        if (rc == RIG_OK)
            rc = answers_refute(scene, part, &refute, err);
    }
    if (rc == RIG_OK && !refute)
        rc = rig_fail(
            err, RIG_E_USAGE, "%s",
            rows ? "a scenario shows the rows of selections; the anomaly rests on counts, or on what an update or "
                   "a delete met"
                 : "a scenario has rows, whose value is the last element of a list; the anomaly shows in the lists "
                   "only");
    if (rc != RIG_OK)
        return rc;
    add_head(scene, part);
    add_rows(scene);
    rig_buf_add_text(scene->yaml, "steps:\n");
    for (uint32_t i = 0; i < scene->interleaving->step_count; i++)
        add_step(scene, &scene->interleaving->steps[i]);
    add_sign(scene);
    return scene->yaml->failed ? rig_no_memory(err, "a scenario") : RIG_OK;
}

enum rig_rc rig_scenario_text(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                              struct rig_buf *yaml, struct rig_err *err)
{
    struct scene scene = {.history = part->history, .interleaving = interleaving, .yaml = yaml};
    struct rig_arena arena;
    enum rig_rc rc = check_part(part, interleaving, err);
    if (rc != RIG_OK)
        return rc;
    scene.initial = has_rows(part->history) ? 0 : choose_initial(part->history);
    rig_arena_init(&arena, 0);
    rc = is_constraint(part->anomaly) ? write_keyed_scene(&scene, part, &arena, err)
                                      : write_scene(&scene, part, &arena, err);
    rig_arena_done(&arena);
    return rc;
}
