/* Witnesses over registers in words (sentence.h). */
#include "base/bug.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"

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
        rig_say(history, text, "%R, the value of %T, which failed.", txn, w->op, other);
        return;
    case RIG_ANOMALY_G1B:
        rig_say(history, text, "%R, the value of %T, which wrote that key again later: an intermediate state.", txn,
                w->op, other);
        return;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
}

const struct rig_type_sentences rig_register_sentences = {
    .write = "write of key", .writes = "writes of keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
