#include <string.h>

#include "tests/oracle/small_random.h"

static void forget_value(struct small_history *history, int key, int value)
{
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++) {
            struct small_op *op = &history->txns[t].ops[i];
            int kept = 0;
            for (int e = 0; e < op->count && op->key == key && !op->append; e++) {
                if (op->list[e] != value)
                    op->list[kept++] = op->list[e];
            }
            if (op->key == key && !op->append)
                op->count = kept;
        }
    }
}

void small_drop(struct small_history *history, int txn, int op)
{
    struct small_txn *from = &history->txns[txn];
    for (int i = 0; i < from->op_count; i++) {
        if (from->ops[i].append && (op < 0 || op == i))
            forget_value(history, from->ops[i].key, from->ops[i].value);
    }
    if (op >= 0) {
        int rest = from->op_count - op - 1;
        memmove(&from->ops[op], &from->ops[op + 1], (size_t)rest * sizeof from->ops[0]);
        from->op_count--;
        return;
    }
    int rest = history->txn_count - txn - 1;
    memmove(from, from + 1, (size_t)rest * sizeof *from);
    history->txn_count--;
}

/* Gives the events the positions 0, 1, 2, ... in their order. */
static void close_gaps(struct small_history *history)
{
    int next = 0;
    for (int at = 0; at < 4 * SMALL_TXNS; at++) {
        for (int t = 0; t < history->txn_count; t++) {
            if (history->txns[t].invoke_at == at)
                history->txns[t].invoke_at = next++;
            else if (history->txns[t].complete_at == at)
                history->txns[t].complete_at = next++;
        }
    }
}

/* Adopts `smaller` when it still has the property under test. */
static bool take(struct small_history *history, struct small_history *smaller,
                 bool (*keep)(const struct small_history *, void *), void *context)
{
    close_gaps(smaller);
    small_forget_nulls(smaller);
    if (!keep(smaller, context))
        return false;
    *history = *smaller;
    return true;
}

static bool shrink_read(struct small_history *history, int t, int i, bool (*keep)(const struct small_history *, void *),
                        void *context)
{
    for (int e = 0; e < history->txns[t].ops[i].count; e++) {
        struct small_history smaller = *history;
        struct small_op *op = &smaller.txns[t].ops[i];
        memmove(&op->list[e], &op->list[e + 1], (size_t)(op->count - e - 1) * sizeof op->list[0]);
        op->count--;
        if (take(history, &smaller, keep, context))
            return true;
    }
    return false;
}

/* Whole transactions first, then operations, then elements of reads. */
static bool shrink_once(struct small_history *history, bool (*keep)(const struct small_history *, void *),
                        void *context)
{
    for (int t = 0; t < history->txn_count; t++) {
        struct small_history smaller = *history;
        small_drop(&smaller, t, -1);
        if (take(history, &smaller, keep, context))
            return true;
    }
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count && history->txns[t].op_count > 1; i++) {
            struct small_history smaller = *history;
            small_drop(&smaller, t, i);
            if (take(history, &smaller, keep, context))
                return true;
        }
    }
    for (int t = 0; t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++) {
            if (!history->txns[t].ops[i].append && shrink_read(history, t, i, keep, context))
                return true;
        }
    }
    return false;
}

void small_shrink(struct small_history *history, bool (*keep)(const struct small_history *, void *), void *context)
{
    while (shrink_once(history, keep, context))
        continue;
}
