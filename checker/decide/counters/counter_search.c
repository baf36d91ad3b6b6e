#include "checker/decide/counters/counter_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "checker/model/deadline.h"

enum {
    MOST_DEAD = 1 << 22,
    EVENTS_A_STEP = 16, /* of those in progress, that count as a step */
};

RIG_VEC(uint32_t, key_list)

struct key_state {
    int64_t sum;       /* of the increments done */
    int64_t begin;     /* its balance at the beginning, where `known` */
    uint32_t owner;    /* one more than the transaction that holds the lock; 0: none does */
    uint32_t fixed_by; /* one more than the event that fixed the balance; 0: none did */
    bool known;
    bool rises, falls; /* some event adds to it, or takes from it */
};

/* One step: the moves that were tried at it. */
struct frame {
    uint32_t done_at;               /* events done before it */
    uint32_t next;                  /* moves tried */
    uint32_t move;                  /* the last of them */
    uint32_t first_open, first_end; /* see struct search */
    struct key_list why;            /* keys that the failures so far rest on */
};

/* A set of events that led nowhere. */
struct dead {
    uint64_t check;
    uint32_t first_key, key_count; /* why: into dead_keys */
};

RIG_VEC(struct frame, frames)
RIG_VEC(struct dead, dead_list)

struct search {
    const struct rig_sum_events *events;
    const struct rig_sum_event *list;
    const struct rig_sum_term *terms;
    const struct rig_sum_limits *limits;
    struct rig_deadline deadline;
    uint64_t steps;
    uint32_t count, certain, placed; /* events; those that must be done; those of them that are */
    uint8_t *done;
    struct key_state *keys;
    uint32_t *by_begin, *by_end, *optional; /* events; the first two have the certain ones alone */
    uint32_t optional_count;
    uint32_t first_open, first_end; /* in by_begin and by_end: all before are done */
    struct rig_sum_order *order;
    struct frames frames;
    struct key_list window, moves, blind, blame;
    uint8_t *blamed; /* per key: it is in `blame` */
    uint64_t hash[2];
    struct rig_table known_dead; /* by the first hash: into dead */
    struct dead_list dead;
    struct key_list dead_keys;
    bool prunes; /* equal increments are alike, and dead ends rest on keys */
    bool no_memory, is_spent;
};

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The hash of a set: two independent halves, which tell sets apart for certain as far as hashes do. */
static void toggle(struct search *s, uint64_t a, uint64_t b)
{
    s->hash[0] ^= mix(mix(a) + b);
    s->hash[1] ^= mix(mix(a ^ UINT64_C(0x5851f42d4c957f2d)) ^ mix(b + 1));
}

static void add(struct search *s, struct key_list *list, uint32_t number)
{
    s->no_memory |= !key_list_add(list, number);
}

/* ---- the state ---- */

static bool may_change(const struct search *s, const struct rig_sum_event *e, uint32_t term)
{
    const uint32_t owner = s->keys[s->terms[term].key].owner;
    return owner == 0 || owner == e->txn + 1;
}

static bool can(const struct search *s, uint32_t event)
{
    const struct rig_sum_event *e = &s->list[event];
    bool fits = e->after == RIG_SUM_NONE || s->done[e->after];
    for (uint32_t i = e->first_need; fits && i < e->first_lock; i++) {
        const struct key_state *key = &s->keys[s->terms[i].key];
        fits = !key->known || key->begin + key->sum == s->terms[i].value;
    }
    for (uint32_t i = e->first_lock; fits && i < e->end; i++)
        fits = may_change(s, e, i);
    return fits;
}

/* The locks that a transaction has when it commits with this event. */
static void hold_again(struct search *s, uint32_t event)
{
    const uint32_t txn = s->list[event].txn;
    for (uint32_t i = s->list[event].after; i != RIG_SUM_NONE && s->list[i].txn == txn; i = s->list[i].after) {
        for (uint32_t term = s->list[i].first_lock; term < s->list[i].first_add; term++)
            s->keys[s->terms[term].key].owner = txn + 1;
    }
}

