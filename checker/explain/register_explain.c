/* The operations that prove edges between versions of registers (explain.h). */
#include "base/bug.h"
#include "checker/explain/explain.h"

static uint32_t version_of(const struct rig_inference *inference, uint32_t txn, uint32_t op)
{
    return inference->registers.version_of[inference->history->txns[txn].first_op + op];
}

/* Whether the step allows this key and this reading operation: it names them, or leaves the choice. */
static bool may_use(const struct rig_step *step, uint32_t key, uint32_t chosen_op, uint32_t op)
{
    return (step->key == UINT32_MAX || step->key == key) && (chosen_op == UINT32_MAX || chosen_op == op);
}

/* The edge from `version` to one that `writer` wrote, or NULL. */
static const struct rig_version_edge *edge_to_writer(const struct rig_inference *inference, uint32_t version,
                                                     uint32_t writer)
{
    uint32_t begin, end;
    rig_registers_edges_from(&inference->registers, version, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        if (inference->registers.versions[rig_registers_edge(&inference->registers, i)->to].writer == writer)
            return rig_registers_edge(&inference->registers, i);
    }
    return NULL;
}

/* ww and rw: from a version that `from` wrote, or read, to a later one that `to` wrote. `found`: not by a read that
 * found no row of its key. */
static bool prove_order(const struct rig_inference *inference, bool found, struct rig_step *step)
{
    enum rig_op_kind kind = step->kind == RIG_EDGE_WW ? RIG_OP_WRITE : RIG_OP_READ_REGISTER;
    const struct rig_txn_op *ops = rig_txn_ops(inference->history, step->from);
    for (uint32_t i = 0; i < rig_txn_op_count(inference->history, step->from); i++) {
        uint32_t version = version_of(inference, step->from, i);
        if (ops[i].kind != kind || version == RIG_REGISTER_NONE || !may_use(step, ops[i].key, step->from_op, i))
            continue;
        const struct rig_version_edge *edge = edge_to_writer(inference, version, step->to);
        if (edge == NULL ||
            (kind == RIG_OP_READ_REGISTER && (inference->registers.versions[version].writer == step->from ||
                                              (found && rig_register_found_no_row(inference->history, &ops[i])))))
            continue;
        RIG_INVARIANT(edge->from == version && inference->registers.versions[edge->to].key == ops[i].key);
        step->key = ops[i].key;
        step->from_value = inference->registers.versions[version].value;
        step->to_value = inference->registers.versions[edge->to].value;
        step->from_op = i;
        step->order = edge->source;
        step->order_txn = edge->a;
        step->order_other = edge->b;
        return true;
    }
    return false;
}

static bool prove_wr(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(inference->history, step->to);
    for (uint32_t i = 0; i < rig_txn_op_count(inference->history, step->to); i++) {
        uint32_t version = version_of(inference, step->to, i);
        if (ops[i].kind != RIG_OP_READ_REGISTER || version == RIG_REGISTER_NONE ||
            inference->registers.versions[version].writer != step->from || !may_use(step, ops[i].key, step->to_op, i))
            continue;
        step->key = ops[i].key;
        step->from_value = ops[i].value;
        step->to_op = i;
        return true;
    }
    return false;
}

bool rig_register_explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    return step->kind == RIG_EDGE_WR ? prove_wr(inference, step)
                                     : prove_order(inference, true, step) || prove_order(inference, false, step);
}
