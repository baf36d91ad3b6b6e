#include "jobs/shrink/scenario_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "checker/model/level.h"
#include "history/model/builder.h"
#include "history/types/types.h"

/* As in run/scenario/scenario.h, which this layer does not know. */
enum { SESSIONS_MOST = 16, STEPS_MOST = 128, ROWS_MOST = 256 };

struct scene {
    const struct rig_history *history;
    const struct rig_interleaving *interleaving;
    int64_t initial; /* the value of a row that nothing has written */
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

static void add_rows(const struct scene *scene)
{
    rig_buf_add_text(scene->yaml, "table: {name: test, columns: [id, value], rows: [");
    for (uint32_t key = 0; key < scene->history->key_count; key++)
        rig_buf_printf(scene->yaml, "%s[%u, %" PRId64 "]", key == 0 ? "" : ", ", (unsigned)key + 1, scene->initial);
    rig_buf_add_text(scene->yaml, "]}\n");
}

static void add_step(const struct scene *scene, const struct rig_interleaved *step)
{
    const struct rig_history *history = scene->history;
    if (step->statement == RIG_STATEMENT_BEGIN)
        return; /* with the first step */
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
        if (history->txns[txn].outcome != RIG_OUTCOME_OK)
            continue;
        rig_buf_printf(scene->yaml, "%sT%u", first ? "" : ", ", (unsigned)rig_txn_name(history, txn));
        first = false;
    }
    rig_buf_add_text(scene->yaml, "]\n    answers:\n");
    for (uint32_t i = 0; i < scene->interleaving->step_count; i++) {
        const struct rig_interleaved *step = &scene->interleaving->steps[i];
        number += step->statement != RIG_STATEMENT_BEGIN;
        if (step->statement != RIG_STATEMENT_OPERATION || history->txns[step->txn].outcome != RIG_OUTCOME_OK)
            continue;
        const struct rig_txn_op *op = &history->ops[step->op];
        if (rig_op_reads(op->kind) && op->read_state != RIG_READ_UNKNOWN)
            rig_buf_printf(scene->yaml, "      %u: [[%u, %" PRId64 "]]\n", (unsigned)number, (unsigned)op->key + 1,
                           value_read(scene, op));
    }
}

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

/* ---- whether the last values suffice ---- */

/*
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

/* The first type whose reads show one value: registers. */
static enum rig_workload find_registers(void)
{
    unsigned workload = 0;
    while (rig_data_types[workload].shape != RIG_RESULT_VALUE)
        workload++;
    return (enum rig_workload)workload;
}

static enum rig_rc add_txn(struct rig_history_builder *builder, const struct rig_history *history,
                           const struct rig_interleaving *interleaving, uint32_t txn, struct rig_arena *arena,
                           struct rig_err *err)
{
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
        reads[i].state = list.count == 0 ? RIG_READ_NIL : RIG_READ_SEEN;
        reads[i].value = list.count == 0 ? 0 : rig_read_element(&list, list.count - 1);
    }
    find_places(interleaving, txn, &input);
    const bool ends = input.complete_at != RIG_POSITION_NONE && input.outcome != RIG_OUTCOME_INFO;
    input.complete_at = ends ? input.complete_at : RIG_POSITION_NONE;
    input.invoke_ns = (int64_t)input.invoke_at * RIG_NS_PER_MS;
    input.complete_ns = ends ? (int64_t)input.complete_at * RIG_NS_PER_MS : RIG_NO_TIME;
    return rig_history_builder_add(builder, &input, err);
}

static enum rig_rc make_registers(const struct rig_history *history, const struct rig_interleaving *interleaving,
                                  struct rig_history **registers, struct rig_err *err)
{
    struct rig_history_builder *builder = rig_history_builder_new(find_registers(), 0);
    struct rig_arena arena;
    enum rig_rc rc = builder == NULL ? rig_no_memory(err, "a history of registers") : RIG_OK;
    rig_arena_init(&arena, 0);
    for (uint32_t txn = 0; rc == RIG_OK && txn < history->txn_count; txn++)
        rc = add_txn(builder, history, interleaving, txn, &arena, err);
    if (rc == RIG_OK)
        rc = rig_history_builder_finish(builder, registers, err);
    else
        rig_history_builder_free(builder);
    rig_arena_done(&arena);
    return rc;
}

