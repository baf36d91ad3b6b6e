/*
 * Proving witnesses over sets from the raw history.
 *
 * A wr step must show a read with the element and its addition; an rw step a read without it. That this read precedes
 * the addition rests on the type: elements never go away.
 */
#include "checker/prove/commits.h"

#include "base/bug.h"
#include "checker/prove/witness/single_line.h"
#include "checker/prove/witness/verify_type.h"

/* How often the operation's result shows the value. */
static uint32_t count_shown(const struct rig_history *history, const struct rig_txn_op *read, int64_t value)
{
    RIG_REQUIRE(read->kind == RIG_OP_READ_SET);
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

static bool prove_committed(struct rig_proof *proof)
{
    return rig_commits_prove(proof->history, RIG_OP_ADD, rig_commits_follow_reads, NULL, proof->committed);
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

/* The operation that the read disagrees with: the addition of the element, or an earlier read. */
static const char *check_cited(const struct rig_history *history, const struct rig_witness *w)
{
    RIG_REQUIRE(w->txns[0] < history->txn_count);
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op, w->key);
    const uint32_t own = addition_in(history, w->txns[0], w->key, w->value);
    if (w->other_op >= w->op || read == NULL)
        return "has nothing earlier to agree with";
    if (own != UINT32_MAX)
        return own == w->other_op ? NULL : "read its own addition";
    const struct rig_txn_op *before = known_read(history, w->txns[0], w->other_op, w->key);
    if (before == NULL)
        return "made no such earlier read";
    return (count_shown(history, before, w->value) > 0) != (count_shown(history, read, w->value) > 0)
               ? NULL
               : "read what it had to";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    enum rig_anomaly item;
    const char *lacks = rig_verify_single(proof, w);
    (void)rig_anomaly_is_by_predicate(w->anomaly, &item);
    return lacks != NULL || item != RIG_ANOMALY_INTERNAL ? lacks : check_cited(proof->history, w);
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
