#include "checker/objects/object_queue.h"

#include <stdlib.h>

#include "base/bug.h"

#define NEVER RIG_POSITION_NONE

static const uint32_t no_op = UINT32_MAX;

/* A value, or a take that found nothing, which begins and ends with both of its intervals. */
struct item {
    uint32_t add, take; /* operations; no_op: none */
    uint32_t perhaps;   /* of unknown outcome, that may have taken the value */
    uint32_t add_from, add_until;
    uint32_t take_from, take_until;
};

RIG_VEC(struct item, items)
RIG_VEC(uint32_t, item_numbers)

/* An operation at its point in time; `number` is its place among the points as they were found. */
struct point {
    uint32_t at, number, op;
};

RIG_VEC(struct point, points)

struct sorting {
    struct items values, nothings;                   /* by add_from; takes that found nothing by their ends */
    struct item_numbers unknown;                     /* takes of unknown outcome, by their invocations */
    struct item_numbers by_add_until, by_take_until; /* values */
    struct item_numbers available;                   /* a heap of values, by take_from */
    uint8_t *placed;
    struct points points;
    uint32_t added_at, taken_at; /* points of the last value */
    bool failed;                 /* memory ran out */
};

/* ---- items ---- */

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE;
}

static void note_op(struct sorting *s, const struct rig_object_rows *rows, const struct rig_txn_op *op,
                    const struct rig_object_op *at, uint32_t number)
{
    if (adds(op)) {
        const uint32_t added = rig_table_get(&rows->fate_of, (uint64_t)op->value);
        RIG_INVARIANT(added < rows->fates.count);
        const struct rig_object_fate *fate = &rows->fates.at[added];
        struct item item = {number, no_op, fate->op, at->invoke, at->end, NEVER, NEVER};
        if (fate->end != NEVER)
            item = (struct item){number, fate->op, no_op, at->invoke, at->end, fate->invoke, fate->end};
        /* An addition of unknown outcome that nothing certainly takes need not have happened. */
        if (at->end != NEVER || item.take != no_op)
            s->failed |= !items_add(&s->values, item);
    } else if (op->read_state == RIG_READ_NIL) {
        s->failed |=
            !items_add(&s->nothings, (struct item){no_op, number, no_op, at->invoke, at->end, at->invoke, at->end});
    } else if (op->read_state == RIG_READ_UNKNOWN) {
        s->failed |= !item_numbers_add(&s->unknown, number);
    }
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_begins(const void *left, const void *right)
{
    return compare_numbers(((const struct item *)left)->add_from, ((const struct item *)right)->add_from);
}

static int compare_ends(const void *left, const void *right)
{
    return compare_numbers(((const struct item *)left)->take_until, ((const struct item *)right)->take_until);
}

/* Values that have to be gone before another value is taken, or nothing is found. */
static void give_unknown_takes(struct sorting *s, const struct rig_object_op *ops)
{
    uint32_t last = 0;
    size_t given = 0;
    for (size_t i = 0; i < s->values.count; i++) {
        const struct item *value = &s->values.at[i];
        last = value->take != no_op && value->add_from > last ? value->add_from : last;
    }
    for (size_t i = 0; i < s->nothings.count; i++)
        last = s->nothings.at[i].add_from > last ? s->nothings.at[i].add_from : last;
    for (size_t i = 0; i < s->values.count; i++) {
        struct item *value = &s->values.at[i];
        if (value->take != no_op || value->add_until >= last || (value->perhaps == no_op && given == s->unknown.count))
            continue;
        value->take = value->perhaps != no_op ? value->perhaps : s->unknown.at[given++];
        value->take_from = ops[value->take].invoke;
    }
}

/* ---- queues of values ---- */

struct keyed {
    uint32_t key, number;
};

static int compare_keyed(const void *left, const void *right)
{
    return compare_numbers(((const struct keyed *)left)->key, ((const struct keyed *)right)->key);
}

static void sort_by(struct sorting *s, bool by_take, struct item_numbers *sorted)
{
    const size_t count = s->values.count;
    struct keyed *keyed = calloc(count + 1, sizeof *keyed);
    s->failed |= keyed == NULL || !item_numbers_reserve(sorted, count + 1);
    for (uint32_t i = 0; !s->failed && i < count; i++)
        keyed[i] = (struct keyed){by_take ? s->values.at[i].take_until : s->values.at[i].add_until, i};
    if (!s->failed)
        qsort(keyed, count, sizeof *keyed, compare_keyed);
    for (size_t i = 0; !s->failed && i < count; i++)
        sorted->at[sorted->count++] = keyed[i].number;
    RIG_INVARIANT(s->failed || sorted->count == count);
    free(keyed);
}

/* The first end among the values that are not placed. */
static uint32_t first_end(const struct sorting *s, const struct item_numbers *sorted, size_t *from, bool of_take)
{
    while (*from < sorted->count && s->placed[sorted->at[*from]])
        ++*from;
    if (*from == sorted->count)
        return NEVER;
    RIG_INVARIANT(sorted->at[*from] < s->values.count);
    const struct item *value = &s->values.at[sorted->at[*from]];
    return of_take ? value->take_until : value->add_until;
}

static uint32_t take_from(const struct sorting *s, size_t place)
{
    RIG_REQUIRE(place < s->available.count);
    return s->values.at[s->available.at[place]].take_from;
}

static void swap(struct item_numbers *heap, size_t a, size_t b)
{
    const uint32_t number = heap->at[a];
    heap->at[a] = heap->at[b];
    heap->at[b] = number;
}

static void make_available(struct sorting *s, uint32_t number)
{
    s->failed |= !item_numbers_add(&s->available, number);
    for (size_t at = s->available.count - 1; !s->failed && at > 0 && take_from(s, at) < take_from(s, (at - 1) / 2);
         at = (at - 1) / 2)
        swap(&s->available, at, (at - 1) / 2);
}

static uint32_t take_available(struct sorting *s)
{
    RIG_REQUIRE(s->available.count > 0);
    struct item_numbers *heap = &s->available;
    const uint32_t number = heap->at[0];
    heap->at[0] = heap->at[--heap->count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child < heap->count && child <= 2 * at + 2; child++)
            least = take_from(s, child) < take_from(s, least) ? child : least;
        if (least == at)
            return number;
        swap(heap, at, least);
        at = least;
    }
}

