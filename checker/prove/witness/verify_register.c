/*
 * Proving witnesses over registers from the raw history.
 *
 * A step that rests on an order of versions must show both versions and the evidence that its assumption needs. wfr: a
 * transaction read the one and then wrote the other. sequential: a process used the one last, and later began with the
 * other. linearizable: the same for two transactions, of which one completed before the other was invoked. The
 * initial state, nil or a value that no transaction wrote, precedes all. A witness of cyclic-versions names two versions
 * of a cycle and not its edges: only that the transaction wrote one of them is proved.
 */
#include <stdlib.h>

#include "checker/prove/witness/verify_commits.h"
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
    return true;
}

/* No transaction wrote the value, whatever became of it. */
static bool is_unwritten(const struct rig_proof *proof, uint32_t key, int64_t value)
{
    const struct facts *f = proof->facts;
    bool written = false;
    for (uint32_t i = f->first[key]; !written && i < f->first[key + 1]; i++) {
        const struct rig_txn_op *op = &proof->history->ops[f->ops[i]];
        written = op->kind == RIG_OP_WRITE && op->value == value;
    }
    return !written;
}

/* ---- which transactions committed ---- */

static bool follow_reads(struct rig_commits *commits, uint32_t txn)
{
    const struct rig_history *history = commits->proof->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; commits->claims.count > 0 && i < rig_txn_op_count(history, txn); i++) {
        bool shows = ops[i].kind == RIG_OP_READ_REGISTER && ops[i].read_state == RIG_READ_SEEN;
        if (shows && !rig_commits_show(commits, ops[i].key, ops[i].value))
            return false;
    }
    return true;
}

static bool prove_committed(struct rig_proof *proof)
{
    return list_ops(proof) && rig_commits_prove(proof, RIG_OP_WRITE, follow_reads);
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
    if (op->kind == RIG_OP_WRITE)
        return (struct seen){.known = true, .value = op->value};
    return (struct seen){.known = op->read_state != RIG_READ_UNKNOWN,
                         .initial = op->read_state == RIG_READ_NIL,
                         .value = op->read_state == RIG_READ_SEEN ? op->value : 0};
}

/* The version that the transaction read first, unless it wrote before; and the last one that it wrote. */
static struct seen first_read(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == key)
            return ops[i].kind == RIG_OP_WRITE ? (struct seen){0} : seen_by(&ops[i]);
    }
    return (struct seen){0};
}

static struct seen last_write(const struct rig_history *history, uint32_t txn, uint32_t key)
{
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
    const struct seen from = {.known = true, .value = step->from_value};
    const struct seen to = last_write(proof->history, step->to, step->key);
    if (to.value != step->to_value ||
        (step->kind == RIG_EDGE_WW && !is_same(from, last_write(proof->history, step->from, step->key))))
        return "has a version that is not the one that was written last";
    return shows_order(proof, step, from, to) ? NULL : "has nothing that orders the two versions";
}

/* ---- non-cyclic anomalies ---- */

static const char *check_value_of_other(const struct rig_history *history, const struct rig_witness *w,
                                        const struct rig_txn_op *read)
{
    bool of_other = w->txn_count == 2 && read->read_state == RIG_READ_SEEN && read->value == w->value &&
                    wrote(history, w->txns[1], w->key, w->value);
    if (!of_other)
        return "did not read a value of the other transaction";
    if (w->anomaly == RIG_ANOMALY_G1A)
        return history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL ? NULL : "read from one that did not fail";
    struct seen last = last_write(history, w->txns[1], w->key);
    return last.value != w->value ? NULL : "read the last write of the other transaction";
}

static const char *check_internal(const struct rig_history *history, const struct rig_witness *w,
                                  const struct rig_txn_op *read)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    for (uint32_t i = w->op; i-- > 0;) {
        struct seen before = seen_by(&ops[i]);
        if (ops[i].key == w->key && before.known)
            return is_same(before, seen_by(read)) ? "read what it had to" : NULL;
    }
    return "had nothing to agree with";
}

static const char *check_future(const struct rig_history *history, const struct rig_witness *w,
                                const struct rig_txn_op *read)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    for (uint32_t i = w->op + 1; i < rig_txn_op_count(history, w->txns[0]); i++) {
        bool same = read->read_state == RIG_READ_SEEN && ops[i].value == read->value;
        if (ops[i].kind == RIG_OP_WRITE && ops[i].key == w->key && same)
            return NULL;
    }
    return "did not write later what it read";
}

static const char *check_lost_update(const struct rig_proof *proof, const struct rig_witness *w,
                                     const struct rig_txn_op *read)
{
    const struct rig_history *history = proof->history;
    if (w->txn_count != 2 || !proof->committed[w->txns[1]])
        return "has no other transaction to lose an update to";
    const struct rig_txn_op *other = known_read(history, w->txns[1], w->other_op);
    if (other == NULL || other->key != w->key || !is_same(seen_by(read), seen_by(other)))
        return "read another version than the other one";
    bool both = last_write(history, w->txns[0], w->key).known && last_write(history, w->txns[1], w->key).known;
    return both ? NULL : "did not write like the other one";
}

/* Another committed read shows another initial state, and a key has one. */
static const char *check_garbage(const struct rig_proof *proof, const struct rig_witness *w,
                                 const struct rig_txn_op *read)
{
    const uint32_t other = w->txns[w->txn_count - 1];
    const struct rig_txn_op *initial = known_read(proof->history, other, w->other_op);
    if (read->read_state != RIG_READ_SEEN || read->value != w->value || !is_unwritten(proof, w->key, w->value))
        return "read a value that some transaction wrote";
    if (initial == NULL || initial->key != w->key || !proof->committed[other] ||
        is_same(seen_by(read), seen_by(initial)))
        return "has no other read that shows another initial state";
    return initial->read_state == RIG_READ_NIL || is_unwritten(proof, w->key, initial->value)
               ? NULL
               : "is compared with a read of a value that some transaction wrote";
}

static const char *check_noncyclic(const struct rig_proof *proof, const struct rig_witness *w)
{
    const struct rig_history *history = proof->history;
    if (w->anomaly == RIG_ANOMALY_CYCLIC_VERSIONS)
        return wrote(history, w->txns[0], w->key, w->value) || wrote(history, w->txns[0], w->key, w->other_value)
                   ? NULL
                   : "wrote none of the versions";
    if (w->anomaly == RIG_ANOMALY_LOST_WRITE)
        return rig_verify_lost_write(proof, w);
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op);
    if (read == NULL || read->key != w->key)
        return "made no such read";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
    case RIG_ANOMALY_G1B:
        return check_value_of_other(history, w, read);
    case RIG_ANOMALY_INTERNAL:
        return check_internal(history, w, read);
    case RIG_ANOMALY_FUTURE_READ:
        return check_future(history, w, read);
    case RIG_ANOMALY_LOST_UPDATE:
        return check_lost_update(proof, w, read);
    case RIG_ANOMALY_GARBAGE_READ:
        return check_garbage(proof, w, read);
    default:
        return "shows an anomaly that registers cannot show without a cycle";
    }
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
