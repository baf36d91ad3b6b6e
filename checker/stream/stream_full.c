/* When a window is judged: rig_stream_is_full(). */
#include "checker/stream/stream_private.h"

enum {
    IDLE_GAPS = 32,  /* usual gaps without a use: were uses independent of each other, one in e^32 would be so late */
    IDLE_SHARE = 8,  /* of the idle time that options give, the least part */
    LOOK_SHARE = 8,  /* of the window: what has to come before it is asked again what judging would let go of */
    WORTH_SHARE = 3, /* of its operations: judging has to let go of so many to be worth the work */
    MOST_SHARE = 2,  /* of the history so far: where the window holds so much, it is judged as soon as that is so */
};

size_t rig_stream_other_bytes(const struct rig_stream *w)
{
    return rig_retired_bytes(w->retired) + w->storage->arena.held_bytes +
           (w->options.census == NULL ? 0 : rig_census_bytes(w->options.census));
}

/* ---- keys that are in use ---- */

/* After how many transactions the key is taken to be done with: many times its usual gap, if that is less. */
static uint64_t idle_of(const struct rig_stream *w, uint32_t key)
{
    uint64_t most = w->options.idle, least = most / IDLE_SHARE + 1, gap = rig_window_key_gap(w->window, key);
    if (gap > most / IDLE_GAPS)
        return most;
    return gap * IDLE_GAPS > least ? gap * IDLE_GAPS : least;
}

static uint64_t unused_for(const struct rig_stream *w, uint32_t key)
{
    return rig_window_used_now(w->window) - rig_window_key_used_at(w->window, key);
}

bool rig_stream_key_is_in_use(const struct rig_stream *w, const struct rig_history *view, uint32_t key)
{
    if (rig_window_key_is_open(w->window, key))
        return true;
    if (w->options.census != NULL)
        return rig_census_is_used_after(w->options.census, view, key, w->fed_count);
    uint64_t most = idle_of(w, key), least = most < w->budget.least_idle ? most : w->budget.least_idle;
    return unused_for(w, key) < least;
}

bool rig_stream_key_is_idle(const struct rig_stream *w, uint32_t key)
{
    return unused_for(w, key) >= idle_of(w, key);
}

/* ---- what judging would let go of ---- */

struct outlook {
    const struct rig_history *view;
    uint8_t *in_use; /* per key */
    uint64_t ops;    /* of the window's keys, and */
    uint64_t going;  /*   of those that could be dropped */
};

static bool uses_key_in_use(const struct outlook *o, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(o->view, txn), *end = op + rig_txn_op_count(o->view, txn);
    while (op < end && !o->in_use[op->key])
        op++;
    return op < end;
}

/* The first transaction that waits for sure, because it committed and a key that it used is in use. */
static uint32_t first_waiting(const struct outlook *o)
{
    const struct rig_history *view = o->view;
    uint32_t txn = rig_history_txn_of(view, rig_history_first_op_on(view, o->in_use));
    while (txn < view->txn_count && (view->txns[txn].outcome != RIG_OUTCOME_OK ||
                                     rig_txn_is_settled(&view->txns[txn]) || !uses_key_in_use(o, txn)))
        txn++;
    return txn;
}

/*
 * Of a history without cycles. By real time nearly all behind the first transaction that waits do, too, and keys that
 * they used are held. How much that is can be told only where nothing has been dropped from behind that transaction.
 */
static void foretell(const struct rig_stream *w, struct outlook *o)
{
    const uint32_t first = first_waiting(o);
    const uint64_t behind = o->view->txn_count - first;
    const uint64_t reached = rig_window_used_now(w->window) - behind;
    for (uint32_t key = 0; key < o->view->key_count; key++) {
        uint64_t count = rig_window_key_use_count(w->window, key);
        bool goes = !o->in_use[key] && rig_window_key_used_at(w->window, key) <= reached;
        o->ops += count;
        o->going += goes && first >= w->old_count ? count : 0;
    }
}

/* False where nothing can be said. */
static bool look_ahead(struct rig_stream *w, struct outlook *o)
{
    *o = (struct outlook){.view = rig_window_history(w->window, false)};
    if (o->view == NULL || !o->view->has_invocations || o->view->summary == NULL)
        return false;
    o->in_use = rig_arena_room(&w->judge.scratch, (size_t)o->view->key_count + 1, 1);
    if (o->in_use == NULL)
        return false;
    for (uint32_t key = 0; key < o->view->key_count; key++)
        o->in_use[key] = rig_stream_key_is_in_use(w, o->view, key);
    foretell(w, o);
    return true;
}

/* ---- when ---- */

/*
 * There is enough that is new, and judging it would let go of much. Where the window is most of the history, less that
 * is new is enough: so memory is in proportion to the history while that is short, and time is when it is long.
 */
static bool is_due(struct rig_stream *w)
{
    const bool enough = w->new_count >= w->held_count * w->options.growth;
    const bool early = !w->unclean && !w->in_vain && rig_window_txn_count(w->window) >= w->fed_count / MOST_SHARE;
    if (w->new_count < w->options.least_new || w->new_count < w->next_look || !(enough || early))
        return false;
    struct outlook outlook;
    w->next_look = w->new_count + rig_window_txn_count(w->window) / LOOK_SHARE;
    if (!look_ahead(w, &outlook))
        return enough;
    return outlook.going * WORTH_SHARE >= outlook.ops;
}

bool rig_stream_is_full(struct rig_stream *w, const struct rig_segment *segment)
{
    if (w->options.keep_all)
        return false;
    /* Another segment like the last one would be too much. */
    if (w->new_count > w->held_count / 8 &&
        rig_budget_is_spent(&w->budget, rig_window_bytes_with(w->window, segment),
                            rig_window_filled_bytes(w->window) + rig_segment_used_bytes(segment),
                            rig_stream_other_bytes(w)))
        return true;
    return is_due(w);
}