static void make(struct search *s, uint32_t event)
{
    const struct rig_sum_event *e = &s->list[event];
    s->done[event] = 1;
    toggle(s, event, 0);
    for (uint32_t i = e->first_need; i < e->first_lock; i++) {
        struct key_state *key = &s->keys[s->terms[i].key];
        if (key->known)
            continue;
        key->known = true;
        key->begin = s->terms[i].value - key->sum;
        key->fixed_by = event + 1;
        toggle(s, UINT64_C(1) << 40 | s->terms[i].key, (uint64_t)key->begin);
    }
    for (uint32_t i = e->first_lock; i < e->first_add; i++)
        s->keys[s->terms[i].key].owner = e->txn + 1;
    for (uint32_t i = e->first_add; i < e->end; i++) {
        s->keys[s->terms[i].key].sum += s->terms[i].value;
        s->keys[s->terms[i].key].owner = 0;
    }
    s->placed += !e->optional;
    s->steps++;
    s->no_memory |= !rig_sum_order_add(s->order, event);
}

static void unmake(struct search *s)
{
    const uint32_t event = s->order->at[--s->order->count];
    const struct rig_sum_event *e = &s->list[event];
    for (uint32_t i = e->first_add; i < e->end; i++)
        s->keys[s->terms[i].key].sum -= s->terms[i].value;
    for (uint32_t i = e->first_lock; i < e->first_add; i++)
        s->keys[s->terms[i].key].owner = 0;
    if (e->holds)
        hold_again(s, event);
    for (uint32_t i = e->first_need; i < e->first_lock; i++) {
        struct key_state *key = &s->keys[s->terms[i].key];
        if (key->fixed_by != event + 1)
            continue;
        toggle(s, UINT64_C(1) << 40 | s->terms[i].key, (uint64_t)key->begin);
        key->known = false;
        key->fixed_by = 0;
    }
    toggle(s, event, 0);
    s->done[event] = 0;
    s->placed -= !e->optional;
}

/* Whether the event changes no key, and fixes no balance. */
static bool is_pure(const struct search *s, uint32_t event)
{
    const struct rig_sum_event *e = &s->list[event];
    bool pure = e->first_lock == e->end;
    for (uint32_t i = e->first_need; pure && i < e->first_lock; i++)
        pure = s->keys[s->terms[i].key].known;
    return pure;
}

/* ---- what may come next ---- */

/* The position before which an event of now must have been invoked. */
static uint32_t limit_of(const struct search *s)
{
    const uint32_t due = s->first_end < s->certain ? s->list[s->by_end[s->first_end]].completed : UINT32_MAX;
    return s->limits->ahead < UINT32_MAX - due ? due + s->limits->ahead : UINT32_MAX;
}

/* The certain events that may come next, as far as time goes. */
static void collect(struct search *s)
{
    while (s->first_end < s->certain && s->done[s->by_end[s->first_end]])
        s->first_end++;
    while (s->first_open < s->certain && s->done[s->by_begin[s->first_open]])
        s->first_open++;
    const uint32_t limit = limit_of(s);
    s->window.count = 0;
    for (uint32_t i = s->first_open; i < s->certain && s->list[s->by_begin[i]].invoked < limit; i++) {
        if (!s->done[s->by_begin[i]])
            add(s, &s->window, s->by_begin[i]);
    }
}

static void take_reads(struct search *s)
{
    bool again = true;
    while (again && !s->no_memory) {
        again = false;
        collect(s);
        for (size_t i = 0; i < s->window.count; i++) {
            const uint32_t event = s->window.at[i];
            if (!is_pure(s, event) || !can(s, event))
                continue;
            make(s, event);
            again = true;
        }
    }
}

/* Whether two events that need nothing add the same. */
static bool is_alike(const struct search *s, uint32_t a, uint32_t b)
{
    const struct rig_sum_event *one = &s->list[a], *other = &s->list[b];
    bool same = one->end - one->first_add == other->end - other->first_add;
    for (uint32_t i = 0; same && i < one->end - one->first_add; i++)
        same = s->terms[one->first_add + i].key == s->terms[other->first_add + i].key &&
               s->terms[one->first_add + i].value == s->terms[other->first_add + i].value;
    return same;
}

static bool is_blind(const struct search *s, uint32_t event)
{
    return s->list[event].first_need == s->list[event].first_add && s->list[event].after == RIG_SUM_NONE;
}

