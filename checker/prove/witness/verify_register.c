/*
 * Proving witnesses over registers from the raw history.
 *
 * A step that rests on an order of versions must show both versions and the evidence that its assumption needs. wfr: a
 * transaction read the one and then wrote the other. sequential: a process used the one last, and later began with the
 * other. linearizable: the same for two transactions, of which one completed before the other was invoked. The
 * initial state, nil or a value that no transaction wrote, precedes all. A witness of cyclic-versions names two
 * versions of a cycle and not its edges: only that the transaction wrote one of them is proved.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/commits.h"
#include "checker/prove/witness/single_line.h"
#include "checker/prove/witness/verify_type.h"

/* A version as a transaction saw it: a value, or the initial state. */
struct seen {
    bool known, initial;
    int64_t value;
};

/* The operations of each key, in the order of the history. */
struct facts {
    uint32_t *first; /* per key, and one more: into */
    uint32_t *ops;   /*   numbers of operations in the history */
};

static void free_facts(void *facts)
{
    struct facts *f = facts;
    if (f == NULL)
        return;
    free(f->first);
    free(f->ops);
    free(f);
}

static bool list_ops(struct rig_proof *proof)
{
    const struct rig_history *history = proof->history;
    struct facts *f = proof->facts = calloc(1, sizeof *f);
    if (f == NULL)
        return false;
    f->first = calloc((size_t)history->key_count + 2, sizeof f->first[0]);
    f->ops = malloc(((size_t)history->op_count + 1) * sizeof f->ops[0]);
    if (f->first == NULL || f->ops == NULL)
        return false;
    for (uint32_t op = 0; op < history->op_count; op++)
        f->first[history->ops[op].key + 2]++;
    for (uint32_t key = 0; key < history->key_count; key++)
        f->first[key + 2] += f->first[key + 1];
    for (uint32_t op = 0; op < history->op_count; op++)
        f->ops[f->first[history->ops[op].key + 1]++] = op;
    RIG_INVARIANT(f->first[proof->history->key_count] == history->op_count);
    return true;
}

/* No transaction wrote the value, whatever became of it. */
static bool is_unwritten(const struct rig_proof *proof, uint32_t key, int64_t value)
{
    RIG_REQUIRE(key < proof->history->key_count);
    const struct facts *f = proof->facts;
    bool written = false;
    for (uint32_t i = f->first[key]; !written && i < f->first[key + 1]; i++) {
        const struct rig_txn_op *op = &proof->history->ops[f->ops[i]];
        written = op->kind == RIG_OP_WRITE && op->value == value;
    }
    return !written;
}

/* ---- which transactions committed ---- */

static bool prove_committed(struct rig_proof *proof)
{
    return list_ops(proof) &&
           rig_commits_prove(proof->history, RIG_OP_WRITE, rig_commits_follow_reads, NULL, proof->committed);
}

/* ---- versions of a key in a transaction ---- */

static bool wrote(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    if (txn >= history->txn_count)
        return false;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_WRITE && ops[i].key == key && ops[i].value == value)
            return true;
    }
    return false;
}

static struct seen seen_by(const struct rig_txn_op *op)
{
    RIG_REQUIRE(op->kind == RIG_OP_WRITE || op->kind == RIG_OP_READ_REGISTER);
    if (op->kind == RIG_OP_WRITE)
        return (struct seen){.known = true, .value = op->value};
    return (struct seen){.known = op->read_state != RIG_READ_UNKNOWN,
                         .initial = op->read_state == RIG_READ_NIL,
                         .value = op->read_state == RIG_READ_SEEN ? op->value : 0};
}

/* The version that the transaction read first, unless it wrote before; and the last one that it wrote. */
static struct seen first_read(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == key)
            return ops[i].kind == RIG_OP_WRITE ? (struct seen){0} : seen_by(&ops[i]);
    }
    return (struct seen){0};
}

static struct seen last_write(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = rig_txn_op_count(history, txn); i-- > 0;) {
        if (ops[i].key == key && ops[i].kind == RIG_OP_WRITE)
            return seen_by(&ops[i]);
    }
    return (struct seen){0};
}

static bool is_same(struct seen a, struct seen b)
{
    return a.known && b.known && a.initial == b.initial && a.value == b.value;
}

static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    return read->kind == RIG_OP_READ_REGISTER && read->read_state != RIG_READ_UNKNOWN ? read : NULL;
}

/* ---- steps ---- */

