/* The end of a window: rig_window_give(). */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/event_order.h"
#include "history/history_storage.h"
#include "history/source.h"
#include "history/window_private.h"

/* ---- events that are not in the order of their times ---- */

struct ordering {
    struct rig_history *history;
    uint32_t event_count;
    struct rig_event_time *events, *spare; /* by position, then by time */
    uint32_t *rank;                        /* per position */
    uint32_t *txn_at;                      /* per rank: the transaction that completes there, or none */
};

static const uint32_t no_txn = UINT32_MAX;

static uint32_t count_events(const struct rig_history *history)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        count += history->txns[i].invoke_at != RIG_POSITION_NONE;
        count += history->txns[i].complete_at != RIG_POSITION_NONE;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static bool ordering_init(struct ordering *ordering, struct rig_history *history)
{
    *ordering = (struct ordering){.history = history, .event_count = count_events(history)};
    size_t room = ordering->event_count + (size_t)1;
    ordering->events = malloc(room * sizeof *ordering->events);
    ordering->spare = malloc(room * sizeof *ordering->spare);
    ordering->rank = malloc(room * sizeof *ordering->rank);
    ordering->txn_at = malloc(room * sizeof *ordering->txn_at);
    return ordering->events != NULL && ordering->spare != NULL && ordering->rank != NULL && ordering->txn_at != NULL;
}

static void ordering_done(struct ordering *ordering)
{
    free(ordering->events);
    free(ordering->spare);
    free(ordering->rank);
    free(ordering->txn_at);
}

static void place_event(struct ordering *ordering, uint32_t position, int64_t time_ns, unsigned completes)
{
    if (position == RIG_POSITION_NONE)
        return;
    RIG_REQUIRE(position < ordering->event_count);
    ordering->events[position] =
        (struct rig_event_time){.time_ns = time_ns, .ordinal = position, .kind = completes & 1};
}

static void rank_events(struct ordering *ordering)
{
    const struct rig_history *history = ordering->history;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        place_event(ordering, history->txns[i].invoke_at, history->txns[i].invoke_ns, 0);
        place_event(ordering, history->txns[i].complete_at, history->txns[i].complete_ns, 1);
    }
    const struct rig_event_time *sorted = rig_event_sort(ordering->events, ordering->spare, ordering->event_count);
    for (uint32_t i = 0; i < ordering->event_count; i++)
        ordering->rank[sorted[i].ordinal] = i;
}

static void renumber(struct ordering *ordering)
{
    struct rig_history *history = ordering->history;
    memset(ordering->txn_at, 0xff, ordering->event_count * sizeof *ordering->txn_at);
    for (uint32_t i = 0; i < history->txn_count; i++) {
        struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_at != RIG_POSITION_NONE)
            txn->invoke_at = ordering->rank[txn->invoke_at];
        if (txn->complete_at == RIG_POSITION_NONE) {
            ordering->txn_at[txn->invoke_at] = i;
        } else {
            txn->complete_at = ordering->rank[txn->complete_at];
            ordering->txn_at[txn->complete_at] = i;
        }
    }
}

struct gathered {
    struct rig_txn *txns;
    struct rig_mop *ops;
    uint32_t txn_count, op_count;
};

/* Those that completed, or those that did not, in the order of the ranks. */
static void gather(const struct ordering *ordering, bool completed, struct gathered *to)
{
    const struct rig_history *history = ordering->history;
    for (uint32_t rank = 0; rank < ordering->event_count; rank++) {
        uint32_t txn = ordering->txn_at[rank];
        if (txn == no_txn || (history->txns[txn].complete_at != RIG_POSITION_NONE) != completed)
            continue;
        uint32_t op_count = rig_txn_op_count(history, txn);
        to->txns[to->txn_count] = history->txns[txn];
        to->txns[to->txn_count++].first_op = to->op_count;
        if (op_count > 0)
            memcpy(to->ops + to->op_count, rig_txn_ops(history, txn), op_count * sizeof *to->ops);
        to->op_count += op_count;
    }
}

