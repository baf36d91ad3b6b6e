/* Witnesses over sets in words (sentence.h). */
#include "base/bug.h"
#include "checker/explain/sentence.h"
#include "history/model/value_texts.h"

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    const bool wr = step->kind == RIG_EDGE_WR;
    const uint32_t reader = wr ? step->to : step->from, writer = wr ? step->from : step->to;
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, reader, text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, reader, wr ? step->to_op : step->from_op, text);
    rig_buf_printf(text, wr ? ", with %s, which " : ", without %s, which ", RIG_VALUE_SHOWN(step->to_value));
    rig_sentence_txn(history, writer, text);
    rig_buf_add_text(text, step->by_predicate ? " added: a phantom." : " added.");
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
        rig_buf_printf(text, "without %s, which it had added itself before.", RIG_VALUE_SHOWN(w->value));
    else if (shows(history, w->txns[0], w->op, w->value))
        rig_buf_printf(text, "with %s, which its earlier read of the key did not show.", RIG_VALUE_SHOWN(w->value));
    else
        rig_buf_printf(text, "without %s, which its earlier read of the key had shown.", RIG_VALUE_SHOWN(w->value));
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, w->txns[0], w->op, text);
    rig_buf_add_text(text, ", ");
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_INTERNAL:
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        add_internal(history, w, text);
        return;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_buf_printf(text, "with %s twice.", RIG_VALUE_SHOWN(w->value));
        return;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_buf_printf(text, "with %s, which no transaction added", RIG_VALUE_SHOWN(w->value));
        rig_sentence_excerpt(history, text);
        rig_buf_add_char(text, '.');
        return;
    case RIG_ANOMALY_FUTURE_READ:
        rig_buf_printf(text, "with %s, which it added itself only later.", RIG_VALUE_SHOWN(w->value));
        return;
    default:
        break;
    }
    RIG_REQUIRE(w->anomaly == RIG_ANOMALY_G1A && w->txn_count == 2);
    rig_buf_printf(text, "with %s, which ", RIG_VALUE_SHOWN(w->value));
    rig_sentence_txn(history, w->txns[1], text);
    rig_buf_add_text(text, " added, which failed.");
}

const struct rig_type_sentences rig_set_sentences = {
    .write = "addition to key", .writes = "additions to keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
