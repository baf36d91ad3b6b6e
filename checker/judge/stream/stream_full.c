/* When a window is judged: rig_stream_is_full(). */
#include "checker/judge/stream/stream_full.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "checker/judge/stream/stream_private.h"
#include "history/text/text_table.h"

/* The note of a key: the number of transactions complete at the end of the segment that used it last; or: */
enum { UNUSED = 0, PAGE_BITS = 3, PAGE_KEYS = 1 << PAGE_BITS };
static const uint32_t never_done = UINT32_MAX - 1; /* below RIG_TABLE_NONE */

/* Keys that are consecutive numbers share a place in the table. */
struct census_page {
    uint32_t last[PAGE_KEYS];
};

RIG_VEC(struct census_page, census_pages)

struct rig_census {
    uint64_t txn_count; /* complete ones so far */
    struct rig_table page_ids;
    struct census_pages pages;
    struct rig_table texts; /* hash of a text -> last use */
};

struct rig_census *rig_census_new(void)
{
    struct rig_census *census = calloc(1, sizeof *census);
    if (census == NULL)
        return NULL;
    rig_table_init(&census->page_ids);
    rig_table_init(&census->texts);
    return census;
}

void rig_census_free(struct rig_census *census)
{
    if (census == NULL)
        return;
    rig_table_done(&census->page_ids);
    rig_table_done(&census->texts);
    census_pages_done(&census->pages);
    free(census);
}

size_t rig_census_bytes(const struct rig_census *census)
{
    return (census->page_ids.slot_count + census->texts.slot_count) * (sizeof(uint64_t) + sizeof(uint32_t)) +
           census->pages.capacity * sizeof(struct census_page);
}

static uint32_t *place_of_number(struct rig_census *census, int64_t key)
{
    uint32_t *id = rig_table_put(&census->page_ids, (uint64_t)key >> PAGE_BITS);
    if (id == NULL)
        return NULL;
    if (*id == RIG_TABLE_NONE) {
        if (census->pages.count >= RIG_TABLE_NONE || !census_pages_add(&census->pages, (struct census_page){{UNUSED}}))
            return NULL;
        *id = (uint32_t)(census->pages.count - 1);
    }
    return &census->pages.at[*id].last[(uint64_t)key & (PAGE_KEYS - 1)];
}

static bool note(struct rig_census *census, const struct rig_segment_key *key, uint32_t last)
{
    uint32_t *place = key->text == NULL ? place_of_number(census, key->key)
                                        : rig_table_put(&census->texts, rig_text_hash(key->text, key->text_length));
    if (place == NULL)
        return false;
    *place = last;
    return true;
}

bool rig_census_put(struct rig_census *census, int64_t key, uint32_t last)
{
    uint32_t *place = place_of_number(census, key);
    if (place != NULL)
        *place = last < never_done ? last : never_done;
    return place != NULL;
}

/* Open transactions stand last: every segment repeats them until they complete. */
bool rig_census_note(struct rig_census *census, const struct rig_segment *segment)
{
    bool fits = true;
    census->txn_count += segment->txns.count;
    uint32_t now = census->txn_count < never_done ? (uint32_t)census->txn_count : never_done;
    for (size_t i = 0; fits && i < segment->keys.count; i++)
        fits = note(census, &segment->keys.at[i], now);
    for (size_t i = 0; fits && i < segment->open_ops.count; i++) {
        RIG_REQUIRE(segment->open_ops.at[i].key < segment->keys.count);
        fits = note(census, &segment->keys.at[segment->open_ops.at[i].key], never_done);
    }
    return fits;
}

bool rig_census_is_used_after(const struct rig_census *census, const struct rig_history *history, uint32_t key,
                              uint64_t txn_count)
{
    uint32_t last = RIG_TABLE_NONE;
    int64_t name = history->keys[key];
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        last = rig_table_get(&census->texts, rig_text_hash(text, strlen(text)));
    } else {
        uint32_t id = rig_table_get(&census->page_ids, (uint64_t)name >> PAGE_BITS);
        if (id != RIG_TABLE_NONE)
            last = census->pages.at[id].last[(uint64_t)name & (PAGE_KEYS - 1)];
    }
    return last == RIG_TABLE_NONE || last == UNUSED || last > txn_count;
}

