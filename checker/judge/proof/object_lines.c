#include "checker/judge/proof/object_lines.h"

#include <inttypes.h>

/* A search over many operations takes long where many of unknown outcome may have taken effect at any time. */
enum { MOST_NAMED = 1 << 14, MOST_UNKNOWN = 14 };

static bool takes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_DEQUEUE || op->kind == RIG_OP_POP;
}

static bool is_of_witness(const struct rig_witness *witness, uint32_t txn)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (witness->txns[i] == txn)
            return true;
    }
    return false;
}

/* Whether the operation adds or takes one of the values, or may have. */
static bool is_about(const struct rig_txn_op *op, const int64_t *values, uint32_t count)
{
    if (takes(op) && op->read_state != RIG_READ_SEEN)
        return op->read_state == RIG_READ_UNKNOWN;
    for (uint32_t i = 0; i < count; i++) {
        if (op->value == values[i])
            return true;
    }
    return false;
}

/* The operations of a witness. One that names values is about these alone; another one is about all that began before its
 * first operation ended. */
static bool is_named(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool of_values = witness->blocked == NULL || witness->blocked->value_count > 0;
    const int64_t *values = witness->blocked == NULL ? &witness->value : witness->blocked->values;
    const uint32_t count = witness->blocked == NULL ? 1 : witness->blocked->value_count;
    if (witness->anomaly == RIG_ANOMALY_NONSEQUENTIAL)
        return is_of_witness(witness, txn);
    if (history->txns[txn].outcome == RIG_OUTCOME_FAIL || rig_txn_op_count(history, txn) == 0 ||
        ops[0].key != witness->key)
        return false;
    if (!of_values)
        return history->txns[txn].invoke_at < history->txns[witness->txns[0]].complete_at;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (is_about(&ops[i], values, count))
            return true;
    }
    return is_of_witness(witness, txn);
}

/* Takes of unknown result explain some of several lost elements, and another witness has to show the others. */
static bool has_line(const struct rig_history *history, const struct rig_witness *witness)
{
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_NONLINEARIZABLE:
        return witness->blocked != NULL;
    case RIG_ANOMALY_NONSEQUENTIAL:
    case RIG_ANOMALY_PHANTOM_ELEMENT:
    case RIG_ANOMALY_DUPLICATED_ELEMENT:
        return true;
    case RIG_ANOMALY_LOST_ELEMENT:
        for (uint32_t op = 0; op < history->op_count; op++) {
            if (takes(&history->ops[op]) && history->ops[op].read_state == RIG_READ_UNKNOWN)
                return false;
        }
        return true;
    default:
        return false;
    }
}

bool rig_prove_object_line(const struct rig_history *history, const struct rig_witness *witness, struct rig_buf *text)
{
    const size_t size = text->size;
    uint32_t named = 0, unknown = 0;
    if (!has_line(history, witness))
        return false;
    rig_buf_add_text(text, "no-order");
    for (uint32_t txn = 0; txn < history->txn_count && named <= MOST_NAMED; txn++) {
        if (!is_named(history, witness, txn))
            continue;
        rig_buf_printf(text, " %" PRIu32, rig_txn_name(history, txn));
        named++;
        unknown += history->txns[txn].outcome == RIG_OUTCOME_INFO;
    }
    rig_buf_add_char(text, '\n');
    if (named > 0 && named <= MOST_NAMED && unknown <= MOST_UNKNOWN)
        return true;
    if (!text->failed)
        text->size = size;
    return false;
}
