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

/*
 * Proving that a write of a register is lost, from the raw history (infer/register_lost.h has the rule).
 *
 * Time: the history a few times, and a table of the values of one key; as many rounds over it as updates are out of
 * the order of their completions.
 */

/* A value of the key. */
struct fact {
    int64_t value;
    bool written, older, went_on;
};

struct loss {
    const struct rig_history *history;
    const struct rig_witness *w;
    const struct rig_txn *writer; /* of the write in question */
    struct fact *facts;           /* by value */
    size_t count;
    uint32_t shown_until; /* the last completion of an acknowledged read of the write after its acknowledgement */
};

/* Shows a value of the key, and which; nil is the initial state and no value. */
static bool has_value(const struct loss *l, const struct rig_txn_op *op)
{
    return op->key == l->w->key && (op->kind == RIG_OP_WRITE || op->read_state == RIG_READ_SEEN);
}

static bool is_known_read(const struct loss *l, const struct rig_txn_op *op)
{
    return op->key == l->w->key && op->kind == RIG_OP_READ_REGISTER && op->read_state != RIG_READ_UNKNOWN;
}

static int compare_facts(const void *left, const void *right)
{
    const struct fact *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static bool list_values(struct loss *l)
{
    const struct rig_history *history = l->history;
    l->facts = calloc((size_t)history->op_count + 1, sizeof *l->facts);
    for (uint32_t op = 0; l->facts != NULL && op < history->op_count; op++) {
        if (has_value(l, &history->ops[op]))
            l->facts[l->count++] =
                (struct fact){.value = history->ops[op].value, .written = history->ops[op].kind == RIG_OP_WRITE};
    }
    if (l->facts == NULL || l->count == 0)
        return false;
    qsort(l->facts, l->count, sizeof *l->facts, compare_facts);
    size_t kept = 1;
    for (size_t i = 1; i < l->count; i++) {
        if (l->facts[i].value != l->facts[kept - 1].value)
            l->facts[kept++] = l->facts[i];
        else
            l->facts[kept - 1].written |= l->facts[i].written;
    }
    RIG_INVARIANT(kept <= l->count);
    l->count = kept;
    return true;
}

static struct fact *fact_of(const struct loss *l, int64_t value)
{
    const struct fact wanted = {.value = value};
    struct fact *fact = bsearch(&wanted, l->facts, l->count, sizeof wanted, compare_facts);
    RIG_INVARIANT(fact != NULL);
    return fact;
}

static bool is_older(const struct loss *l, const struct rig_txn_op *op)
{
    return (op->kind != RIG_OP_WRITE && op->read_state == RIG_READ_NIL) || fact_of(l, op->value)->older;
}

static bool was_acknowledged(const struct loss *l, uint32_t txn)
{
    RIG_REQUIRE(txn < l->history->txn_count);
    return l->history->txns[txn].outcome == RIG_OUTCOME_OK;
}

static uint32_t invoked(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

/* The last write of the key in the transaction, or NULL. */
static const struct rig_txn_op *last_write_of(const struct loss *l, uint32_t txn)
{
    RIG_REQUIRE(txn < l->history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(l->history, txn);
    for (uint32_t i = rig_txn_op_count(l->history, txn); i-- > 0;) {
        if (ops[i].key == l->w->key && ops[i].kind == RIG_OP_WRITE)
            return &ops[i];
    }
    return NULL;
}

static bool same_state(const struct rig_txn_op *a, const struct rig_txn_op *b)
{
    RIG_REQUIRE(a->read_state != RIG_READ_UNKNOWN && b->read_state != RIG_READ_UNKNOWN);
    return a->read_state == b->read_state && (a->read_state == RIG_READ_NIL || a->value == b->value);
}

/* The read of the key before the first write of it, if all those reads show the same; else NULL. */
static const struct rig_txn_op *read_before_write(const struct loss *l, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(l->history, txn), *read = NULL;
    for (uint32_t i = 0; i < rig_txn_op_count(l->history, txn); i++) {
        if (ops[i].key != l->w->key)
            continue;
        if (ops[i].kind == RIG_OP_WRITE)
            return read;
        if (!is_known_read(l, &ops[i]) || (read != NULL && !same_state(read, &ops[i])))
            return NULL;
        read = &ops[i];
    }
    return NULL;
}

/* Marks what is older by itself: unwritten, acknowledged or read before the write was invoked, or read by its
 * transaction. */
static void mark_older(struct loss *l)
{
    const struct rig_history *history = l->history;
    for (size_t i = 0; i < l->count; i++)
        l->facts[i].older = !l->facts[i].written;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn), *last = last_write_of(l, txn);
        if (!was_acknowledged(l, txn) || history->txns[txn].complete_at >= invoked(l->writer))
            continue;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (has_value(l, &ops[i]) && (ops[i].kind != RIG_OP_WRITE || &ops[i] == last))
                fact_of(l, ops[i].value)->older = true;
        }
    }
    const struct rig_txn_op *read = read_before_write(l, l->w->txns[0]);
    if (read != NULL && read->read_state == RIG_READ_SEEN)
        fact_of(l, read->value)->older = true;
    RIG_INVARIANT(l->count > 0);
    fact_of(l, l->w->value)->older = false;
}