/* ---- the order ---- */

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void add_point(struct sorting *s, uint32_t at, uint32_t op)
{
    s->failed |= !points_add(&s->points, (struct point){at, (uint32_t)s->points.count, op});
}

/* The value comes next, at the earliest times that are possible. */
static void place_value(struct sorting *s, uint32_t number)
{
    RIG_REQUIRE(number < s->values.count && !s->placed[number]);
    const struct item *value = &s->values.at[number];
    s->placed[number] = 1;
    s->added_at = later(s->added_at, value->add_from);
    add_point(s, s->added_at, value->add);
    if (value->take == no_op)
        return;
    s->taken_at = later(later(s->taken_at, value->take_from), s->added_at);
    add_point(s, s->taken_at, value->take);
}

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    return a->at != b->at ? compare_numbers(a->at, b->at) : compare_numbers(a->number, b->number);
}

/* Puts values and takes that found nothing in a row. False: there is none, or none was found. */
static bool place_all(struct sorting *s)
{
    size_t first_add = 0, first_take = 0, begun = 0, nothing = 0, placed = 0;
    while (!s->failed && (placed < s->values.count || nothing < s->nothings.count)) {
        const uint32_t add_until = first_end(s, &s->by_add_until, &first_add, false);
        uint32_t until = first_end(s, &s->by_take_until, &first_take, true);
        if (nothing < s->nothings.count) {
            const struct item *found = &s->nothings.at[nothing];
            const uint32_t at = later(later(found->add_from, s->added_at), s->taken_at);
            if (at <= found->add_until && at <= add_until && at <= until) {
                add_point(s, at, found->take);
                s->added_at = s->taken_at = at;
                nothing++;
                continue;
            }
            until = found->add_until < until ? found->add_until : until;
        }
        const uint32_t begins = add_until < until ? add_until : until;
        while (begun < s->values.count && s->values.at[begun].add_from <= begins)
            make_available(s, (uint32_t)begun++);
        /* A value that is never taken is after all others, and nothing is found any more. */
        if (s->failed || s->available.count == 0 || take_from(s, 0) > until ||
            (take_from(s, 0) == NEVER && nothing < s->nothings.count))
            return false;
        place_value(s, take_available(s));
        placed++;
        RIG_INVARIANT(placed + s->available.count == begun);
    }
    return !s->failed;
}

static void sorting_done(struct sorting *s)
{
    items_done(&s->values);
    items_done(&s->nothings);
    item_numbers_done(&s->unknown);
    item_numbers_done(&s->by_add_until);
    item_numbers_done(&s->by_take_until);
    item_numbers_done(&s->available);
    points_done(&s->points);
    free(s->placed);
}

bool rig_object_queue_order(const struct rig_object_rows *rows, const struct rig_object_model *from,
                            const struct rig_object_op *ops, uint32_t count, struct rig_object_order *order)
{
    RIG_REQUIRE(from->workload == RIG_WORKLOAD_QUEUE && rows->distinct);
    RIG_REQUIRE(order->count == 0);
    struct sorting s = {.failed = false};
    for (uint32_t i = 0; i < count && !s.failed; i++)
        note_op(&s, rows, &from->classes.at[ops[i].class].ops[0], &ops[i], i);
    if (s.values.count > 0)
        qsort(s.values.at, s.values.count, sizeof *s.values.at, compare_begins);
    if (s.nothings.count > 0)
        qsort(s.nothings.at, s.nothings.count, sizeof *s.nothings.at, compare_ends);
    give_unknown_takes(&s, ops);
    sort_by(&s, false, &s.by_add_until);
    sort_by(&s, true, &s.by_take_until);
    s.placed = calloc(s.values.count + 1, 1);
    s.failed |= s.placed == NULL;
    const bool found = !s.failed && place_all(&s);
    if (found && s.points.count > 0)
        qsort(s.points.at, s.points.count, sizeof *s.points.at, compare_points);
    for (size_t i = 0; found && !s.failed && i < s.points.count; i++)
        s.failed = !rig_object_order_add(order, s.points.at[i].op);
    const bool ok = !s.failed;
    sorting_done(&s);
    return ok;
}
