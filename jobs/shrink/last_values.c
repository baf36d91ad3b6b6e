#include "jobs/shrink/last_values.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "checker/model/level.h"
#include "history/model/builder.h"
#include "history/types/types.h"

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

enum rig_rc rig_last_values_refute(const struct rig_smallest_part *part, const struct rig_interleaving *interleaving,
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
