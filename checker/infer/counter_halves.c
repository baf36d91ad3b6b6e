#include "checker/infer/counter_halves.h"

#include "history/types/types.h"

/* A transfer takes the amount from one account and adds it to another. */
struct transfer {
    uint32_t from, to;
    int64_t amount;
};

/* Whether the increments of the transaction are those of one transfer. */
static bool is_transfer(const struct rig_history *history, uint32_t txn, struct transfer *transfer)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint32_t increments = 0;
    *transfer = (struct transfer){0};
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_INCREMENT)
            continue;
        increments++;
        *(ops[i].value < 0 ? &transfer->from : &transfer->to) = ops[i].key;
        transfer->amount = ops[i].value > 0 ? ops[i].value : transfer->amount;
    }
    return increments == 2 && transfer->amount > 0 && transfer->from != transfer->to;
}

/* The balance that the transaction read first of the account; false: it read none. */
static bool balance_of(const struct rig_history *history, uint32_t txn, uint32_t account, int64_t *balance)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key != account)
            continue;
        if (ops[i].kind == RIG_OP_INCREMENT || ops[i].read_state == RIG_READ_UNKNOWN)
            return false;
        *balance = ops[i].read_state == RIG_READ_SEEN ? ops[i].value : 0;
        return true;
    }
    return false;
}

/* Whether the transfer ended before the read, may have been under way, or left just the balances that the read shows.
 * UNDONE: it is no transfer, but the part of one that failed. */
enum { BEFORE = 1, MEANWHILE, UNDONE, SHOWN };

/* How well the transfer explains the read; 0: not at all. */
static unsigned rank_of(const struct rig_history *history, uint32_t reader, uint32_t txn, int64_t difference)
{
    const struct rig_txn *read = &history->txns[reader], *t = &history->txns[txn];
    struct transfer transfer;
    int64_t from, to, read_from, read_to;
    if (txn == reader || t->outcome == RIG_OUTCOME_FAIL || !is_transfer(history, txn, &transfer) ||
        (difference != transfer.amount && difference != -transfer.amount))
        return 0;
    if (history->has_invocations && t->invoke_at != RIG_POSITION_NONE && t->invoke_at > read->complete_at)
        return 0;
    if (balance_of(history, reader, transfer.from, &read_from) && balance_of(history, reader, transfer.to, &read_to) &&
        balance_of(history, txn, transfer.from, &from) && balance_of(history, txn, transfer.to, &to)) {
        const bool took = difference < 0;
        return read_from == from - (took ? transfer.amount : 0) && read_to == to + (took ? 0 : transfer.amount) ? SHOWN
                                                                                                                : 0;
    }
    const bool ended = t->outcome == RIG_OUTCOME_OK && history->has_invocations &&
                       read->invoke_at != RIG_POSITION_NONE && t->complete_at < read->invoke_at;
    return ended ? BEFORE : MEANWHILE;
}

/* The same for a transaction that failed, such as a part that was rolled back to a savepoint, if its increments make
 * just the difference. */
static unsigned rank_of_undone(const struct rig_history *history, uint32_t reader, uint32_t txn, int64_t difference)
{
    const struct rig_txn *t = &history->txns[txn];
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    int64_t net = 0;
    for (uint32_t i = 0; t->outcome == RIG_OUTCOME_FAIL && i < rig_txn_op_count(history, txn); i++)
        net += ops[i].kind == RIG_OP_INCREMENT ? ops[i].value : 0;
    if (net == 0 || net != difference)
        return 0;
    return history->has_invocations && t->invoke_at != RIG_POSITION_NONE &&
                   t->invoke_at > history->txns[reader].complete_at
               ? 0
               : UNDONE;
}

static uint32_t find_one(const struct rig_history *history, uint32_t reader, int64_t difference)
{
    uint32_t best = UINT32_MAX;
    unsigned rank = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const unsigned found = history->txns[txn].outcome == RIG_OUTCOME_FAIL
                                   ? rank_of_undone(history, reader, txn, difference)
                                   : rank_of(history, reader, txn, difference);
        if (found == 0 || found < rank)
            continue;
        rank = found;
        best = txn; /* the last one: transactions are in the order of their completion */
    }
    return best;
}

/* ---- several transfers ---- */

/* One side of a transfer that was under way: its part of the difference. */
struct half {
    uint32_t txn;
    int64_t part;
    unsigned rank;
};

enum { MOST_CANDIDATES = 80 }; /* the last ones; a transfer has two sides */

static uint32_t find_candidates(const struct rig_history *history, uint32_t reader, struct half *halves)
{
    uint32_t count = 0;
    struct transfer transfer;
    for (uint32_t txn = history->txn_count; txn-- > 0 && count + 2 <= MOST_CANDIDATES;) {
        if (!is_transfer(history, txn, &transfer))
            continue;
        for (int side = 0; side < 2; side++) {
            const int64_t part = side == 0 ? -transfer.amount : transfer.amount;
            const unsigned rank = rank_of(history, reader, txn, part);
            if (rank >= MEANWHILE)
                halves[count++] = (struct half){txn, part, rank};
        }
    }
    return count;
}

struct choice {
    const struct half *halves;
    uint32_t count;
    struct rig_halves best;
    unsigned best_rank;
};

/* Chooses `wanted` more transfers from place `from` on, whose parts add up to the difference. Keeps the best choice. */
static void choose(struct choice *c, struct rig_halves taken, uint32_t wanted, uint32_t from, int64_t difference,
                   unsigned rank)
{
    if (wanted == 0 && difference == 0 && rank > c->best_rank) {
        c->best_rank = rank;
        c->best = taken;
    }
    for (uint32_t i = from; wanted > 0 && taken.count < RIG_HALVES_MOST && i < c->count; i++) {
        uint32_t next = i + 1;
        struct rig_halves more = taken;
        more.txns[more.count++] = c->halves[i].txn;
        while (next < c->count && c->halves[next].txn == c->halves[i].txn)
            next++;
        choose(c, more, wanted - 1, next, difference - c->halves[i].part, rank + c->halves[i].rank);
    }
}

void rig_counter_halves_seen(const struct rig_history *history, uint32_t reader, int64_t difference,
                             struct rig_halves *halves)
{
    struct half candidates[MOST_CANDIDATES];
    const uint32_t one = find_one(history, reader, difference);
    *halves = (struct rig_halves){.count = one != UINT32_MAX};
    halves->txns[0] = one;
    if (one != UINT32_MAX)
        return;
    struct choice c = {.halves = candidates, .count = find_candidates(history, reader, candidates)};
    for (uint32_t wanted = 2; wanted <= RIG_HALVES_MOST && c.best_rank == 0; wanted++)
        choose(&c, (struct rig_halves){.count = 0}, wanted, 0, difference, 0);
    *halves = c.best;
}
