/* The operations that prove edges between transactions on sets (explain.h). */
#include "base/bug.h"
#include "checker/explain/explain.h"

static bool shows(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return true;
    }
    return false;
}

/* The first read by `txn` that shows the element (`shown`), or misses it; of the operation `chosen`, unless that is
 * UINT32_MAX. UINT32_MAX: there is none. */
static uint32_t find_read(const struct rig_history *history, uint32_t txn, uint32_t chosen,
                          const struct rig_txn_op *added, bool shown)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == added->key && rig_set_is_read(&ops[i]) && (chosen == UINT32_MAX || chosen == i) &&
            shows(history, &ops[i], added->value) == shown)
            return i;
    }
    return UINT32_MAX;
}

bool rig_set_explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const bool wr = step->kind == RIG_EDGE_WR;
    const uint32_t writer = wr ? step->from : step->to, reader = wr ? step->to : step->from;
    const struct rig_txn_op *ops = rig_txn_ops(history, writer);
    if (step->kind == RIG_EDGE_WW)
        return false;
    for (uint32_t i = 0; i < rig_txn_op_count(history, writer); i++) {
        if (ops[i].kind != RIG_OP_ADD || (step->key != UINT32_MAX && step->key != ops[i].key))
            continue;
        const uint32_t read = find_read(history, reader, wr ? step->to_op : step->from_op, &ops[i], wr);
        if (read == UINT32_MAX)
            continue;
        step->key = ops[i].key;
        step->from_value = step->to_value = ops[i].value;
        step->order = wr ? step->order : RIG_ORDER_INITIAL;
        *(wr ? &step->to_op : &step->from_op) = read;
        return true;
    }
    return false;
}