/* Adds a blind event to the moves, unless one like it is there. */
static void add_blind(struct search *s, size_t first, uint32_t event)
{
    bool fresh = true;
    for (size_t i = first; fresh && s->prunes && i < s->moves.count; i++)
        fresh = !is_alike(s, s->moves.at[i], event);
    if (fresh)
        add(s, &s->moves, event);
}

/* By completion; insertion, as the events are few and nearly sorted. */
static void sort_by_end(const struct search *s, struct key_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        const uint32_t event = list->at[i];
        size_t j = i;
        for (; j > 0 && s->list[list->at[j - 1]].completed > s->list[event].completed; j--)
            list->at[j] = list->at[j - 1];
        list->at[j] = event;
    }
}

/* After collect(). */
static void list_moves(struct search *s)
{
    const uint32_t limit = limit_of(s);
    s->moves.count = s->blind.count = 0;
    for (size_t i = 0; i < s->window.count; i++) {
        const uint32_t event = s->window.at[i];
        if (can(s, event))
            add(s, is_blind(s, event) ? &s->blind : &s->moves, event);
    }
    sort_by_end(s, &s->moves);
    sort_by_end(s, &s->blind);
    const size_t first = s->moves.count;
    for (size_t i = 0; i < s->blind.count; i++)
        add_blind(s, first, s->blind.at[i]);
    for (uint32_t i = 0; i < s->optional_count; i++) {
        const uint32_t event = s->optional[i];
        if (!s->done[event] && s->list[event].invoked < limit && can(s, event))
            add_blind(s, first, event);
    }
}

/* ---- dead ends ---- */

static void blame_key(struct search *s, uint32_t key)
{
    if (!s->blamed[key])
        add(s, &s->blame, key);
    s->blamed[key] = 1;
}

/* Whether the event changes, locks or fixes a key that is blamed. */
static bool touches(const struct search *s, uint32_t event)
{
    const struct rig_sum_event *e = &s->list[event];
    bool found = false;
    for (uint32_t i = e->first_need; !found && i < e->end; i++)
        found = s->blamed[s->terms[i].key] && (i >= e->first_lock || !s->keys[s->terms[i].key].known);
    return found;
}

/* All keys of the events of its transaction that are not done. */
static void blame_txn(struct search *s, uint32_t event)
{
    const uint32_t txn = s->list[event].txn;
    uint32_t first = event, end = event + 1;
    while (first > 0 && s->list[first - 1].txn == txn)
        first--;
    while (end < s->count && s->list[end].txn == txn)
        end++;
    for (; first < end; first++) {
        for (uint32_t i = s->list[first].first_need; !s->done[first] && i < s->list[first].end; i++)
            blame_key(s, s->terms[i].key);
    }
}

static void begin_blame(struct search *s)
{
    for (size_t i = 0; i < s->blame.count; i++)
        s->blamed[s->blame.at[i]] = 0;
    s->blame.count = 0;
}

static void blame_list(struct search *s, const uint32_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        blame_key(s, keys[i]);
}

/* Closes the blame: an event of now that touches one of the keys has all of its keys among them. After collect(). */
static void close_blame(struct search *s)
{
    const uint32_t limit = limit_of(s);
    for (size_t before = SIZE_MAX; before != s->blame.count;) {
        before = s->blame.count;
        for (size_t i = 0; i < s->window.count; i++) {
            if (touches(s, s->window.at[i]))
                blame_txn(s, s->window.at[i]);
        }
        for (uint32_t i = 0; i < s->optional_count; i++) {
            const uint32_t event = s->optional[i];
            if (!s->done[event] && s->list[event].invoked < limit && touches(s, event))
                blame_txn(s, event);
        }
    }
}

/* Whether a read can no longer be met, because its key only rises, or only falls. Blames all keys of its
 * transaction: the state may leave it only one of these as a reason to wait. */
static bool is_hopeless(struct search *s)
{
    for (size_t i = 0; i < s->window.count; i++) {
        const struct rig_sum_event *e = &s->list[s->window.at[i]];
        for (uint32_t term = e->first_need; term < e->first_lock; term++) {
            const struct key_state *key = &s->keys[s->terms[term].key];
            const int64_t now = key->begin + key->sum, needed = s->terms[term].value;
            if (!key->known || !((!key->falls && now > needed) || (!key->rises && now < needed)))
                continue;
            blame_txn(s, s->window.at[i]);
            return true;
        }
    }
    return false;
}

