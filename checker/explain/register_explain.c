/* Witnesses over registers (type_words.h): the operations that prove the steps, and the sentences. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/infer/inference.h"
#include "checker/model/verdict.h"

/* ---- steps ---- */

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

static bool explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    return step->kind == RIG_EDGE_WR ? prove_wr(inference, step)
                                     : prove_order(inference, true, step) || prove_order(inference, false, step);
}

/* ---- sentences ---- */

/* The read of the step found the initial state, which has a value where no transaction wrote it. */
static void add_initial(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, step->by_predicate ? ": a phantom" : ", which comes after the initial state");
    if (rig_txn_ops(history, step->from)[step->from_op].read_state != RIG_READ_NIL)
        rig_say(history, text, ": no transaction wrote %V", step->from_value);
    rig_say(history, text, ".");
}

/* The evidence for the order of two versions. */
static void add_order(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    switch (step->order) {
    case RIG_ORDER_LIST:
    case RIG_ORDER_INITIAL:
        add_initial(history, step, text);
        return;
    case RIG_ORDER_WFR:
        rig_say(history, text, ": %T had read the one before it wrote the other (assumed: writes follow reads).",
                step->order_txn);
        return;
    case RIG_ORDER_SEQUENTIAL:
        rig_say(history, text,
                ": %T left the one, and then, in its process, %T met the other (assumed: sequential keys).",
                step->order_txn, step->order_other);
        return;
    case RIG_ORDER_LINEARIZABLE:
        rig_say(history, text,
                ": %T left the one and completed before %T, which met the other, was invoked (assumed: linearizable "
                "keys).",
                step->order_txn, step->order_other);
        return;
    case RIG_ORDER_UPDATE:
        rig_say(history, text, ": %T itself read the %V.", step->to, step->from_value);
        return;
    case RIG_ORDER_CASE:
        return;
    }
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    if (step->kind == RIG_EDGE_WR) {
        rig_say(history, text, ": %R, which %T wrote.", step->to, step->to_op, step->from);
        return;
    }
    if (step->kind == RIG_EDGE_RW)
        rig_say(history, text, ": %R", step->from, step->from_op);
    else
        rig_say(history, text, ": it wrote %V to key %K", step->from_value, step->key);
    rig_say(history, text,
            step->by_predicate ? " before it had a row, and %T wrote %V there" : ", and %T overwrote that with %V",
            step->to, step->to_value);
    add_order(history, step, text);
}

static bool found_row(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    return rig_txn_ops(history, txn)[op].read_state == RIG_READ_SEEN;
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t txn = w->txns[0], other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_CYCLIC_VERSIONS:
        rig_say(history, text,
                "the assumption about key %K would put its versions %V and %V each before the other; it is not used.",
                w->key, w->value, w->other_value);
        return;
    case RIG_ANOMALY_LOST_WRITE:
        rig_say(history, text,
                "%T wrote %V to key %K and was acknowledged before %T began; %R, a state without the %V, and no "
                "acknowledged read that ended later shows it.",
                txn, w->value, w->key, other, other, w->other_op, w->value);
        return;
    case RIG_ANOMALY_INTERNAL:
        rig_say(history, text, "%R, which disagrees with its own earlier reads and writes.", txn, w->op);
        return;
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        rig_say(history, text, "%R, which it had read before with%s a row: a phantom.", txn, w->op,
                found_row(history, txn, w->op) ? "out" : "");
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, "%R, which it wrote itself only later.", txn, w->op);
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        if (w->other_op == UINT32_MAX) {
            rig_say(history, text,
                    "%R, which no transaction wrote, and the registers begin with another value (--initial).", txn,
                    w->op);
            return;
        }
        rig_say(history, text, "%R, which no transaction wrote; %R%s, and a key has one initial state%E.", txn, w->op,
                other, w->other_op, found_row(history, other, w->other_op) ? ", which none wrote either" : "");
        return;
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        rig_say(history, text,
                "%R, before it had a row, and %T read the same; then both wrote it: one did not see the other's, a "
                "phantom.",
                txn, w->op, other);
        return;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_say(history, text, "%R, and %T read the same; then both wrote it: one update did not see the other.", txn,
                w->op, other);
        return;
    case RIG_ANOMALY_G1A:
        rig_say(history, text, "%R, the value of %T, which %F.", txn, w->op, other, other);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text, "%R, the value of %T, which wrote that key again later: an intermediate state.", txn,
                w->op, other);
        return;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
}

const struct rig_type_words rig_register_words = {
    .explain_step = explain_step,
    .write = "write of key",
    .writes = "writes of keys",
    .add_step = add_step,
    .add_noncyclic = add_noncyclic,
};
