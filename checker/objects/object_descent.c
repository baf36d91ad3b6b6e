#include "checker/objects/object_descent.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"

enum { STEPS_BETWEEN_LOOKS = 1 << 14, MOST_MET = 1 << 23 };

static const uint32_t none = UINT32_MAX;

/* The operations that have not taken effect, in some order; one that is taken out goes back in the reverse order. */
struct ring {
    uint32_t *next, *before; /* per operation, and one more: the ends */
};

/* One depth: the operation that took effect there, and those that are left to try. */
struct level {
    uint64_t taken;        /* a hash of the operations that have taken effect */
    uint32_t state;        /* before the operation */
    uint32_t op;           /* that took effect; `none`: none yet */
    uint32_t first, count; /* candidates from `first` on, of which `count` are left, the last one first */
    bool unknown;          /* these are operations of unknown outcome */
    bool alone;            /* nothing else needs to be tried */
};

RIG_VEC(struct level, levels)
RIG_VEC(uint32_t, candidates)

struct descent {
    struct rig_object_model *model;
    const struct rig_object_op *ops;
    uint32_t count;
    uint32_t left;         /* operations that completed, and have not taken effect */
    struct ring by_end;    /* those that completed, by their completions */
    struct ring by_invoke; /* the same, by their invocations */
    struct ring unknown;   /* those of unknown outcome */
    struct rig_table seen; /* classes that are candidates of the present level: class -> its stamp */
    uint32_t stamp;
    struct rig_table met; /* configurations */
    struct levels levels;
    struct candidates candidates;
    uint32_t *room;
    uint64_t steps;
    bool failed; /* memory ran out */
};

/* ---- rings ---- */

static void take_out(struct ring *ring, uint32_t op)
{
    RIG_COSTLY(ring->next[ring->before[op]] == op && ring->before[ring->next[op]] == op);
    ring->next[ring->before[op]] = ring->next[op];
    ring->before[ring->next[op]] = ring->before[op];
}

static void put_back(struct ring *ring, uint32_t op)
{
    RIG_COSTLY(ring->next[ring->before[op]] == ring->next[op]); /* the last one that was taken out there */
    ring->next[ring->before[op]] = op;
    ring->before[ring->next[op]] = op;
}

static void add_last(const struct descent *d, struct ring *ring, uint32_t op)
{
    const uint32_t end = d->count;
    ring->before[op] = ring->before[end];
    ring->next[op] = end;
    ring->next[ring->before[op]] = op;
    ring->before[end] = op;
}

struct ended {
    uint32_t end, op;
};

static int compare_ends(const void *left, const void *right)
{
    const struct ended *a = left, *b = right;
    return a->end != b->end ? (a->end > b->end) - (a->end < b->end) : (a->op > b->op) - (a->op < b->op);
}

static bool make_rings(struct descent *d)
{
    struct ring *rings[] = {&d->by_end, &d->by_invoke, &d->unknown};
    const size_t length = (size_t)d->count + 1;
    struct ended *ended = malloc(length * sizeof *ended);
    d->room = calloc(2 * sizeof rings / sizeof rings[0] * length, sizeof *d->room);
    if (ended == NULL || d->room == NULL) {
        free(ended);
        return false;
    }
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
        *rings[i] = (struct ring){d->room + 2 * i * length, d->room + (2 * i + 1) * length};
        rings[i]->next[d->count] = rings[i]->before[d->count] = d->count;
    }
    for (uint32_t op = 0; op < d->count; op++) {
        if (d->ops[op].end == RIG_POSITION_NONE) {
            add_last(d, &d->unknown, op);
            continue;
        }
        add_last(d, &d->by_invoke, op);
        ended[d->left++] = (struct ended){d->ops[op].end, op};
    }
    RIG_INVARIANT(d->left <= d->count);
    if (d->left > 1)
        qsort(ended, d->left, sizeof *ended, compare_ends);
    for (uint32_t i = 0; i < d->left; i++)
        add_last(d, &d->by_end, ended[i].op);
    free(ended);
    return true;
}