/* `from` came before `to` for the reason that the step gives. */
static bool shows_order(const struct rig_proof *proof, const struct rig_step *step, struct seen from, struct seen to)
{
    const struct rig_history *history = proof->history;
    uint32_t a = step->order_txn, b = step->order_other;
    if (step->order == RIG_ORDER_INITIAL)
        return from.initial || is_unwritten(proof, step->key, from.value);
    if (a >= history->txn_count || b >= history->txn_count || history->txns[a].outcome != RIG_OUTCOME_OK ||
        history->txns[b].outcome != RIG_OUTCOME_OK)
        return false;
    struct seen left = last_write(history, a, step->key), met = first_read(history, b, step->key);
    if (step->order == RIG_ORDER_WFR)
        return a == b && is_same(met, from) && is_same(left, to);
    if (!left.known)
        left = first_read(history, a, step->key);
    const bool initial = met.initial || is_unwritten(proof, step->key, met.value);
    struct seen later = met.known && !initial ? met : last_write(history, b, step->key);
    if (!later.known)
        later = met;
    const struct rig_txn *before = &history->txns[a], *after = &history->txns[b];
    bool invoked = after->invoke_at != RIG_POSITION_NONE;
    bool ordered = before->complete_at < (invoked ? after->invoke_at : after->complete_at);
    if (step->order == RIG_ORDER_SEQUENTIAL)
        ordered = (history->in_turn ? before->complete_at < after->complete_at : ordered) &&
                  before->process == after->process;
    else
        ordered = ordered && invoked && step->order == RIG_ORDER_LINEARIZABLE;
    return ordered && is_same(left, from) && is_same(later, to);
}

static const char *check_step(const struct rig_proof *proof, const struct rig_step *step)
{
    const struct rig_history *history = proof->history;
    struct seen to = {.known = true, .value = step->to_value};
    if (step->kind == RIG_EDGE_WR) {
        const struct rig_txn_op *read = known_read(history, step->to, step->to_op);
        bool saw = read != NULL && read->key == step->key && read->read_state == RIG_READ_SEEN &&
                   read->value == step->from_value;
        return saw && wrote(history, step->from, step->key, step->from_value)
                   ? NULL
                   : "is followed by one that did not read its value";
    }
    if (!wrote(history, step->to, step->key, step->to_value))
        return "is followed by one that did not write the later value";
    struct seen from = {.known = true, .value = step->from_value};
    if (step->kind == RIG_EDGE_RW) {
        const struct rig_txn_op *read = known_read(history, step->from, step->from_op);
        if (read == NULL || read->key != step->key)
            return "made no such read";
        from = seen_by(read);
    } else if (!wrote(history, step->from, step->key, step->from_value)) {
        return "did not write the earlier value";
    }
    return shows_order(proof, step, from, to) ? NULL : "has nothing that orders the two versions";
}

/* ---- proofs by cases ---- */

static bool read_version(const struct rig_proof *proof, uint32_t txn, uint32_t op, struct rig_proved_read *read)
{
    const struct rig_txn_op *known = known_read(proof->history, txn, op);
    if (known == NULL)
        return false;
    const struct seen seen = seen_by(known);
    *read = (struct rig_proved_read){
        .key = known->key, .initial = seen.initial || is_unwritten(proof, known->key, seen.value), .value = seen.value};
    return read->initial || !wrote(proof->history, txn, known->key, seen.value);
}

static const char *check_known(const struct rig_proof *proof, const struct rig_step *step)
{
    RIG_REQUIRE(step->kind == RIG_EDGE_WW || step->kind == RIG_EDGE_RW);
    const struct seen from = {.known = true, .value = step->from_value};
    const struct seen to = last_write(proof->history, step->to, step->key);
    if (to.value != step->to_value ||
        (step->kind == RIG_EDGE_WW && !is_same(from, last_write(proof->history, step->from, step->key))))
        return "has a version that is not the one that was written last";
    return shows_order(proof, step, from, to) ? NULL : "has nothing that orders the two versions";
}

/* ---- non-cyclic anomalies ---- */

/* Both reads show the same version, which may be one that a transaction writes itself, later: the line of a proof would
 * not hold then. */
static const char *check_lost_update(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op),
                            *other = w->txn_count == 2 ? known_read(history, w->txns[1], w->other_op) : NULL;
    if (read == NULL || other == NULL || read->key != w->key || other->key != w->key || !proof->committed[w->txns[1]] ||
        !is_same(seen_by(read), seen_by(other)))
        return "read another version than the other one";
    if (!last_write(history, w->txns[0], w->key).known || !last_write(history, w->txns[1], w->key).known)
        return "did not write like the other one";
    return rig_verify_found_no_row(proof, w->txns[0], w->op) == (w->anomaly == RIG_ANOMALY_LOST_UPDATE_PREDICATE)
               ? NULL
               : "is in an anomaly that has another name where its key has no row";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (w->anomaly == RIG_ANOMALY_CYCLIC_VERSIONS)
        return wrote(history, w->txns[0], w->key, w->value) || wrote(history, w->txns[0], w->key, w->other_value)
                   ? NULL
                   : "wrote none of the versions";
    if (w->anomaly == RIG_ANOMALY_LOST_UPDATE || w->anomaly == RIG_ANOMALY_LOST_UPDATE_PREDICATE)
        return check_lost_update(proof, w);
    return w->anomaly == RIG_ANOMALY_LOST_WRITE ? rig_verify_lost_write(proof, w) : rig_verify_single(proof, w);
}

/* Only acknowledged transactions order versions. */
static bool is_acknowledged(const struct rig_proof *proof, const struct rig_step *step)
{
    (void)proof;
    (void)step;
    return true;
}

const struct rig_type_verifier rig_verify_register = {.prove_committed = prove_committed,
                                                      .free_facts = free_facts,
                                                      .check_step = check_step,
                                                      .check_noncyclic = check_noncyclic,
                                                      .read_version = read_version,
                                                      .check_known = check_known,
                                                      .is_acknowledged = is_acknowledged};
