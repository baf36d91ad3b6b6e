/* Witnesses over objects in words (sentence.h). */
#include <inttypes.h>

#include "base/plural.h"
#include "checker/infer/inference.h"
#include "checker/explain/explain.h"
#include "checker/model/object_words.h"
#include "checker/explain/sentence.h"
#include "history/types/types.h"
#include "history/model/value_texts.h"

bool rig_object_explain_step(const struct rig_inference *inference, struct rig_step *step)
{
    (void)inference, (void)step;
    return false;
}

static void add_step(const struct rig_history *history, const struct rig_step *step, struct rig_buf *text)
{
    (void)history, (void)step, (void)text;
}

static void add_operation(const struct rig_history *history, uint32_t txn, struct rig_buf *text)
{
    rig_sentence_txn(history, txn, text);
    rig_buf_add_text(text, " (");
    rig_object_words_op(history->workload, rig_txn_ops(history, txn), rig_txn_op_count(history, txn), text);
    rig_buf_add_char(text, ')');
}

/* Operations on a few values that have no order by themselves. */
static void add_alone(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const struct rig_blocked *blocked = w->blocked;
    rig_buf_printf(text, "\n  Operations on the value%s ", rig_plural(blocked->value_count));
    for (uint32_t i = 0; i < blocked->value_count; i++) {
        rig_buf_add_text(text, i == 0 ? "" : i + 1 == blocked->value_count ? " and " : ", ");
        rig_value_add(text, blocked->values[i]);
    }
    rig_buf_printf(text, " alone have no order, and a %s stays one when other values are left out:",
                   rig_data_types[history->workload].name);
    for (uint32_t i = 0; i < w->txn_count; i++) {
        rig_buf_add_text(text, i == 0 ? " " : ", ");
        add_operation(history, w->txns[i], text);
    }
    rig_buf_add_char(text, '.');
    const char *phenomenon = rig_object_phenomenon(history, w);
    if (phenomenon != NULL)
        rig_buf_printf(text, " Phenomenon: %s.", phenomenon);
}

/* An element that was lost, given twice or never added. */
static void add_element(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const char *type = rig_data_types[history->workload].name;
    add_operation(history, w->txns[0], text);
    if (w->anomaly == RIG_ANOMALY_PHANTOM_ELEMENT) {
        rig_buf_printf(text, " of key ");
        rig_sentence_key(history, w->key, text);
        rig_buf_printf(text, " took an element that no operation added to the %s.", type);
        return;
    }
    if (w->anomaly == RIG_ANOMALY_DUPLICATED_ELEMENT) {
        rig_buf_printf(text, " of key ");
        rig_sentence_key(history, w->key, text);
        rig_buf_printf(text,
                       " took an element that was taken before: %s was taken %" PRId64
                       " time%s more often than it was added:",
                       RIG_VALUE_SHOWN(w->value), w->other_value, rig_plural((uint64_t)w->other_value));
    } else {
        rig_buf_printf(text, " found the %s of key ", type);
        rig_sentence_key(history, w->key, text);
        rig_buf_printf(text,
                       " empty, and no operation has taken %s, whose addition had been acknowledged before; %" PRId64
                       " element%s of this %s %s lost:",
                       RIG_VALUE_SHOWN(w->value), w->other_value, rig_plural((uint64_t)w->other_value), type,
                       w->other_value == 1 ? "is" : "are");
    }
    for (uint32_t i = 1; i < w->txn_count; i++) {
        rig_buf_add_text(text, i == 1 ? " " : ", ");
        add_operation(history, w->txns[i], text);
    }
    rig_buf_add_char(text, '.');
}