/* ---- candidates ---- */

static struct level *last_level(struct descent *d)
{
    RIG_REQUIRE(d->levels.count > 0);
    return &d->levels.at[d->levels.count - 1];
}

static void add_candidate(struct descent *d, uint32_t op)
{
    if (!candidates_add(&d->candidates, op))
        d->failed = true;
    last_level(d)->count++;
}

static uint32_t state_after(struct descent *d, uint32_t op)
{
    uint32_t next = none;
    d->failed |= !rig_object_step(d->model, last_level(d)->state, d->ops[op].class, &next);
    d->steps++;
    return d->failed ? none : next;
}

/* The last one is tried first: the one that completes first. Others that do the same are left out. */
static void sort_candidates(struct descent *d, struct level *level)
{
    RIG_REQUIRE(level->first + level->count == d->candidates.count);
    uint32_t *at = d->candidates.at + level->first, kept = 0;
    for (uint32_t i = 1; i < level->count; i++) {
        for (uint32_t j = i; j > 0 && d->ops[at[j - 1]].end < d->ops[at[j]].end; j--) {
            const uint32_t op = at[j];
            at[j] = at[j - 1];
            at[j - 1] = op;
        }
    }
    for (uint32_t i = 0; i < level->count; i++) {
        bool is_first = true;
        for (uint32_t j = i + 1; is_first && j < level->count; j++)
            is_first = d->ops[at[j]].class != d->ops[at[i]].class;
        if (is_first)
            at[kept++] = at[i];
    }
    level->count = kept;
    d->candidates.count = level->first + kept;
}

/* The operations that completed, were invoked before the first completion that is left, and are possible. */
static void find_completed(struct descent *d)
{
    RIG_REQUIRE(d->left > 0);
    const uint32_t first_end = d->ops[d->by_end.next[d->count]].end;
    struct level *level = last_level(d);
    for (uint32_t op = d->by_invoke.next[d->count]; op != d->count && d->ops[op].invoke < first_end;
         op = d->by_invoke.next[op]) {
        if (state_after(d, op) == RIG_OBJECT_NONE)
            continue;
        if (d->model->classes.at[d->ops[op].class].observes) {
            d->candidates.count = level->first;
            level->count = 0;
            level->alone = true;
        }
        add_candidate(d, op);
        if (level->alone || d->failed)
            return;
    }
    sort_candidates(d, level);
}

/* One of each class, that changes the state. */
static void find_unknown(struct descent *d)
{
    RIG_REQUIRE(d->left > 0);
    const uint32_t first_end = d->ops[d->by_end.next[d->count]].end;
    struct level *level = last_level(d);
    level->unknown = true;
    d->candidates.count = level->first;
    d->stamp++;
    for (uint32_t op = d->unknown.next[d->count]; !d->failed && op != d->count && d->ops[op].invoke < first_end;
         op = d->unknown.next[op]) {
        uint32_t *seen = rig_table_put(&d->seen, d->ops[op].class);
        d->failed |= seen == NULL;
        if (d->failed || *seen == d->stamp)
            continue;
        *seen = d->stamp;
        const uint32_t next = state_after(d, op);
        if (next != RIG_OBJECT_NONE && next != level->state)
            add_candidate(d, op);
    }
}

/* ---- down and up ---- */

static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 32) * UINT64_C(0x9fb21c651e98df25);
    word = (word ^ word >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 32;
}

static void go_down(struct descent *d, uint32_t state, uint64_t taken)
{
    const struct level level = {.taken = taken, .state = state, .op = none, .first = (uint32_t)d->candidates.count};
    d->failed |= !levels_add(&d->levels, level);
    if (!d->failed && d->left > 0)
        find_completed(d);
}

