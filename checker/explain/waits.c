#include "checker/explain/waits.h"

#include "base/clock.h"

static const int64_t least_ns = RIG_NS_PER_MS;
enum { TIMES_THE_SHORTEST = 4 };

/* Whether each operation has a start and an end, and the sum with the invocation can be computed. */
static bool has_times(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn *t = &history->txns[txn];
    const struct rig_spans times = rig_history_times(history, txn);
    int64_t sum;
    if (times.count == 0 || times.count != rig_txn_op_count(history, txn) || t->invoke_ns == RIG_NO_TIME)
        return false;
    for (uint32_t i = 0; i < 2 * times.count; i++) {
        if (times.at[i] < 0 || __builtin_add_overflow(t->invoke_ns, times.at[i], &sum) ||
            (i % 2 == 1 && times.at[i] < times.at[i - 1]))
            return false;
    }
    return true;
}

bool rig_timed_init(struct rig_timed *timed, const struct rig_history *history, const uint32_t *txns,
                    uint32_t txn_count)
{
    *timed = (struct rig_timed){.history = history, .txns = txns, .txn_count = txn_count, .shortest_ns = INT64_MAX};
    if (history->columns == NULL || history->in_turn || txn_count == 0)
        return false;
    for (uint32_t i = 0; i < txn_count; i++) {
        if (!has_times(history, txns[i]))
            return false;
        const struct rig_spans times = rig_history_times(history, txns[i]);
        for (uint32_t op = 0; op < times.count; op++) {
            const int64_t took_ns = times.at[2 * op + 1] - times.at[2 * op];
            timed->shortest_ns = took_ns < timed->shortest_ns ? took_ns : timed->shortest_ns;
        }
    }
    return true;
}

int64_t rig_timed_start_ns(const struct rig_timed *timed, uint32_t txn, uint32_t op)
{
    return timed->history->txns[txn].invoke_ns + rig_history_times(timed->history, txn).at[2 * op];
}

static int64_t end_ns(const struct rig_timed *timed, uint32_t txn, uint32_t op)
{
    return timed->history->txns[txn].invoke_ns + rig_history_times(timed->history, txn).at[2 * op + 1];
}

int64_t rig_timed_ending_ns(const struct rig_timed *timed, uint32_t txn)
{
    return end_ns(timed, txn, rig_txn_op_count(timed->history, txn) - 1);
}

/* Whether an operation of `other` on the key of operation `op` began before it, and one of the two writes. */
static bool was_before(const struct rig_timed *timed, uint32_t txn, uint32_t op, uint32_t other)
{
    const struct rig_history *history = timed->history;
    const struct rig_txn_op *later = &rig_txn_ops(history, txn)[op], *ops = rig_txn_ops(history, other);
    for (uint32_t i = 0; i < rig_txn_op_count(history, other); i++) {
        if (ops[i].key == later->key && (!rig_op_reads(ops[i].kind) || !rig_op_reads(later->kind)) &&
            rig_timed_start_ns(timed, other, i) < rig_timed_start_ns(timed, txn, op))
            return true;
    }
    return false;
}

/* Whether `other` ended while the operation was under way. Its client knows only when it sent COMMIT and when it got
 * the answer. */
static bool ended_meanwhile(const struct rig_timed *timed, uint32_t txn, uint32_t op, uint32_t other)
{
    const int64_t complete_ns = timed->history->txns[other].complete_ns;
    return complete_ns != RIG_NO_TIME && rig_timed_start_ns(timed, txn, op) < complete_ns &&
           rig_timed_ending_ns(timed, other) <= end_ns(timed, txn, op);
}

struct rig_wait rig_timed_wait(const struct rig_timed *timed, uint32_t txn, uint32_t op)
{
    const int64_t took_ns = end_ns(timed, txn, op) - rig_timed_start_ns(timed, txn, op);
    struct rig_wait wait = {.ns = took_ns, .from = UINT32_MAX};
    uint32_t found = 0;
    if (took_ns < least_ns)
        return (struct rig_wait){.from = UINT32_MAX};
    for (uint32_t i = 0; i < timed->txn_count; i++) {
        const uint32_t other = timed->txns[i];
        if (other != txn && was_before(timed, txn, op, other) && ended_meanwhile(timed, txn, op, other)) {
            wait.from = other;
            found++;
        }
    }
    if (found != 1)
        wait.from = UINT32_MAX;
    if (found == 0 && took_ns / TIMES_THE_SHORTEST < timed->shortest_ns)
        wait.ns = 0;
    return wait;
}
