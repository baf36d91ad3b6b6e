/* Witnesses over sets (type_words.h): the operations that prove the steps, and the sentences. */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/type_words.h"
#include "checker/infer/inference.h"
#include "checker/model/verdict.h"

/* ---- steps ---- */

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

static bool explain_step(const struct rig_inference *inference, struct rig_step *step)
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

/* ---- sentences ---- */

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    const char *end = step->by_predicate ? ": a phantom." : ".";
    RIG_REQUIRE(step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    if (step->kind == RIG_EDGE_WR)
        rig_say(history, text, ": %R, with %V, which %T added%s", step->to, step->to_op, step->to_value, step->from,
                end);
    else
        rig_say(history, text, ": %R, without %V, which %T added%s", step->from, step->from_op, step->to_value,
                step->to, end);
}

static void add_internal(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (rig_txn_ops(history, w->txns[0])[w->other_op].kind == RIG_OP_ADD)
        rig_say(history, text, "without %V, which it had added itself before.", w->value);
    else if (shows(history, rig_txn_ops(history, w->txns[0]) + w->op, w->value))
        rig_say(history, text, "with %V, which its earlier read of the key did not show.", w->value);
    else
        rig_say(history, text, "without %V, which its earlier read of the key had shown.", w->value);
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    rig_say(history, text, "%R, ", w->txns[0], w->op);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_INTERNAL:
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        add_internal(history, w, text);
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, "with %V twice.", w->value);
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, "with %V, which no transaction added%E.", w->value);
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, "with %V, which it added itself only later.", w->value);
        return;
    default:
        RIG_REQUIRE(w->anomaly == RIG_ANOMALY_G1A && w->txn_count == 2);
        rig_say(history, text, "with %V, which %T added, which %F.", w->value, w->txns[1], w->txns[1]);
    }
}

const struct rig_type_words rig_set_words = {
    .explain_step = explain_step,
    .write = "addition to key",
    .writes = "additions to keys",
    .add_step = add_step,
    .add_noncyclic = add_noncyclic,
};