/* Whether the configuration was met before; notes it. Operations are hashed by numbers below 2^32, states by others. */
static bool is_met(struct descent *d, uint32_t state, uint64_t taken)
{
    uint32_t *met = rig_table_put(&d->met, mix(taken ^ mix(((uint64_t)state + 1) << 32)));
    d->failed |= met == NULL;
    const bool was = met != NULL && *met != RIG_TABLE_NONE;
    if (met != NULL)
        *met = 0;
    return was;
}

static void take_effect(struct descent *d, uint32_t op)
{
    if (d->ops[op].end == RIG_POSITION_NONE) {
        take_out(&d->unknown, op);
        return;
    }
    RIG_INVARIANT(d->left > 0);
    take_out(&d->by_end, op);
    take_out(&d->by_invoke, op);
    d->left--;
}

static void take_back(struct descent *d)
{
    struct level *level = last_level(d);
    if (level->op == none)
        return;
    RIG_INVARIANT(level->op < d->count);
    if (d->ops[level->op].end == RIG_POSITION_NONE) {
        put_back(&d->unknown, level->op);
    } else {
        put_back(&d->by_invoke, level->op);
        put_back(&d->by_end, level->op);
        d->left++;
    }
    level->op = none;
}

/* The next candidate takes effect; false: there is none. */
static bool try_next(struct descent *d)
{
    struct level *level = last_level(d);
    take_back(d);
    if (level->count == 0 && !level->unknown && !level->alone)
        find_unknown(d);
    if (d->failed || level->count == 0)
        return false;
    const uint32_t op = d->candidates.at[level->first + --level->count];
    d->candidates.count = level->first + level->count;
    const uint32_t state = state_after(d, op);
    const uint64_t taken = level->taken ^ mix((uint64_t)op + 1);
    RIG_INVARIANT(d->failed || state != RIG_OBJECT_NONE); /* it was possible when it became a candidate */
    if (d->failed || is_met(d, state, taken))
        return !d->failed;
    level->op = op;
    take_effect(d, op);
    go_down(d, state, taken);
    return true;
}

static bool descend(struct descent *d, const struct rig_object_search_limits *limits)
{
    uint64_t looked_at = 0;
    go_down(d, d->model->initial, 0);
    while (!d->failed && d->left > 0 && d->levels.count > 0) {
        if (!try_next(d))
            d->levels.count--;
        if (d->steps < looked_at + STEPS_BETWEEN_LOOKS)
            continue;
        looked_at = d->steps;
        const size_t bytes = d->met.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)) + d->model->arena.held_bytes;
        if ((limits->steps > 0 && d->steps > limits->steps) || rig_clock_now_ns() > limits->deadline_ns ||
            d->met.used > MOST_MET || (limits->bytes > 0 && bytes > limits->bytes))
            break;
    }
    return !d->failed && d->left == 0;
}

enum rig_object_answer rig_object_descend(struct rig_object_model *model, const struct rig_object_op *ops,
                                          uint32_t count, const struct rig_object_search_limits *limits,
                                          struct rig_object_order *order)
{
    RIG_REQUIRE(model->initial < model->states.count);
    struct descent d = {.model = model, .ops = ops, .count = count};
    rig_table_init(&d.met);
    rig_table_init(&d.seen);
    bool found = make_rings(&d) && descend(&d, limits);
    order->count = 0;
    for (size_t i = 0; found && i < d.levels.count; i++) {
        if (d.levels.at[i].op != none)
            found = rig_object_order_add(order, d.levels.at[i].op);
    }
    RIG_INVARIANT(order->count <= count);
    const bool no_memory = d.room == NULL || (d.left == 0 && !found);
    levels_done(&d.levels);
    candidates_done(&d.candidates);
    rig_table_done(&d.met);
    rig_table_done(&d.seen);
    free(d.room);
    return found ? RIG_OBJECT_LINEARIZABLE : no_memory ? RIG_OBJECT_NO_MEMORY : RIG_OBJECT_TIME;
}
