#include "checker/objects/object_prefix.h"

#include "base/clock.h"
#include "checker/objects/object_needed.h"
#include "checker/objects/object_replay.h"

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
    for (size_t i = 0; found && i < result.order.count; i++)
        found = rig_object_prefix_add(order, ops->at[result.order.at[i]].txn);
    rig_object_result_done(&result);
    return found;
}

bool rig_object_prefix_order(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_object_prefix *order)
{
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
        const uint32_t blocked = witness->txns[0];
        const uint32_t count = cut(ops.at, ops.first[ops.key_count], blocked, rig_txn_end(history, blocked));
        done = rig_object_needed(&model, ops.at, count, NULL, &needed) && search(&model, &needed, order);
    }
    rig_object_op_list_done(&needed);
    rig_object_model_done(&model);
    rig_arena_done(&arena);
    return done;
}
