#include "tests/oracle/oracle.h"

#include <string.h>

#include "base/bug.h"

struct lists {
    int count[SMALL_KEYS];
    int at[SMALL_KEYS][SMALL_TXNS * SMALL_OPS];
};

/* One attempt: the transactions in `included` are to be put into an order, of which `order` holds the first
 * `placed`. */
struct attempt {
    const struct small_history *history;
    enum oracle_base base;
    uint64_t included;
    uint64_t before[SMALL_TXNS];
    int order[SMALL_TXNS];
    int placed;
};

uint64_t oracle_outcome_mask(const struct small_history *history, enum small_outcome outcome)
{
    uint64_t mask = 0;
    for (int t = 0; t < history->txn_count; t++) {
        if (history->txns[t].outcome == outcome)
            mask |= UINT64_C(1) << t;
    }
    return mask;
}

void oracle_order_before(const struct small_history *history, enum oracle_order order, uint64_t before[SMALL_TXNS])
{
    memset(before, 0, SMALL_TXNS * sizeof before[0]);
    for (int a = 0; a < history->txn_count && order != ORACLE_PLAIN; a++) {
        const struct small_txn *first = &history->txns[a];
        if (first->outcome != SMALL_OK || first->complete_at == SMALL_NEVER)
            continue;
        for (int b = 0; b < history->txn_count; b++) {
            const struct small_txn *second = &history->txns[b];
            bool invoked = second->invoke_at != SMALL_NEVER;
            bool same = (order == ORACLE_REALTIME && invoked) || first->process == second->process;
            if (same && first->complete_at < (invoked ? second->invoke_at : second->complete_at))
                before[a] |= UINT64_C(1) << b;
        }
    }
}

/* Executes a transaction on the lists; false when a known read would have returned another list. */
static bool execute(const struct small_txn *txn, struct lists *lists)
{
    for (int i = 0; i < txn->op_count; i++) {
        const struct small_op *op = &txn->ops[i];
        if (op->append) {
            lists->at[op->key][lists->count[op->key]++] = op->value;
            continue;
        }
        if (!op->known)
            continue;
        size_t size = (size_t)op->count * sizeof op->list[0];
        if (op->count != lists->count[op->key] || memcmp(op->list, lists->at[op->key], size) != 0)
            return false;
    }
    return true;
}

/* The lists after the appends of the first `count` transactions of the order. */
static void state_after(const struct attempt *attempt, int count, struct lists *lists)
{
    memset(lists->count, 0, sizeof lists->count);
    for (int p = 0; p < count; p++) {
        const struct small_txn *txn = &attempt->history->txns[attempt->order[p]];
        for (int i = 0; i < txn->op_count; i++) {
            const struct small_op *op = &txn->ops[i];
            if (op->append)
                lists->at[op->key][lists->count[op->key]++] = op->value;
        }
    }
}

static bool write_same_key(const struct small_txn *a, const struct small_txn *b)
{
    for (int i = 0; i < a->op_count; i++) {
        if (a->ops[i].append && small_appends_before(b, a->ops[i].key, b->op_count) > 0)
            return true;
    }
    return false;
}

/* Whether transaction `t`, committing next, may have had the first `snapshot` transactions as its snapshot. */
static bool fits_snapshot(const struct attempt *attempt, int t, int snapshot)
{
    const struct small_txn *txn = &attempt->history->txns[t];
    for (int p = snapshot; p < attempt->placed; p++) {
        int other = attempt->order[p];
        if ((attempt->before[other] >> t & 1) != 0 || write_same_key(txn, &attempt->history->txns[other]))
            return false;
    }
    struct lists lists;
    state_after(attempt, snapshot, &lists);
    return execute(txn, &lists);
}

static bool fits_next(const struct attempt *attempt, int t)
{
    /* nothing still to be placed may have to precede t */
    uint64_t placed = 0;
    for (int p = 0; p < attempt->placed; p++)
        placed |= UINT64_C(1) << attempt->order[p];
    for (int other = 0; other < attempt->history->txn_count; other++) {
        bool to_come = (attempt->included >> other & 1) != 0 && (placed >> other & 1) == 0;
        if (to_come && (attempt->before[other] >> t & 1) != 0)
            return false;
    }
    if (attempt->base == ORACLE_SERIALIZABLE) {
        struct lists lists;
        state_after(attempt, attempt->placed, &lists);
        return execute(&attempt->history->txns[t], &lists);
    }
    for (int snapshot = attempt->placed; snapshot >= 0; snapshot--) {
        if (fits_snapshot(attempt, t, snapshot))
            return true;
    }
    return false;
}

static bool complete_order(struct attempt *attempt, uint64_t rest)
{
    if (rest == 0)
        return true;
    for (int t = 0; t < attempt->history->txn_count; t++) {
        if ((rest >> t & 1) == 0 || !fits_next(attempt, t))
            continue;
        attempt->order[attempt->placed++] = t;
        bool found = complete_order(attempt, rest & ~(UINT64_C(1) << t));
        attempt->placed--;
        if (found)
            return true;
    }
    return false;
}

bool oracle_executes(const struct small_history *history, struct oracle_level level)
{
    RIG_REQUIRE(level.base == ORACLE_SNAPSHOT_ISOLATION || level.base == ORACLE_SERIALIZABLE);
    struct attempt attempt = {.history = history, .base = level.base};
    oracle_order_before(history, level.order, attempt.before);
    uint64_t certain = oracle_outcome_mask(history, SMALL_OK);
    uint64_t infos = oracle_outcome_mask(history, SMALL_INFO);
    for (uint64_t chosen = infos;; chosen = (chosen - 1) & infos) {
        attempt.included = certain | chosen;
        if (complete_order(&attempt, attempt.included))
            return true;
        if (chosen == 0)
            return false;
    }
}