static bool gather_all(const struct ordering *ordering)
{
    struct rig_history *history = ordering->history;
    struct gathered to = {
        .txns = malloc((history->txn_count + (size_t)1) * sizeof *to.txns),
        .ops = malloc((history->op_count + (size_t)1) * sizeof *to.ops),
    };
    if (to.txns == NULL || to.ops == NULL) {
        free(to.txns);
        free(to.ops);
        return false;
    }
    gather(ordering, true, &to);
    gather(ordering, false, &to);
    RIG_INVARIANT(to.txn_count == history->txn_count && to.op_count == history->op_count);
    to.txns[to.txn_count] = (struct rig_txn){.first_op = to.op_count};
    free(history->txns);
    free(history->ops);
    history->txns = to.txns;
    history->ops = to.ops;
    return true;
}

static enum rig_rc check_order(const struct rig_history *history, struct rig_err *err)
{
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        if (txn->invoke_at != RIG_POSITION_NONE && txn->invoke_at >= txn->complete_at)
            return rig_fail(err, RIG_E_INPUT, "the transaction at position %u completes before it is invoked",
                            (unsigned)txn->complete_at);
    }
    return RIG_OK;
}

/* Positions become ranks by (time, invocations before completions, position), and the transactions follow. */
static enum rig_rc order_by_time(struct rig_history *history, struct rig_err *err)
{
    struct ordering ordering;
    bool fits = ordering_init(&ordering, history);
    if (fits) {
        rank_events(&ordering);
        renumber(&ordering);
        fits = gather_all(&ordering);
    }
    ordering_done(&ordering);
    if (!fits)
        return rig_fail(err, RIG_E_LIMIT, "the history does not fit into memory (%u transactions)",
                        (unsigned)history->txn_count);
    return check_order(history, err);
}

/* ---- giving ---- */

/* Cuts an array to what is used of it. */
static void *cut(void *at, size_t bytes)
{
    void *smaller = realloc(at, bytes == 0 ? 1 : bytes);
    return smaller != NULL ? smaller : at;
}

/* The arrays of the view are the history's from now on. */
static void move_arrays(struct rig_window *window, struct rig_history *history)
{
    struct rig_history_storage *storage = history->storage;
    history->txns = cut(history->txns, (history->txn_count + (size_t)1) * sizeof *history->txns);
    history->ops = cut(history->ops, history->op_count * sizeof *history->ops);
    window->txns = (struct rig_txn_vec){0};
    window->ops = (struct rig_mop_vec){0};
    window->spine_views = (struct rig_window_views){0};
    window->list_views = (struct rig_window_views){0};
    window->names = (struct rig_window_int64s){0};
    storage->pool = window->pool;
    storage->key_texts = window->key_texts;
    storage->errors = window->errors;
    rig_list_pool_init(&window->pool, 0);
    rig_text_table_init(&window->key_texts, 0);
    rig_text_table_init(&window->errors, 0);
}

static bool take_facts(struct rig_history *history, const struct rig_source_facts *facts)
{
    history->truncated = facts->truncated;
    history->skipped_count = facts->skipped_count;
    history->keyword_keys |= facts->keyword_keys && history->key_texts != NULL;
    if (facts->meta == NULL)
        return true;
    size_t size = strlen(facts->meta) + 1;
    history->meta = malloc(size);
    if (history->meta != NULL)
        memcpy(history->meta, facts->meta, size);
    return history->meta != NULL;
}

static enum rig_rc give(struct rig_window *window, const struct rig_source_facts *facts, struct rig_history *history,
                        struct rig_err *err)
{
    const struct rig_history *view = rig_window_history(window, true);
    struct rig_history_storage *storage = calloc(1, sizeof *storage);
    if (view == NULL || storage == NULL) {
        free(storage);
        return window->failed ? rig_fail(err, RIG_E_LIMIT, "the history could not be built")
                              : rig_window_no_room(window, err);
    }
    *history = *view;
    history->storage = storage;
    move_arrays(window, history);
    if (!take_facts(history, facts))
        return rig_window_no_room(window, err);
    return window->unordered ? order_by_time(history, err) : RIG_OK;
}

enum rig_rc rig_window_give(struct rig_window *window, const struct rig_source_facts *facts,
                            struct rig_history **history, struct rig_err *err)
{
    struct rig_history *out = calloc(1, sizeof *out);
    enum rig_rc rc = out == NULL ? rig_window_no_room(window, err) : give(window, facts, out, err);
    if (rc == RIG_OK)
        *history = out;
    else
        rig_history_free(out);
    rig_window_free(window);
    return rc;
}
