/*
 * Proving witnesses over sets from the raw history.
 *
 * A wr step must show a read with the element and its addition; an rw step a read without it. That this read precedes
 * the addition rests on the type: elements never go away.
 */
#include "checker/prove/witness/verify_commits.h"
#include "checker/prove/witness/verify_type.h"

/* How often the operation's result shows the value. */
static uint32_t count_shown(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.count; i++)
        count += rig_read_element(&list, i) == value;
    return count;
}

/* The place of the addition in its transaction, or UINT32_MAX. */
static uint32_t addition_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    if (txn >= history->txn_count)
        return UINT32_MAX;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_ADD && ops[i].key == key && ops[i].value == value)
            return i;
    }
    return UINT32_MAX;
}

/* The operation when it is a read of the key with a known result, else NULL. */
static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    return read->kind == RIG_OP_READ_SET && read->read_state != RIG_READ_UNKNOWN && read->key == key ? read : NULL;
}

static bool follow_reads(struct rig_commits *commits, uint32_t txn)
{
    const struct rig_history *history = commits->proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; commits->claims.count > 0 && i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_READ_SET || ops[i].read_state != RIG_READ_SEEN)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = 0; at < list.count; at++) {
            if (!rig_commits_show(commits, ops[i].key, rig_read_element(&list, at)))
                return false;
        }
    }
    return true;
}

static bool prove_committed(struct rig_proof *proof)
{
    return rig_commits_prove(proof, RIG_OP_ADD, follow_reads);
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    const bool wr = step->kind == RIG_EDGE_WR;
    const uint32_t writer = wr ? step->from : step->to, reader = wr ? step->to : step->from;
    if (step->kind != RIG_EDGE_WR && step->kind != RIG_EDGE_RW)
        return "has an order of two additions, which sets do not have";
    if (addition_in(history, writer, step->key, step->to_value) == UINT32_MAX)
        return "has a step whose element was not added";
    const struct rig_txn_op *read = known_read(history, reader, wr ? step->to_op : step->from_op, step->key);
    if (read == NULL)
        return "has a step without its read";
    const bool shown = count_shown(history, read, step->to_value) > 0;
    if (shown != wr)
        return wr ? "is followed by one that did not read its element" : "read the element that the next one added";
    return NULL;
}

/* ---- non-cyclic anomalies ---- */

static const char *check_garbage(const struct rig_history *history, const struct rig_witness *w)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (addition_in(history, txn, w->key, w->value) != UINT32_MAX)
            return "read an element that a transaction added";
    }
    return NULL;
}

static const char *check_internal(const struct rig_history *history, const struct rig_witness *w, bool shown)
{
    const uint32_t own = addition_in(history, w->txns[0], w->key, w->value);
    if (w->other_op >= w->op)
        return "has nothing earlier to agree with";
    if (own != UINT32_MAX)
        return own == w->other_op && !shown ? NULL : "read its own addition";
    const struct rig_txn_op *before = known_read(history, w->txns[0], w->other_op, w->key);
    if (before == NULL)
        return "made no such earlier read";
    return (count_shown(history, before, w->value) > 0) != shown ? NULL : "read what it had to";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op, w->key);
    if (read == NULL)
        return "made no such read";
    const uint32_t count = count_shown(history, read, w->value);
    const uint32_t own = addition_in(history, w->txns[0], w->key, w->value);
    if (w->anomaly == RIG_ANOMALY_INTERNAL)
        return check_internal(history, w, count > 0);
    if (count == 0)
        return "did not read the element";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        return count > 1 ? NULL : "read the element once";
    case RIG_ANOMALY_GARBAGE_READ:
        return check_garbage(history, w);
    case RIG_ANOMALY_FUTURE_READ:
        return own != UINT32_MAX && own > w->op ? NULL : "did not add the element later";
    case RIG_ANOMALY_G1A:
        if (w->txn_count != 2 || addition_in(history, w->txns[1], w->key, w->value) == UINT32_MAX)
            return "did not read an element of the other transaction";
        return history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL ? NULL : "read from one that did not fail";
    default:
        return "shows an anomaly that sets cannot show without a cycle";
    }
}

static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof;
    (void)step;
    return true;
}

const struct rig_type_verifier rig_verify_set = {.prove_committed = prove_committed,
                                                 .check_step = check_step,
                                                 .check_noncyclic = check_noncyclic,
                                                 .is_acknowledged = is_acknowledged};
