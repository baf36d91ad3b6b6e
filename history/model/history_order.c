#include "history/model/history_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "history/source/event_walk.h"

static enum rig_rc no_memory(const struct rig_history *history, struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the history (%u transaction%s)", (unsigned)history->txn_count,
                    rig_plural(history->txn_count));
}

/* ---- by position ---- */

struct sort_key {
    uint32_t complete_at, invoke_at, txn;
};

/* Completion order, then invocation order for transactions that never completed: RIG_POSITION_NONE is the largest
 * position. */
static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *left = a;
    const struct sort_key *right = b;
    if (left->complete_at != right->complete_at)
        return left->complete_at < right->complete_at ? -1 : 1;
    return left->invoke_at < right->invoke_at ? -1 : left->invoke_at > right->invoke_at;
}

static bool is_sorted(const struct rig_history *history)
{
    for (uint32_t i = 1; i < history->txn_count; i++) {
        const struct rig_txn *left = &history->txns[i - 1];
        const struct rig_txn *right = &history->txns[i];
        if (left->complete_at > right->complete_at ||
            (left->complete_at == right->complete_at && left->invoke_at > right->invoke_at))
            return false;
    }
    return true;
}

/* Moves transactions and their operations into the order of `keys`. */
static void gather(const struct rig_history *history, const struct sort_key *keys, struct rig_txn *txns,
                   struct rig_txn_op *ops)
{
    uint32_t next_op = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        uint32_t op_count = rig_txn_op_count(history, keys[i].txn);
        txns[i] = history->txns[keys[i].txn];
        txns[i].first_op = next_op;
        if (op_count > 0)
            memcpy(ops + next_op, rig_txn_ops(history, keys[i].txn), op_count * sizeof *ops);
        next_op += op_count;
    }
    RIG_INVARIANT(next_op == history->op_count);
    txns[history->txn_count] = (struct rig_txn){.first_op = next_op};
}

/* The same for their side columns. False when memory runs out. */
static bool gather_columns(const struct rig_history *history, const struct sort_key *keys)
{
    if (history->columns == NULL)
        return true;
    struct rig_columns *columns = &((struct rig_history_storage *)history->storage)->columns, sorted;
    bool fits = true;
    rig_columns_init(&sorted, 0);
    for (uint32_t i = 0; i < history->txn_count && fits; i++) {
        const struct rig_column_row row = rig_columns_row(columns, keys[i].txn);
        fits = rig_columns_set_row(&sorted, i, &row);
    }
    if (fits)
        rig_columns_swap_values(columns, &sorted);
    rig_columns_done(&sorted);
    return fits;
}

static bool sort(struct rig_history *history)
{
    if (is_sorted(history))
        return true;
    size_t count = history->txn_count;
    struct sort_key *keys = malloc(count * sizeof *keys);
    struct rig_txn *txns = malloc((count + 1) * sizeof *txns);
    struct rig_txn_op *ops = malloc((history->op_count + (size_t)1) * sizeof *ops);
    bool fits = keys != NULL && txns != NULL && ops != NULL;
    if (fits) {
        for (size_t i = 0; i < count; i++) {
            const struct rig_txn *txn = &history->txns[i];
            keys[i] = (struct sort_key){txn->complete_at, txn->invoke_at, (uint32_t)i};
        }
        qsort(keys, count, sizeof *keys, compare_keys);
        fits = gather_columns(history, keys);
    }
    if (fits) {
        gather(history, keys, txns, ops);
        free(history->txns);
        free(history->ops);
        history->txns = txns;
        history->ops = ops;
    } else {
        free(txns);
        free(ops);
    }
    free(keys);
    return fits;
}

/* The transactions are sorted: equal neighbours are ties, which a reader must not produce. */
static enum rig_rc check_positions(const struct rig_history *history, struct rig_err *err)
{
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_at != RIG_POSITION_NONE && txn->invoke_at >= txn->complete_at)
            return rig_fail(err, RIG_E_INPUT, "the transaction at position %u completes before it is invoked",
                            (unsigned)txn->complete_at);
        const struct rig_txn *last = i == 0 ? NULL : &history->txns[i - 1];
        if (last != NULL && last->complete_at == txn->complete_at &&
            (txn->complete_at != RIG_POSITION_NONE || last->invoke_at == txn->invoke_at))
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; give them different numbers",
                            (unsigned)rig_txn_name(history, i));
    }
    return RIG_OK;
}

enum rig_rc rig_history_order_by_position(struct rig_history *history, struct rig_err *err)
{
    return sort(history) ? check_positions(history, err) : no_memory(history, err);
}

/* ---- by time ---- */

struct ranking {
    uint32_t event_count;
    struct rig_event_time *events, *spare; /* by position, then by time */
    uint32_t *rank;                        /* per position */
};

static bool ranking_init(struct ranking *ranking, const struct rig_history *history)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        count += history->txns[i].invoke_at != RIG_POSITION_NONE;
        count += history->txns[i].complete_at != RIG_POSITION_NONE;
    }
    RIG_INVARIANT(count < RIG_POSITION_NONE); /* they have positions of their own */
    *ranking = (struct ranking){.event_count = (uint32_t)count};
    ranking->events = malloc((count + 1) * sizeof *ranking->events);
    ranking->spare = malloc((count + 1) * sizeof *ranking->spare);
    ranking->rank = malloc((count + 1) * sizeof *ranking->rank);
    return ranking->events != NULL && ranking->spare != NULL && ranking->rank != NULL;
}

static void ranking_done(struct ranking *ranking)
{
    free(ranking->events);
    free(ranking->spare);
    free(ranking->rank);
}

static void place_event(struct ranking *ranking, uint32_t position, int64_t time_ns, unsigned completes)
{
    if (position == RIG_POSITION_NONE)
        return;
    RIG_REQUIRE(position < ranking->event_count);
    ranking->events[position] = (struct rig_event_time){.time_ns = time_ns, .ordinal = position, .kind = completes & 1};
}

static void rank_events(struct ranking *ranking, struct rig_history *history)
{
    for (uint32_t i = 0; i < history->txn_count; i++) {
        place_event(ranking, history->txns[i].invoke_at, history->txns[i].invoke_ns, 0);
        place_event(ranking, history->txns[i].complete_at, history->txns[i].complete_ns, 1);
    }
    const struct rig_event_time *sorted = rig_event_sort(ranking->events, ranking->spare, ranking->event_count);
    for (uint32_t i = 0; i < ranking->event_count; i++)
        ranking->rank[sorted[i].ordinal] = i;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_at != RIG_POSITION_NONE)
            txn->invoke_at = ranking->rank[txn->invoke_at];
        if (txn->complete_at != RIG_POSITION_NONE)
            txn->complete_at = ranking->rank[txn->complete_at];
    }
}

enum rig_rc rig_history_order_by_time(struct rig_history *history, struct rig_err *err)
{
    struct ranking ranking;
    bool fits = ranking_init(&ranking, history);
    if (fits)
        rank_events(&ranking, history);
    ranking_done(&ranking);
    return fits ? rig_history_order_by_position(history, err) : no_memory(history, err);
}
