#include "checker/objects/object_values.h"

#include "base/table.h"
#include "checker/objects/object_stack.h"

struct refuting {
    struct rig_object_model *model;
    const struct rig_object_op *ops;
    uint32_t count;
    const struct rig_object_search_limits *limits;
    struct rig_object_refutation *to;
};

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

/* Keeps the operations on the values, takes of unknown result, and the take `nothing` that found nothing. */
static bool keep(const struct refuting *r, uint32_t nothing)
{
    struct rig_table named;
    bool kept = true;
    rig_table_init(&named);
    for (size_t i = 0; kept && i < r->to->values.count; i++) {
        uint32_t *number = rig_table_put(&named, (uint64_t)r->to->values.at[i]);
        kept = number != NULL;
        if (kept)
            *number = (uint32_t)i;
    }
    for (uint32_t i = 0; kept && i < r->count; i++) {
        const struct rig_txn_op *op = &r->model->classes.at[r->ops[i].class].ops[0];
        struct rig_object_op one = r->ops[i];
        const bool has_value = adds(op) || op->read_state == RIG_READ_SEEN;
        const bool has_unknown = !adds(op) && op->read_state == RIG_READ_UNKNOWN;
        if (has_unknown)
            one.end = RIG_POSITION_NONE;
        if (has_unknown || i == nothing || (has_value && rig_table_get(&named, (uint64_t)op->value) != RIG_TABLE_NONE))
            kept = rig_object_op_list_add(&r->to->ops, one);
    }
    rig_table_done(&named);
    return kept;
}

/* A search confirms that these have no order. */
static bool confirm(const struct refuting *r, uint32_t nothing)
{
    if (!keep(r, nothing))
        return false;
    const struct rig_object_part part = {
        .ops = r->to->ops.at, .count = (uint32_t)r->to->ops.count, .until = RIG_POSITION_NONE};
    const enum rig_object_answer answer = rig_object_search(r->model, &part, r->limits, &r->to->result);
    r->to->found = answer == RIG_OBJECT_REFUTED;
    return answer != RIG_OBJECT_NO_MEMORY;
}

bool rig_object_values_decide(struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                              struct rig_object_open open, const struct rig_object_search_limits *limits,
                              struct rig_object_refutation *refutation, struct rig_object_order *order, bool *decided)
{
    const struct refuting r = {model, ops, count, limits, refutation};
    struct rig_object_lifetimes lifetimes;
    struct rig_object_values *values = &refutation->values;
    uint32_t nothing = UINT32_MAX;
    *refutation = (struct rig_object_refutation){.found = false};
    bool done = rig_object_lifetimes_init(&lifetimes, model, ops, count, open) &&
                rig_object_lifetimes_contradict(&lifetimes, ops, values, &nothing);
    if (done && values->count == 0 && !lifetimes.queue)
        done = rig_object_stack_decide(&lifetimes, ops, values, order);
    *decided = done && values->count == 0 && lifetimes.certain;
    if (done && values->count > 0) {
        done = confirm(&r, nothing);
        *decided = refutation->found;
    }
    rig_object_lifetimes_done(&lifetimes);
    return done;
}

void rig_object_refutation_done(struct rig_object_refutation *refutation)
{
    rig_object_values_done(&refutation->values);
    rig_object_op_list_done(&refutation->ops);
    rig_object_result_done(&refutation->result);
}