static bool is_known_dead(struct search *s)
{
    const uint32_t place = rig_table_get(&s->known_dead, s->hash[0]);
    if (place == RIG_TABLE_NONE || s->dead.at[place].check != s->hash[1])
        return false;
    const struct dead *dead = &s->dead.at[place];
    blame_list(s, &s->dead_keys.at[dead->first_key], dead->key_count);
    return true;
}

/* Remembers that the present set led nowhere, for the blamed keys. */
static void note_dead(struct search *s)
{
    if (s->dead.count >= MOST_DEAD || s->dead_keys.count >= UINT32_MAX / 2)
        return;
    uint32_t *place = rig_table_put(&s->known_dead, s->hash[0]);
    if (place == NULL || *place != RIG_TABLE_NONE) {
        s->no_memory |= place == NULL;
        return;
    }
    *place = (uint32_t)s->dead.count;
    const struct dead dead = {s->hash[1], (uint32_t)s->dead_keys.count, (uint32_t)s->blame.count};
    s->no_memory |= !dead_list_add(&s->dead, dead);
    for (size_t i = 0; i < s->blame.count; i++)
        add(s, &s->dead_keys, s->blame.at[i]);
}

/* ---- the search ---- */

static struct frame *top(struct search *s)
{
    return &s->frames.at[s->frames.count - 1];
}

/* Back to the state of the last frame. */
static void restore(struct search *s)
{
    const struct frame *frame = top(s);
    while (s->order->count > frame->done_at)
        unmake(s);
    s->first_open = frame->first_open;
    s->first_end = frame->first_end;
    collect(s);
}

static bool is_over(struct search *s)
{
    const size_t held = s->frames.count * sizeof(struct frame) + s->dead.count * sizeof(struct dead) +
                        s->dead_keys.count * sizeof(uint32_t) + s->known_dead.slot_count * 12;
    s->is_spent |= rig_deadline_is_over(&s->deadline, 16 + (uint32_t)s->window.count) ||
                   (s->limits->bytes > 0 && held > s->limits->bytes) ||
                   (s->limits->steps > 0 && s->steps > s->limits->steps);
    return s->is_spent || s->no_memory;
}

/* The last frame's move failed for the blamed keys: whether no other move there can help. */
static bool jumps_over(struct search *s)
{
    return s->prunes && !touches(s, top(s)->move);
}

/* Takes back frames until one has a move left, which it makes. False: there is none. The blamed keys say why the state
 * failed; `fresh`: the last frame has not been tried yet. */
static bool go_back(struct search *s)
{
    while (s->frames.count > 0 && !is_over(s)) {
        restore(s);
        s->steps += 1 + s->window.count / EVENTS_A_STEP;
        struct frame *frame = top(s);
        if (frame->next > 0 && jumps_over(s)) {
            frame->why.count = 0; /* the blamed keys alone are the reason */
            note_dead(s);
        } else {
            for (size_t i = 0; frame->next > 0 && i < s->blame.count; i++)
                add(s, &frame->why, s->blame.at[i]);
            list_moves(s);
            if (frame->next < s->moves.count) {
                frame->move = s->moves.at[frame->next++];
                make(s, frame->move);
                return true;
            }
            begin_blame(s);
            blame_list(s, frame->why.at, frame->why.count);
            if (s->first_end < s->certain)
                blame_txn(s, s->by_end[s->first_end]);
            close_blame(s);
            note_dead(s);
        }
        key_list_done(&frame->why);
        s->frames.count--;
    }
    return false;
}

static void push(struct search *s)
{
    const struct frame frame = {
        .done_at = (uint32_t)s->order->count, .first_open = s->first_open, .first_end = s->first_end};
    s->no_memory |= !frames_add(&s->frames, frame);
}

static enum rig_sum_answer run(struct search *s)
{
    for (;;) {
        take_reads(s);
        if (s->no_memory || s->is_spent)
            return RIG_SUM_SPENT;
        if (s->placed == s->certain)
            return RIG_SUM_FOUND;
        begin_blame(s);
        if (!is_known_dead(s) && !is_hopeless(s))
            push(s);
        if (!go_back(s))
            return s->is_spent || s->no_memory ? RIG_SUM_SPENT : RIG_SUM_FAILED;
    }
}