enum {
    IDLE_GAPS = 32,  /* usual gaps without a use: were uses independent, one in e^32 would come later */
    IDLE_SHARE = 8,  /* the least idle time, as a share of the one in the options */
    LOOK_SHARE = 8,  /* of the window: new transactions until the next estimate of a judgement's effect */
    WORTH_SHARE = 3, /* of its operations: a judgement has to release that many to be worth its time */
    MOST_SHARE = 2,  /* of the history so far: a window that holds this much is judged as soon as it is worth it */
};

size_t rig_stream_other_bytes(const struct rig_stream *w)
{
    return rig_retired_bytes(w->retired) + w->storage->arena.held_bytes +
           (w->options.census == NULL ? 0 : rig_census_bytes(w->options.census)) +
           (w->elements == NULL ? 0 : sizeof *w->elements) +
           (w->objects == NULL ? 0 : rig_object_past_bytes(w->objects));
}

/* ---- keys that are in use ---- */

/* The number of transactions after which the key counts as finished: many times its usual gap, if that is less. */
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

/* ---- what a judgement would release ---- */

struct outlook {
    const struct rig_history *view;
    uint8_t *in_use;    /* per key */
    uint64_t ops;       /* operations on the window's keys */
    uint64_t droppable; /* operations on keys that could be dropped */
};

static bool uses_key_in_use(const struct outlook *o, uint32_t txn)
{
    const struct rig_txn_op *op = rig_txn_ops(o->view, txn), *end = op + rig_txn_op_count(o->view, txn);
    while (op < end && !o->in_use[op->key])
        op++;
    return op < end;
}

/* The first transaction that certainly waits, because it committed and a key that it used is in use. */
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
 * Estimates, for a history without cycles, the operations that a judgement would release. By real time nearly all
 * transactions after the first waiting one wait, too, and hold the keys that they used. The estimate needs all
 * transactions after that one, so it is 0 when some were dropped.
 */
static void estimate_release(const struct rig_stream *w, struct outlook *o)
{
    const uint32_t first = first_waiting(o);
    const uint64_t behind = o->view->txn_count - first;
    const uint64_t reached = rig_window_used_now(w->window) - behind;
    for (uint32_t key = 0; key < o->view->key_count; key++) {
        uint64_t count = rig_window_key_use_count(w->window, key);
        bool drops = !o->in_use[key] && rig_window_key_used_at(w->window, key) <= reached;
        o->ops += count;
        o->droppable += drops && first >= w->old_count ? count : 0;
    }
}

/* False when no estimate is possible. */
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
    estimate_release(w, o);
    return true;
}

/* ---- when ---- */

/*
 * There are enough new transactions, and judging them would release enough. When the window is most of the history,
 * fewer new ones suffice: so memory is in proportion to a short history, and time is in proportion to a long one.
 */
static bool is_due(struct rig_stream *w)
{
    if (w->objects != NULL)
        return w->new_count >= w->options.least_new && w->new_count >= w->held_count;
    const bool enough = w->new_count >= w->held_count * w->options.growth;
    const bool early =
        !w->unclean && !w->released_nothing && rig_window_txn_count(w->window) >= w->fed_count / MOST_SHARE;
    if (w->new_count < w->options.least_new || w->new_count < w->next_look || !(enough || early))
        return false;
    struct outlook outlook;
    w->next_look = w->new_count + rig_window_txn_count(w->window) / LOOK_SHARE;
    if (!look_ahead(w, &outlook))
        return enough;
    return outlook.droppable * WORTH_SHARE >= outlook.ops;
}

static bool is_undivided(const struct rig_stream *w)
{
    const struct rig_stretches *stretches = w->options.undivided;
    for (uint32_t i = 0; stretches != NULL && i < stretches->count; i++) {
        if (stretches->at[i].from <= w->fed_until && w->fed_until < stretches->at[i].to)
            return true;
    }
    return false;
}

bool rig_stream_is_full(struct rig_stream *w, const struct rig_segment *segment)
{
    if (w->options.keep_all || w->warms)
        return false;
    /* Another segment like the last one would not fit. */
    if (w->new_count > w->held_count / 8 &&
        rig_budget_is_spent(&w->budget, rig_window_bytes_with(w->window, segment),
                            rig_window_filled_bytes(w->window) + rig_segment_used_bytes(segment),
                            rig_stream_other_bytes(w)))
        return true;
    return !is_undivided(w) && (w->options.each_segment || is_due(w));
}
