#include <string.h>

#include "tests/oracle/executions_private.h"

/* One operation on the current key. */
struct key_op {
    int txn, op;
    const struct small_op *does;
};

static int list_key_ops(const struct search *s, int key, struct key_op ops[KEY_OPS])
{
    int count = 0;
    for (int p = 0; p < s->count; p++) {
        const int t = s->order[p];
        const struct small_txn *txn = &s->history->txns[t];
        for (int i = 0; i < txn->op_count; i++) {
            const struct small_op *op = &txn->ops[i];
            if (op->key == key && (op->append || (op->known && !in(s->ghosts, t))))
                ops[count++] = (struct key_op){t, i, op};
        }
    }
    return count;
}

/* Whether the version that `write` makes is later than the one that `of` makes. */
static bool is_later(const struct search *s, const struct key_op *of, const struct key_op *write)
{
    if (of->txn == write->txn)
        return of->op < write->op;
    return s->place[of->txn] < s->place[write->txn];
}

/* Whether `a` comes before `b` in every serial order of the operations that keeps `order` and the version order. */
static bool comes_before(const struct search *s, enum execution_order order, const struct key_op *a,
                         const struct key_op *b, const struct key_op *read_by_a)
{
    if (a->txn == b->txn)
        return a->op < b->op;
    if (in(s->before[order][a->txn], b->txn))
        return true;
    if (a->does->append && b->does->append)
        return is_later(s, a, b);
    if (a->does->append)
        return !b->does->append && b->does->count == 1 && b->does->list[0] == a->does->value;
    return b->does->append && (a->does->count == 0 || (read_by_a != NULL && is_later(s, read_by_a, b)));
}

static const struct key_op *writer_op(const struct key_op *ops, int count, const struct small_op *read)
{
    for (int i = 0; i < count && !read->append && read->count == 1; i++) {
        if (ops[i].does->append && ops[i].does->value == read->list[0])
            return &ops[i];
    }
    return NULL;
}

/*
 * Closes the order, and adds the orders that a read forces: another write comes before the write it returns, or after
 * the read. False when there is nothing to add.
 */
static bool add_forced(const struct key_op *ops, int count, uint64_t after[KEY_OPS])
{
    uint64_t before[KEY_OPS];
    memcpy(before, after, sizeof before);
    for (int via = 0; via < count; via++) {
        for (int a = 0; a < count; a++)
            after[a] |= (after[a] >> via & 1) != 0 ? after[via] : 0;
    }
    for (int read = 0; read < count; read++) {
        const struct key_op *written = writer_op(ops, count, ops[read].does);
        const int w = written == NULL ? NOTHING : (int)(written - ops);
        for (int other = 0; other < count && w != NOTHING; other++) {
            if (!ops[other].does->append || other == w)
                continue;
            after[other] |= (after[other] >> read & 1) != 0 ? UINT64_C(1) << w : 0;
            after[read] |= (after[w] >> other & 1) != 0 ? UINT64_C(1) << other : 0;
        }
    }
    return memcmp(before, after, sizeof before) != 0;
}

/*
 * A necessary condition on the operations alone: an order of all of them exists in which only the writes of a
 * transaction are adjacent.
 */
static bool key_is_serial(const struct search *s, int key, enum execution_order order)
{
    struct key_op ops[KEY_OPS];
    uint64_t after[KEY_OPS] = {0};
    const int count = list_key_ops(s, key, ops);
    for (int a = 0; a < count; a++) {
        const struct key_op *read_by_a = writer_op(ops, count, ops[a].does);
        for (int b = 0; b < count; b++) {
            if (a != b && comes_before(s, order, &ops[a], &ops[b], read_by_a))
                after[a] |= UINT64_C(1) << b;
        }
    }
    while (add_forced(ops, count, after))
        continue;
    for (int a = 0; a < count; a++) {
        if ((after[a] >> a & 1) != 0)
            return false;
    }
    return true;
}

static bool keys_are_serial(const struct search *s, enum execution_order order)
{
    for (int key = 0; key < SMALL_KEYS; key++) {
        if (!key_is_serial(s, key, order))
            return false;
    }
    return true;
}

static bool writes_follow_reads(const struct search *s)
{
    for (int r = 0; r < s->read_count; r++) {
        const struct seen *seen = &s->reads[r];
        const struct small_txn *txn = &s->history->txns[seen->txn];
        bool updates = executions_is_external(s, seen) && seen->writer != NOTHING &&
                       last_write(txn, seen->key, seen->op) == NOTHING && (s->writes[seen->txn] & bit(seen->key)) != 0;
        if (updates && s->place[seen->writer] > s->place[seen->txn])
            return false;
    }
    return true;
}

bool executions_keep_assumptions(const struct search *s)
{
    return ((s->assumptions & EXECUTION_WFR) == 0 || writes_follow_reads(s)) &&
           ((s->assumptions & EXECUTION_SEQUENTIAL) == 0 || keys_are_serial(s, EXECUTION_SESSION)) &&
           ((s->assumptions & EXECUTION_LINEARIZABLE) == 0 || keys_are_serial(s, EXECUTION_STRONG));
}