static void merge_by_end(const struct search *s, uint32_t *from, uint32_t *to, uint32_t begin, uint32_t middle,
                         uint32_t end)
{
    const struct rig_sum_event *list = s->list;
    for (uint32_t a = begin, b = middle, at = begin; at < end; at++) {
        const bool left = b == end || (a < middle && list[from[a]].completed <= list[from[b]].completed);
        to[at] = left ? from[a++] : from[b++];
    }
}

/* Stable. `spare` has as much room. */
static void sort_ends(const struct search *s, uint32_t *spare)
{
    uint32_t *from = s->by_end, *to = spare;
    for (uint32_t width = 1; width < s->certain; width *= 2) {
        for (uint32_t begin = 0; begin < s->certain; begin += 2 * width) {
            const uint32_t middle = begin + width < s->certain ? begin + width : s->certain;
            const uint32_t end = middle + width < s->certain ? middle + width : s->certain;
            merge_by_end(s, from, to, begin, middle, end);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != s->by_end)
        memcpy(s->by_end, from, s->certain * sizeof *from);
}

static bool init(struct search *s)
{
    const size_t events = (size_t)s->count + 1, keys = (size_t)s->events->key_count + 1;
    uint32_t *spare = malloc(events * sizeof *spare);
    s->done = calloc(events, 1);
    s->keys = calloc(keys, sizeof *s->keys);
    s->blamed = calloc(keys, 1);
    s->by_begin = malloc(events * sizeof *s->by_begin);
    s->by_end = malloc(events * sizeof *s->by_end);
    s->optional = malloc(events * sizeof *s->optional);
    rig_table_init(&s->known_dead);
    const bool ok = spare != NULL && s->done != NULL && s->keys != NULL && s->blamed != NULL && s->by_begin != NULL &&
                    s->by_end != NULL && s->optional != NULL;
    for (uint32_t key = 0; ok && key < s->events->key_count; key++)
        s->keys[key].known = s->events->begins_at_zero;
    for (uint32_t i = 0; ok && i < s->count; i++) {
        for (uint32_t term = s->list[i].first_add; term < s->list[i].end; term++) {
            s->keys[s->terms[term].key].rises |= s->terms[term].value > 0;
            s->keys[s->terms[term].key].falls |= s->terms[term].value < 0;
        }
        if (s->list[i].optional)
            s->optional[s->optional_count++] = i;
        else
            s->by_begin[s->certain++] = i;
    }
    if (ok) {
        memcpy(s->by_end, s->by_begin, s->certain * sizeof *s->by_end);
        sort_ends(s, spare);
    }
    free(spare);
    return ok;
}

static void done(struct search *s)
{
    for (size_t i = 0; i < s->frames.count; i++)
        key_list_done(&s->frames.at[i].why);
    frames_done(&s->frames);
    key_list_done(&s->window);
    key_list_done(&s->moves);
    key_list_done(&s->blind);
    key_list_done(&s->blame);
    key_list_done(&s->dead_keys);
    dead_list_done(&s->dead);
    rig_table_done(&s->known_dead);
    free(s->done);
    free(s->keys);
    free(s->blamed);
    free(s->by_begin);
    free(s->by_end);
    free(s->optional);
}

enum rig_rc rig_sum_search(const struct rig_sum_events *events, const struct rig_sum_limits *limits,
                           enum rig_sum_answer *answer, struct rig_sum_order *order, struct rig_err *err)
{
    struct search s = {.events = events,
                       .list = events->list.at,
                       .terms = events->terms.at,
                       .limits = limits,
                       .deadline = {.at_ns = limits->deadline_ns},
                       .count = (uint32_t)events->list.count,
                       .order = order,
                       .prunes = !events->in_processes};
    RIG_REQUIRE(!events->in_time || limits->ahead == 0);
    order->count = 0;
    *answer = RIG_SUM_FAILED;
    if (events->impossible)
        return RIG_OK;
    if (init(&s))
        *answer = run(&s);
    else
        s.no_memory = true;
    const bool no_memory = s.no_memory;
    done(&s);
    return no_memory ? rig_memory_limit(err, "the order of the increments") : RIG_OK;
}
