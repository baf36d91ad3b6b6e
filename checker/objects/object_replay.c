#include "checker/objects/object_replay.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/vec.h"
#include "checker/objects/object_rows.h"
#include "history/types/types.h"

/* Whether the order has each operation as often as it must, and keeps the real-time order. */
static bool keeps_order(const struct rig_object_op *ops, uint32_t count, const uint32_t *order, size_t length,
                        uint8_t *seen)
{
    uint32_t first_end = RIG_POSITION_NONE; /* of the operations after */
    for (size_t i = length; i-- > 0;) {
        const uint32_t op = order[i];
        if (op >= count || seen[op] || first_end < ops[op].invoke)
            return false;
        seen[op] = 1;
        first_end = ops[op].end < first_end ? ops[op].end : first_end;
    }
    for (uint32_t op = 0; op < count; op++) {
        if (!seen[op] && ops[op].end != RIG_POSITION_NONE)
            return false;
    }
    return true;
}

/* The values of a queue or a stack: at[from] to at[count - 1]. */
RIG_VEC(int64_t, row_values)

struct row {
    struct row_values values;
    size_t from;
    bool queue;
};

/* Whether the operation is possible; false with `*done` false: memory ran out. */
static bool apply_to_row(struct row *row, const struct rig_txn_op *op, bool *done)
{
    if (!rig_op_reads(op->kind))
        return *done = row_values_add(&row->values, op->value);
    const bool empty = row->from == row->values.count;
    RIG_INVARIANT(row->from <= row->values.count);
    if (empty || op->read_state == RIG_READ_NIL)
        return empty && op->read_state != RIG_READ_SEEN;
    const int64_t value = row->queue ? row->values.at[row->from++] : row->values.at[--row->values.count];
    return op->read_state == RIG_READ_UNKNOWN || op->value == value;
}

/* Without the model's states, each of which would be a copy of the whole row. */
static bool replay_row(const struct rig_object_model *model, const struct rig_object_op *ops,
                       const struct rig_object_order *order, bool *explains)
{
    struct row row = {.queue = model->workload == RIG_WORKLOAD_QUEUE};
    bool done = true;
    for (size_t i = 0; done && *explains && i < order->count; i++)
        *explains = apply_to_row(&row, &model->classes.at[ops[order->at[i]].class].ops[0], &done);
    row_values_done(&row.values);
    return done;
}

bool rig_object_replay(struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const struct rig_object_order *order, bool *explains)
{
    RIG_REQUIRE(model->initial < model->states.count);
    uint8_t *seen = calloc((size_t)count + 1, 1);
    bool done = seen != NULL;
    uint32_t state = model->initial;
    *explains = done && keeps_order(ops, count, order->at, order->count, seen);
    free(seen);
    if (done && (model->workload == RIG_WORKLOAD_QUEUE || model->workload == RIG_WORKLOAD_STACK))
        return replay_row(model, ops, order, explains);
    for (size_t i = 0; done && *explains && i < order->count; i++) {
        done = rig_object_age(model, &state, ops[order->at[i]].txn) &&
               rig_object_step(model, state, ops[order->at[i]].class, &state);
        *explains = done && state != RIG_OBJECT_NONE;
    }
    return done;
}

enum { STEPS = 1 << 18, LIMIT_BYTES = 64 << 20 };
#define LIMIT_NS INT64_C(1000000000)

/* Keeps the operations that begin before `end`, without those of `blocked`; an end after it does not matter yet. */
static uint32_t cut(struct rig_object_op *ops, uint32_t count, uint32_t blocked, uint32_t end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].invoke >= end || ops[i].txn == blocked)
            continue;
        ops[kept] = ops[i];
        if (ops[kept].end > end)
            ops[kept].end = RIG_POSITION_NONE;
        kept++;
    }
    return kept;
}

static bool search(struct rig_object_model *model, const struct rig_object_op_list *ops,
                   struct rig_object_prefix *order)
{
    const struct rig_object_part part = {.ops = ops->at, .count = (uint32_t)ops->count, .until = RIG_POSITION_NONE};
    const struct rig_object_search_limits limits = {rig_clock_now_ns() + LIMIT_NS, LIMIT_BYTES, STEPS};
    struct rig_object_result result;
    bool found = rig_object_search(model, &part, &limits, &result) == RIG_OBJECT_LINEARIZABLE, explains = false;
    found = found && rig_object_replay(model, part.ops, part.count, &result.order, &explains) && explains;
    for (size_t i = 0; found && i < result.order.count; i++) {
        RIG_INVARIANT(result.order.at[i] < part.count);
        found = rig_object_prefix_add(order, ops->at[result.order.at[i]].txn);
    }
    rig_object_result_done(&result);
    return found;
}

bool rig_object_prefix_order(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_object_prefix *order)
{
    RIG_REQUIRE(witness->blocked != NULL && order->count == 0);
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_object_op_list needed = {0};
    struct rig_arena arena;
    if (history->is_excerpt || witness->blocked->value_count > 0)
        return false;
    rig_arena_init(&arena, 0);
    const struct rig_begin *begin = &witness->blocked->begin;
    bool done = rig_object_model_init(&model, history->workload, LIMIT_BYTES) &&
                (begin->as == RIG_BEGINS_PLAIN || rig_object_model_begin(&model, begin->value)) &&
                rig_object_ops_build(history, witness->key, &model, &arena, &ops);
    if (done) {
        RIG_REQUIRE(witness->txn_count > 0 && witness->txns[0] < history->txn_count);
        const uint32_t blocked = witness->txns[0];
        const uint32_t count = cut(ops.at, ops.first[ops.key_count], blocked, rig_txn_end(history, blocked));
        done = rig_object_needed(&model, ops.at, count, NULL, &needed) && search(&model, &needed, order);
    }
    rig_object_op_list_done(&needed);
    rig_object_model_done(&model);
    rig_arena_done(&arena);
    return done;
}
