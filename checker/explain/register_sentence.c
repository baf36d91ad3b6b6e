/* Witnesses over registers in words (sentence.h). */
#include <inttypes.h>

#include "checker/explain/sentence.h"
#include "history/model/value_texts.h"

/* The evidence for the order of two versions: ", as T3 had read 1 before it wrote 2 (writes follow reads)". */
static void add_order(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    static const char *const assumptions[] = {"", "", "writes follow reads", "sequential keys", "linearizable keys",
                                              "", ""};
    if (step->order == RIG_ORDER_CASE)
        return;
    if (step->order == RIG_ORDER_UPDATE) {
        rig_buf_add_text(text, ": ");
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, " itself read the %s.", RIG_VALUE_SHOWN(step->from_value));
        return;
    }
    if (step->order == RIG_ORDER_INITIAL || step->order == RIG_ORDER_LIST) {
        const bool nil = rig_txn_ops(history, step->from)[step->from_op].read_state == RIG_READ_NIL;
        rig_buf_add_text(text, step->by_predicate ? ": a phantom" : ", which comes after the initial state");
        if (!nil)
            rig_buf_printf(text, ": no transaction wrote %s", RIG_VALUE_SHOWN(step->from_value));
        rig_buf_add_char(text, '.');
        return;
    }
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->order_txn, text);
    if (step->order == RIG_ORDER_WFR) {
        rig_buf_add_text(text, " had read the one before it wrote the other");
    } else {
        rig_buf_add_text(text, step->order == RIG_ORDER_SEQUENTIAL ? " left the one, and then, in its process, "
                                                                   : " left the one and completed before ");
        rig_sentence_txn(history, step->order_other, text);
        rig_buf_add_text(text,
                         step->order == RIG_ORDER_SEQUENTIAL ? " met the other" : ", which met the other, was invoked");
    }
    rig_buf_printf(text, " (assumed: %s).", assumptions[step->order]);
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    if (step->kind == RIG_EDGE_WR) {
        rig_sentence_txn(history, step->to, text);
        rig_buf_add_char(text, ' ');
        rig_sentence_reading(history, step->to, step->to_op, text);
        rig_buf_add_text(text, ", which ");
        rig_sentence_txn(history, step->from, text);
        rig_buf_add_text(text, " wrote.");
        return;
    }
    if (step->kind == RIG_EDGE_RW) {
        rig_sentence_txn(history, step->from, text);
        rig_buf_add_char(text, ' ');
        rig_sentence_reading(history, step->from, step->from_op, text);
    } else {
        rig_buf_printf(text, "it wrote %s to key ", RIG_VALUE_SHOWN(step->from_value));
        rig_sentence_key(history, step->key, text);
    }
    rig_buf_add_text(text, step->by_predicate ? " before it had a row, and " : ", and ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, step->by_predicate ? " wrote %s there" : " overwrote that with %s",
                   RIG_VALUE_SHOWN(step->to_value));
    add_order(history, step, text);
}

static void add_lost(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    rig_buf_printf(text, "wrote %s to key ", RIG_VALUE_SHOWN(w->value));
    rig_sentence_key(history, w->key, text);
    rig_buf_add_text(text, " and was acknowledged before ");
    rig_sentence_txn(history, w->txns[1], text);
    rig_buf_add_text(text, " began; ");
    rig_sentence_txn(history, w->txns[1], text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, w->txns[1], w->other_op, text);
    rig_buf_printf(text, ", a state without the %s, and no acknowledged read that ended later shows it.",
                   RIG_VALUE_SHOWN(w->value));
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    if (w->anomaly == RIG_ANOMALY_CYCLIC_VERSIONS) {
        rig_buf_add_text(text, "the assumption about key ");
        rig_sentence_key(history, w->key, text);
        rig_buf_printf(text, " would put its versions %s and %s each before the other; it is not used.",
                       RIG_VALUE_SHOWN(w->value), RIG_VALUE_SHOWN(w->other_value));
        return;
    }
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    if (w->anomaly == RIG_ANOMALY_LOST_WRITE) {
        add_lost(history, w, text);
        return;
    }
    rig_sentence_reading(history, w->txns[0], w->op, text);
    rig_buf_add_text(text, ", ");
    if (w->anomaly == RIG_ANOMALY_INTERNAL) {
        rig_buf_add_text(text, "which disagrees with its own earlier reads and writes.");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_INTERNAL_PREDICATE) {
        rig_buf_printf(text, "which it had read before with%s a row: a phantom.",
                       rig_txn_ops(history, w->txns[0])[w->op].read_state == RIG_READ_SEEN ? "out" : "");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_FUTURE_READ) {
        rig_buf_add_text(text, "which it wrote itself only later.");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_GARBAGE_READ) {
        rig_buf_add_text(text, "which no transaction wrote; ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_char(text, ' ');
        rig_sentence_reading(history, other, w->other_op, text);
        if (rig_txn_ops(history, other)[w->other_op].read_state == RIG_READ_SEEN)
            rig_buf_add_text(text, ", which none wrote either");
        rig_buf_add_text(text, ", and a key has one initial state");
        rig_sentence_excerpt(history, text);
        rig_buf_add_char(text, '.');
        return;
    }
    if (w->anomaly == RIG_ANOMALY_LOST_UPDATE_PREDICATE) {
        rig_buf_add_text(text, "before it had a row, and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both wrote it: one did not see the other's, a phantom.");
        return;
    }
    if (w->anomaly == RIG_ANOMALY_LOST_UPDATE) {
        rig_buf_add_text(text, "and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both wrote it: one update did not see the other.");
        return;
    }
    rig_buf_add_text(text, "the value of ");
    rig_sentence_txn(history, other, text);
    rig_buf_add_text(text, w->anomaly == RIG_ANOMALY_G1A
                               ? ", which failed."
                               : ", which wrote that key again later: an intermediate state.");
}

const struct rig_type_sentences rig_register_sentences = {
    .write = "write of key", .writes = "writes of keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