/* Marks what was made from older values by updates that were invoked after the acknowledgement. */
static void follow_updates(struct loss *l)
{
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t txn = 0; txn < l->history->txn_count; txn++) {
            if (!was_acknowledged(l, txn) || invoked(&l->history->txns[txn]) <= l->writer->complete_at)
                continue;
            const struct rig_txn_op *read = read_before_write(l, txn), *last = last_write_of(l, txn);
            struct fact *made = last == NULL ? NULL : fact_of(l, last->value);
            if (read == NULL || made == NULL || made->older || !is_older(l, read))
                continue;
            made->older = made->went_on = again = true;
        }
    }
}

static bool writes(const struct loss *l, uint32_t txn, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(l->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(l->history, txn); i++) {
        if (ops[i].key == l->w->key && ops[i].kind == RIG_OP_WRITE && ops[i].value == value)
            return true;
    }
    return false;
}

/* Acknowledged reads of others that ended after the acknowledgement show the value, or older ones. */
static bool reads_agree(struct loss *l)
{
    l->shown_until = l->writer->complete_at;
    for (uint32_t txn = 0; txn < l->history->txn_count; txn++) {
        const struct rig_txn *t = &l->history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(l->history, txn);
        if (txn == l->w->txns[0] || !was_acknowledged(l, txn) || t->complete_at <= l->writer->complete_at)
            continue;
        bool wrote = false;
        for (uint32_t i = 0; i < rig_txn_op_count(l->history, txn); i++) {
            if (!is_known_read(l, &ops[i])) {
                wrote |= ops[i].key == l->w->key && ops[i].kind == RIG_OP_WRITE;
                continue;
            }
            if (ops[i].read_state == RIG_READ_SEEN && ops[i].value == l->w->value)
                l->shown_until = t->complete_at > l->shown_until ? t->complete_at : l->shown_until;
            else if (!wrote && !is_older(l, &ops[i]) && !writes(l, txn, ops[i].value))
                return false;
        }
    }
    RIG_INVARIANT(l->shown_until >= l->writer->complete_at);
    return true;
}

/* Another write, invoked before the position, that may have come after the one in question. */
static bool may_be_overwritten(const struct loss *l, uint32_t position)
{
    RIG_REQUIRE(position > l->writer->complete_at);
    for (uint32_t txn = 0; txn < l->history->txn_count; txn++) {
        const struct rig_txn *t = &l->history->txns[txn];
        const struct rig_txn_op *last = last_write_of(l, txn);
        if (txn != l->w->txns[0] && last != NULL && t->outcome != RIG_OUTCOME_FAIL && invoked(t) < position &&
            !is_older(l, last))
            return true;
    }
    return false;
}

static const char *prove(struct loss *l)
{
    const struct rig_witness *w = l->w;
    const struct rig_txn *reader = &l->history->txns[w->txns[1]];
    const struct rig_txn_op *ops = rig_txn_ops(l->history, w->txns[1]), *read = &ops[w->other_op];
    const struct rig_txn_op *last = last_write_of(l, w->txns[0]);
    if (last == NULL || last->value != w->value)
        return "made no such write";
    if (reader->invoke_at == RIG_POSITION_NONE || l->writer->complete_at >= reader->invoke_at)
        return "was not acknowledged before the read began";
    for (uint32_t i = 0; i < w->other_op; i++) {
        if (ops[i].key == w->key && ops[i].kind == RIG_OP_WRITE)
            return "is missed only by a read of the reader's own write";
    }
    mark_older(l);
    follow_updates(l);
    if (!is_older(l, read) || !reads_agree(l) || l->shown_until >= reader->invoke_at)
        return "made a write that a later read shows, or may show";
    if (may_be_overwritten(l, reader->complete_at))
        return "made a write that may have been overwritten";
    const bool went_on = read->read_state == RIG_READ_SEEN && fact_of(l, read->value)->went_on;
    return l->shown_until == l->writer->complete_at || went_on
               ? NULL
               : "made a write that was read, and then missed by reads that may be stale";
}

/* check_noncyclic() of a lost write of a register. */
static const char *verify_lost_write(const struct rig_proof *proof, const struct rig_witness *w)
{
    struct loss l = {.history = proof->history, .w = w};
    if (w->txn_count != 2 || w->txns[0] >= l.history->txn_count || w->txns[1] >= l.history->txn_count ||
        w->txns[0] == w->txns[1] || w->other_op >= rig_txn_op_count(l.history, w->txns[1]))
        return "made no such write";
    l.writer = &l.history->txns[w->txns[0]];
    if (!was_acknowledged(&l, w->txns[0]) || !was_acknowledged(&l, w->txns[1]) ||
        !is_known_read(&l, rig_txn_ops(l.history, w->txns[1]) + w->other_op))
        return "was not acknowledged, or not followed by such a read";
    const char *lacks = list_values(&l) ? prove(&l) : "cannot be proved in the memory there is";
    free(l.facts);
    return lacks;
}

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
    return w->anomaly == RIG_ANOMALY_LOST_WRITE ? verify_lost_write(proof, w) : rig_verify_single(proof, w);
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