/* Gives whether the registers refute the level of the part, or where none was asked for, one of the weakest that it
 * refutes. Errors as those of rig_check(). */
static enum rig_rc last_values_refute(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                                      bool *refute, struct rig_err *err)
{
    const uint64_t levels =
        part->level != RIG_LEVEL_COUNT ? RIG_LEVEL_BIT(part->level) : part->verdict->weakest_refuted;
    /* The scenario inserts its rows before its first step. */
    const struct rig_check_options options = {.levels = levels, .assumptions = RIG_ASSUMES_PREFILLED};
    struct rig_history *registers = NULL;
    struct rig_verdict *verdict = NULL;
    bool any = false;
    enum rig_rc rc = make_registers(part->history, interleaving, &registers, err);
    if (rc == RIG_OK)
        rc = rig_check(registers, &options, &verdict, err);
    for (unsigned level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++)
        any = any || ((levels & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_REFUTED);
    if (rc == RIG_OK)
        *refute = any;
    rig_verdict_free(verdict);
    rig_history_free(registers);
    return rc;
}

/* ---- the whole ---- */

enum rig_rc rig_scenario_text(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
                              struct rig_buf *yaml, struct rig_err *err)
{
    const struct rig_history *history = part->history;
    bool refute = true;
    const struct scene scene = {
        .history = history, .interleaving = interleaving, .initial = choose_initial(history), .yaml = yaml};
    const struct rig_data_type *type = &rig_data_types[history->workload];
    if (rig_workload_is_object(history->workload) ||
        (type->shape != RIG_RESULT_LIST && type->shape != RIG_RESULT_VALUE))
        return rig_fail(err, RIG_E_USAGE, "a scenario has lists or registers; this history is %s", type->name);
    if (history->txn_count > SESSIONS_MOST || history->key_count > ROWS_MOST || interleaving->step_count > STEPS_MOST)
        return rig_fail(err, RIG_E_USAGE,
                        "the part has %u transactions; a scenario has at most %d, and %d statements on %d keys",
                        (unsigned)history->txn_count, (int)SESSIONS_MOST, (int)STEPS_MOST, (int)ROWS_MOST);
    if (type->shape == RIG_RESULT_LIST) {
        const enum rig_rc rc = last_values_refute(part, interleaving, &refute, err);
        if (rc != RIG_OK)
            return rc;
    }
    if (!refute)
        return rig_fail(
            err, RIG_E_USAGE,
            "a scenario has rows, whose value is the last element of a list; the anomaly shows in the lists "
            "only");
    rig_buf_printf(
        yaml,
        "# The smallest part of a history of %s with this anomaly. A row is a key; its value is that of the\n"
        "# last version. T<n> is the transaction's number in the history.\n",
        type->name);
    for (uint32_t key = 0; key < history->key_count; key++) {
        char name[128];
        rig_history_key_name(history, key, name, sizeof name);
        rig_buf_printf(yaml, "#   id %u: key %s\n", (unsigned)key + 1, name);
    }
    rig_buf_printf(yaml, "name: %s-of-a-history\ntitle: the smallest part with this anomaly\nanomaly: %s\nlevel: %s\n",
                   rig_anomaly_info(part->anomaly)->name, rig_anomaly_info(part->anomaly)->name,
                   rig_level_info(level_of(part))->name);
    add_rows(&scene);
    rig_buf_add_text(yaml, "steps:\n");
    for (uint32_t i = 0; i < interleaving->step_count; i++)
        add_step(&scene, &interleaving->steps[i]);
    add_sign(&scene);
    return yaml->failed ? rig_no_memory(err, "a scenario") : RIG_OK;
}