/* Operations without an order, process by process. */
static void add_sessions(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    rig_buf_printf(text, "%" PRIu32 " operation%s", w->txn_count, rig_plural(w->txn_count));
    if (w->key != UINT32_MAX) {
        rig_buf_add_text(text, " on key ");
        rig_sentence_key(history, w->key, text);
    }
    rig_buf_add_text(text, " have no order that keeps the order of each process and explains their results:");
    for (uint32_t i = 0; i < w->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[w->txns[i]];
        if (!rig_witness_shows(w, i))
            continue;
        if (i == 0 || history->txns[w->txns[i - 1]].process != txn->process || !rig_witness_shows(w, i - 1))
            rig_buf_printf(text, "%s\n  - process %" PRId32 ": ",
                           i == 0 || rig_witness_shows(w, i - 1) ? "" : "\n  ...", txn->process);
        else
            rig_buf_add_text(text, ", ");
        add_operation(history, w->txns[i], text);
        if (w->key == UINT32_MAX) {
            rig_buf_add_text(text, " of key ");
            rig_sentence_key(history, rig_txn_ops(history, w->txns[i])->key, text);
        }
    }
}

/* The value that the operation observes at first, where none that began before its end and may have happened writes it to the
 * key. */
static bool observes_unwritten(const struct rig_history *history, uint32_t txn, int64_t *value)
{
    const struct rig_txn_op *own = rig_txn_ops(history, txn);
    const bool observes = own->kind == RIG_OP_EXPECT || (rig_op_reads(own->kind) && own->read_state == RIG_READ_SEEN);
    if (history->workload != RIG_WORKLOAD_CAS_REGISTER || history->is_excerpt || !observes)
        return false;
    const uint32_t last = rig_txn_end(history, txn);
    *value = own->value;
    for (uint32_t other = 0; other < history->txn_count; other++) {
        const struct rig_txn_op *op = rig_txn_ops(history, other), *end = op + rig_txn_op_count(history, other);
        for (; op < end && history->txns[other].outcome != RIG_OUTCOME_FAIL; op++) {
            if (op->kind == RIG_OP_WRITE && history->txns[other].invoke_at < last && op->key == own->key &&
                op->value == *value)
                return false;
        }
    }
    return *value != rig_object_nil(history->workload);
}

static void add_initial(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    int64_t value;
    if (w->blocked->explained == 0 && observes_unwritten(history, w->txns[0], &value))
        rig_buf_printf(
            text,
            "\n  Nothing had written %s, and a register begins with nil. If this one began with %s, begin the "
            "history with a write of %s.",
            RIG_VALUE_SHOWN(value), RIG_VALUE_SHOWN(value), RIG_VALUE_SHOWN(value));
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *w, struct rig_buf *text)
{
    const struct rig_blocked *blocked = w->blocked;
    if (w->anomaly == RIG_ANOMALY_NONSEQUENTIAL) {
        add_sessions(history, w, text);
        return;
    }
    if (blocked == NULL) {
        add_element(history, w, text);
        return;
    }
    add_operation(history, w->txns[0], text);
    rig_buf_add_text(text, " of key ");
    rig_sentence_key(history, w->key, text);
    rig_buf_add_text(text, " cannot take effect at any point between its invocation and its completion.");
    if (blocked->value_count > 0) {
        add_alone(history, w, text);
        return;
    }
    if (blocked->explained == 0)
        rig_buf_add_text(text, "\n  No operation on this key completed before");
    else
        rig_buf_printf(text, "\n  The %" PRIu32 " operation%s on this key that completed before can be explained",
                       blocked->explained, rig_plural(blocked->explained));
    rig_buf_add_text(text, "; the object is then ");
    rig_object_words_states(blocked, text);
    rig_buf_add_char(text, '.');
    if (blocked->open_count == 0)
        rig_buf_add_text(text, " No other operation was open");
    else
        rig_buf_printf(text, " %" PRIu32 " other operation%s %s open", blocked->open_count,
                       rig_plural(blocked->open_count), rig_was_were(blocked->open_count));
    rig_buf_add_text(text, blocked->open_count == 0 ? "." : ", and no order of them leads to a state that allows it:");
    for (uint32_t i = 1; i < w->txn_count; i++) {
        rig_buf_add_text(text, i == 1 ? " " : ", ");
        add_operation(history, w->txns[i], text);
    }
    if (w->txn_count > 1)
        rig_buf_add_text(text, w->txn_count <= blocked->open_count ? " and others." : ".");
    add_initial(history, w, text);
}

const struct rig_type_sentences rig_object_sentences = {
    .write = "operation on key", .writes = "operations on keys", .add_step = add_step, .add_noncyclic = add_noncyclic};
