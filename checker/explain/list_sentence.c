/* Witnesses over lists in words (sentence.h). */
#include <inttypes.h>

#include "base/bug.h"
#include "checker/explain/sentence.h"
#include "history/model/value_texts.h"

/* The part of the order of a list around `value`: "[... 3 4 5 ...]". */
static void add_stretch(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t from, int64_t to,
                        struct rig_buf *text)
{
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, txn) + op);
    if (list.count <= RIG_SENTENCE_LIST) {
        rig_sentence_list(list, text);
        return;
    }
    uint32_t first = 0, last = list.count - 1;
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == from)
            first = i;
        if (rig_read_element(&list, i) == to)
            last = i;
    }
    if (last < first || last - first > RIG_SENTENCE_LIST) {
        rig_sentence_list(list, text);
        return;
    }
    rig_buf_add_text(text, first > 0 ? "[... " : "[");
    rig_sentence_elements(list, first, last + 1, text);
    rig_buf_add_text(text, last + 1 < list.count ? " ...]" : "]");
}

static void add_ww(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_printf(text, ": it appended %s to key ", RIG_VALUE_SHOWN(step->from_value));
    rig_sentence_key(history, step->key, text);
    if (step->order == RIG_ORDER_CASE) {
        rig_buf_add_text(text, ", and ");
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, " then %s", RIG_VALUE_SHOWN(step->to_value));
        return;
    }
    if (step->order_txn == UINT32_MAX) {
        rig_buf_printf(text, ", which reads show; no read shows ");
        rig_sentence_txn(history, step->to, text);
        rig_buf_printf(text, "'s append of %s, so it came later.", RIG_VALUE_SHOWN(step->to_value));
        return;
    }
    rig_buf_add_text(text, ", and ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, " then %s, as ", RIG_VALUE_SHOWN(step->to_value));
    rig_sentence_txn(history, step->order_txn, text);
    rig_buf_add_text(text, " read the list: ");
    add_stretch(history, step->order_txn, step->order_op, step->from_value, step->to_value, text);
    rig_buf_add_char(text, '.');
}

static void add_wr(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, step->to, step->to_op, text);
    rig_buf_printf(text, " and so saw the %s that ", RIG_VALUE_SHOWN(step->from_value));
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_text(text, " appended.");
}

static void add_rw(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    rig_buf_add_text(text, ": ");
    rig_sentence_txn(history, step->from, text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, step->from, step->from_op, text);
    rig_buf_add_text(text, step->by_predicate ? " before it had a row, and did not see " : " and did not see ");
    rig_sentence_txn(history, step->to, text);
    rig_buf_printf(text, "'s append of %s", RIG_VALUE_SHOWN(step->to_value));
    if (step->order == RIG_ORDER_CASE) {
        rig_buf_add_text(text, ", which came later");
        return;
    }
    if (step->order_txn == UINT32_MAX)
        rig_buf_add_text(text, ", which no read shows");
    rig_buf_add_text(text, step->by_predicate ? ": a phantom." : ".");
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_WR || step->kind == RIG_EDGE_RW);
    if (step->kind == RIG_EDGE_WW)
        add_ww(history, step, text);
    else if (step->kind == RIG_EDGE_WR)
        add_wr(history, step, text);
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

static void add_lost_append(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const uint32_t other = w->txns[1];
    rig_buf_printf(text, "appended %s to key ", RIG_VALUE_SHOWN(w->value));
    rig_sentence_key(history, w->key, text);
    rig_buf_add_text(text, " and was acknowledged before ");
    rig_sentence_txn(history, other, text);
    rig_buf_add_text(text, " began; ");
    rig_sentence_txn(history, other, text);
    rig_buf_add_char(text, ' ');
    rig_sentence_reading(history, other, w->other_op, text);
    rig_buf_printf(text, " without it, and no acknowledged read that ended later shows the %s",
                   RIG_VALUE_SHOWN(w->value));
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    rig_sentence_txn(history, w->txns[0], text);
    rig_buf_add_char(text, ' ');
    if (w->op != UINT32_MAX)
        rig_sentence_reading(history, w->txns[0], w->op, text);
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        rig_buf_printf(text, ", which shows the %s of ", RIG_VALUE_SHOWN(w->value));
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which failed");
        break;
    case RIG_ANOMALY_G1B:
        rig_buf_printf(text, ", which ends with the %s of ", RIG_VALUE_SHOWN(w->value));
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which appended to that key again later: an intermediate state");
        break;
    case RIG_ANOMALY_GARBAGE_READ:
        rig_buf_printf(text, ", which shows %s, a value that no transaction appended", RIG_VALUE_SHOWN(w->value));
        rig_sentence_excerpt(history, text);
        break;
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        rig_buf_printf(text, ", which shows %s more than once", RIG_VALUE_SHOWN(w->value));
        break;
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        rig_buf_add_text(text, ", while ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_char(text, ' ');
        rig_sentence_reading(history, other, w->other_op, text);
        rig_buf_add_text(text, ": neither is a prefix of the other");
        break;
    case RIG_ANOMALY_FRACTURED_APPEND:
        rig_buf_printf(text, ", which shows the %s of ", RIG_VALUE_SHOWN(w->value));
        rig_sentence_txn(history, other, text);
        rig_buf_printf(text,
                       shows(history, w->txns[0], w->op, w->other_value)
                           ? " before the %s that it appended to that key earlier"
                           : ", but not the %s that it appended to that key earlier",
                       RIG_VALUE_SHOWN(w->other_value));
        break;
    case RIG_ANOMALY_FUTURE_READ:
        rig_buf_printf(text, ", which shows the %s that it appended itself only later", RIG_VALUE_SHOWN(w->value));
        break;
    case RIG_ANOMALY_INTERNAL:
        rig_buf_add_text(text, ", which disagrees with its own earlier reads and appends");
        break;
    case RIG_ANOMALY_INTERNAL_PREDICATE:
        rig_buf_add_text(text, shows_any(history, w) ? ", which it had read before without a row: a phantom"
                                                     : ", which it had read before with a row: a phantom");
        break;
    case RIG_ANOMALY_LOST_UPDATE_PREDICATE:
        rig_buf_add_text(text, " before it had a row, and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both appended to it: one did not see the other's, a phantom");
        break;
    case RIG_ANOMALY_LOST_UPDATE:
        rig_buf_add_text(text, ", and ");
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, " read the same; then both appended to it: one update did not see the other");
        break;
    case RIG_ANOMALY_DIRTY_UPDATE:
        rig_buf_printf(text, "appended %s to key ", RIG_VALUE_SHOWN(w->value));
        rig_sentence_key(history, w->key, text);
        rig_buf_printf(text, " on top of the %s of ", RIG_VALUE_SHOWN(w->other_value));
        rig_sentence_txn(history, other, text);
        rig_buf_add_text(text, ", which failed");
        break;
    case RIG_ANOMALY_LOST_APPEND:
        add_lost_append(history, w, text);
        break;
    default:
        RIG_REQUIRE(false && "a non-cyclic anomaly");
    }
    rig_buf_add_char(text, '.');
}

const struct rig_type_sentences rig_list_sentences = {
    .write = "append to key", .writes = "appends to keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
