/* Witnesses over sets in words (sentence.h). */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"

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

static bool shows(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t value)
{
    const struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    bool found = false;
    for (uint32_t i = 0; !found && i < list.count; i++)
        found = rig_read_element(&list, i) == value;
    return found;
}

static void add_internal(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    if (rig_txn_ops(history, w->txns[0])[w->other_op].kind == RIG_OP_ADD)
        rig_say(history, text, "without %V, which it had added itself before.", w->value);
    else if (shows(history, w->txns[0], w->op, w->value))
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
        rig_say(history, text, "with %V, which %T added, which failed.", w->value, w->txns[1]);
    }
}

const struct rig_type_sentences rig_set_sentences = {
    .write = "addition to key", .writes = "additions to keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
