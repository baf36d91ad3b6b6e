/*
 * Proving that a write of a register is lost, from the raw history (infer/register_lost.h has the rule).
 *
 * Time: the history a few times, and a table of the values of one key; as many rounds over it as updates are out of
 * the order of their completions.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "checker/prove/witness/verify_type.h"

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

static bool is_acknowledged(const struct loss *l, uint32_t txn)
{
    RIG_REQUIRE(txn < l->history->txn_count);
    return l->history->txns[txn].outcome == RIG_OUTCOME_OK;
}

static uint32_t invoked(const struct rig_txn *txn)
{
    return txn->invoke_at == RIG_POSITION_NONE ? 0 : txn->invoke_at;
}

/* The last write of the key in the transaction, or NULL. */
static const struct rig_txn_op *last_write(const struct loss *l, uint32_t txn)
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
        const struct rig_txn_op *ops = rig_txn_ops(history, txn), *last = last_write(l, txn);
        if (!is_acknowledged(l, txn) || history->txns[txn].complete_at >= invoked(l->writer))
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
            if (!is_acknowledged(l, txn) || invoked(&l->history->txns[txn]) <= l->writer->complete_at)
                continue;
            const struct rig_txn_op *read = read_before_write(l, txn), *last = last_write(l, txn);
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
        if (txn == l->w->txns[0] || !is_acknowledged(l, txn) || t->complete_at <= l->writer->complete_at)
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
        const struct rig_txn_op *last = last_write(l, txn);
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
    const struct rig_txn_op *last = last_write(l, w->txns[0]);
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

const char *rig_verify_lost_write(const struct rig_proof *proof, const struct rig_witness *w)
{
    struct loss l = {.history = proof->history, .w = w};
    if (w->txn_count != 2 || w->txns[0] >= l.history->txn_count || w->txns[1] >= l.history->txn_count ||
        w->txns[0] == w->txns[1] || w->other_op >= rig_txn_op_count(l.history, w->txns[1]))
        return "made no such write";
    l.writer = &l.history->txns[w->txns[0]];
    if (!is_acknowledged(&l, w->txns[0]) || !is_acknowledged(&l, w->txns[1]) ||
        !is_known_read(&l, rig_txn_ops(l.history, w->txns[1]) + w->other_op))
        return "was not acknowledged, or not followed by such a read";
    const char *lacks = list_values(&l) ? prove(&l) : "cannot be proved in the memory there is";
    free(l.facts);
    return lacks;
}
