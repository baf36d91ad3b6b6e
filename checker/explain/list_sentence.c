/* Witnesses over lists in words (sentence.h). */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"

static void add_ww(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, ": it appended %V to key %K", step->from_value, step->key);
    if (step->order == RIG_ORDER_CASE)
        rig_say(history, text, ", and %T then %V", step->to, step->to_value);
    else if (step->order_txn == UINT32_MAX)
        rig_say(history, text, ", which reads show; no read shows %T's append of %V, so it came later.", step->to,
                step->to_value);
    else
        rig_say(history, text, ", and %T then %V, as %T read the list: %S.", step->to, step->to_value, step->order_txn,
                step->order_txn, step->order_op, step->from_value, step->to_value);
}

static void add_rw(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_say(history, text, ": %R%s and did not see %T's append of %V", step->from, step->from_op,
            step->by_predicate ? " before it had a row," : "", step->to, step->to_value);
    if (step->order == RIG_ORDER_CASE)
        rig_say(history, text, ", which came later");
    else
        rig_say(history, text, "%s%s", step->order_txn == UINT32_MAX ? ", which no read shows" : "",
                step->by_predicate ? ": a phantom." : ".");
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    if (step->kind == RIG_EDGE_WW)
        add_ww(history, step, text);
    else if (step->kind == RIG_EDGE_WR)
        rig_say(history, text, ": %R and so saw the %V that %T appended.", step->to, step->to_op, step->from_value,
                step->from);
    else
        add_rw(history, step, text);
}

/* Whether an operation read a list that holds the value. */
static bool shows(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t value)
{
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    bool found = false;
    for (uint32_t i = 0; i < list.count && !found; i++)
        found = rig_read_element(&list, i) == value;
    return found;
}

static bool shows_any(const struct rig_history *history, const struct rig_witness *w)
{
    return rig_txn_op_list(history, rig_txn_ops(history, w->txns[0]) + w->op).count > 0;
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    rig_say(history, text, "%T ", w->txns[0]);
    if (w->op != UINT32_MAX)
        rig_say(history, text, "%r", w->txns[0], w->op);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_say(history, text, ", which shows the %V of %T, which failed.", w->value, other);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text,
                ", which ends with the %V of %T, which appended to that key again later: an intermediate state.",
                w->value, other);
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_say(history, text, ", which shows %V, a value that no transaction appended%E.", w->value);
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_say(history, text, ", which shows %V more than once.", w->value);
        return;
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        rig_say(history, text, ", while %R: neither is a prefix of the other.", other, w->other_op);
        return;
    case RIG_ANOMALY_FRACTURED_APPEND:
        rig_say(history, text, ", which shows the %V of %T%s the %V that it appended to that key earlier.", w->value,
                other, shows(history, w->txns[0], w->op, w->other_value) ? " before" : ", but not", w->other_value);
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_say(history, text, ", which shows the %V that it appended itself only later.", w->value);
        return;
    case RIG_ANOMALY_INTERNAL:
        rig_say(history, text, ", which disagrees with its own earlier reads and appends.");
        return;
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        rig_say(history, text, ", which it had read before %s a row: a phantom.",
                shows_any(history, w) ? "without" : "with");
        return;
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        rig_say(history, text,
                " before it had a row, and %T read the same; then both appended to it: one did not see the other's, a "
                "phantom.",
                other);
        return;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_say(history, text, ", and %T read the same; then both appended to it: one update did not see the other.",
                other);
        return;
    case RIG_ANOMALY_DIRTY_UPDATE:
        rig_say(history, text, "appended %V to key %K on top of the %V of %T, which failed.", w->value, w->key,
                w->other_value, other);
        return;
    case RIG_ANOMALY_LOST_APPEND:
        rig_say(history, text,
                "appended %V to key %K and was acknowledged before %T began; %R without it, and no acknowledged read "
                "that ended later shows the %V.",
                w->value, w->key, other, other, w->other_op, w->value);
        return;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
}

const struct rig_type_sentences rig_list_sentences = {
    .write = "append to key", .writes = "appends to keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
