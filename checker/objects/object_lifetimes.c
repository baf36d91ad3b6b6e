#include "checker/objects/object_lifetimes.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"

static const uint32_t no_op = UINT32_MAX;

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

/* ---- lifetimes ---- */

struct noting {
    struct rig_object_lifetimes *lifetimes;
    struct rig_table number_of; /* value -> index */
    struct rig_object_open open;
};

static struct rig_object_lifetime *life_of(struct noting *n, int64_t value)
{
    uint32_t *number = rig_table_put(&n->number_of, (uint64_t)value);
    if (number == NULL)
        return NULL;
    if (*number == RIG_TABLE_NONE) {
        const struct rig_object_lifetime fresh = {.value = value,
                                                  .add = no_op,
                                                  .take = no_op,
                                                  .add_until = RIG_POSITION_NONE,
                                                  .take_from = n->open.horizon,
                                                  .take_until = RIG_POSITION_NONE};
        if (!rig_object_lifetime_list_add(&n->lifetimes->at, fresh))
            return NULL;
        *number = (uint32_t)n->lifetimes->at.count - 1;
    }
    RIG_INVARIANT(*number < n->lifetimes->at.count);
    return &n->lifetimes->at.at[*number];
}

static bool note_op(struct noting *n, const struct rig_txn_op *op, const struct rig_object_op *at, uint32_t number)
{
    RIG_REQUIRE(adds(op) || rig_op_reads(op->kind));
    const bool certain = at->end != RIG_POSITION_NONE;
    if (!adds(op) && at->txn >= n->open.txn)
        return true;
    n->lifetimes->certain &= certain || adds(op);
    if (!adds(op) && op->read_state == RIG_READ_NIL)
        return rig_object_op_numbers_add(&n->lifetimes->nothings, number);
    if (!adds(op) && (op->read_state != RIG_READ_SEEN || !certain))
        return true;
    struct rig_object_lifetime *lifetime = life_of(n, op->value);
    if (lifetime == NULL)
        return false;
    if (adds(op)) {
        lifetime->add = number;
        lifetime->add_from = at->invoke;
        lifetime->add_until = at->end;
    } else {
        lifetime->take = number;
        lifetime->takes++;
        lifetime->take_from = at->invoke;
        lifetime->take_until = at->end;
    }
    return true;
}

/* Drops additions of unknown outcome that nothing takes: they need not have happened. */
static void keep_certain(struct rig_object_lifetimes *lifetimes)
{
    size_t kept = 0;
    for (size_t i = 0; i < lifetimes->at.count; i++) {
        struct rig_object_lifetime lifetime = lifetimes->at.at[i];
        if (lifetime.takes == 0 && lifetime.add_until == RIG_POSITION_NONE)
            continue;
        if (lifetime.takes == 0 && !lifetimes->certain)
            lifetime.take_from = 0;
        lifetimes->at.at[kept++] = lifetime;
    }
    lifetimes->at.count = kept;
}

bool rig_object_lifetimes_init(struct rig_object_lifetimes *lifetimes, const struct rig_object_model *from,
                               const struct rig_object_op *ops, uint32_t count, struct rig_object_open open)
{
    RIG_REQUIRE(from->workload == RIG_WORKLOAD_QUEUE || from->workload == RIG_WORKLOAD_STACK);
    struct noting n = {.lifetimes = lifetimes, .open = open};
    bool noted = true;
    *lifetimes = (struct rig_object_lifetimes){.queue = from->workload == RIG_WORKLOAD_QUEUE, .certain = true};
    rig_table_init(&n.number_of);
    for (uint32_t i = 0; noted && i < count; i++)
        noted = note_op(&n, &from->classes.at[ops[i].class].ops[0], &ops[i], i);
    rig_table_done(&n.number_of);
    keep_certain(lifetimes);
    return noted;
}

void rig_object_lifetimes_done(struct rig_object_lifetimes *lifetimes)
{
    rig_object_lifetime_list_done(&lifetimes->at);
    rig_object_op_numbers_done(&lifetimes->nothings);
}

/* ---- stretches ---- */

static int compare_positions(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_additions(const void *left, const void *right)
{
    const struct rig_object_lifetime *const *a = left, *const *b = right;
    return compare_positions((*a)->add_until, (*b)->add_until);
}

static int compare_begins(const void *left, const void *right)
{
    const struct rig_object_lifetime *const *a = left, *const *b = right;
    return compare_positions((*a)->add_from, (*b)->add_from);
}

bool rig_object_lifetimes_cover(const struct rig_object_lifetime *const *lifetimes, uint32_t count, uint32_t from,
                                uint32_t until, struct rig_object_values *values, bool *covered)
{
    RIG_REQUIRE(from < until && values->count == 0);
    uint32_t reach = from;
    bool added = true;
    *covered = false;
    for (uint32_t i = 0; added && !*covered && i < count;) {
        const struct rig_object_lifetime *best = NULL;
        for (;
             i < count && (lifetimes[i]->add_until < reach || (values->count == 0 && lifetimes[i]->add_until == from));
             i++)
            best = best == NULL || lifetimes[i]->take_from > best->take_from ? lifetimes[i] : best;
        if (best == NULL || best->take_from <= reach)
            break;
        reach = best->take_from;
        added = rig_object_values_add(values, best->value);
        *covered = reach >= until;
    }
    RIG_INVARIANT(!*covered || values->count > 0);
    if (!*covered)
        values->count = 0;
    return added;
}

/* The lifetimes that are not empty, by the ends of their additions. NULL when memory runs out. */
static const struct rig_object_lifetime **sort_long(const struct rig_object_lifetimes *lifetimes, uint32_t *count)
{
    const struct rig_object_lifetime **sorted = malloc((lifetimes->at.count + 1) * sizeof(void *));
    *count = 0;
    for (size_t i = 0; sorted != NULL && i < lifetimes->at.count; i++) {
        if (rig_object_lifetime_is_long(&lifetimes->at.at[i]))
            sorted[(*count)++] = &lifetimes->at.at[i];
    }
    if (*count > 0)
        qsort(sorted, *count, sizeof(void *), compare_additions);
    return sorted;
}

/* The last lifetime whose addition ends before the position; `count`: there is none. */
static uint32_t find_before(const struct rig_object_lifetime *const *sorted, uint32_t count, uint32_t position)
{
    uint32_t low = 0, high = count;
    while (low < high)
        rig_halve(&low, &high, sorted[rig_middle(low, high)]->add_until < position);
    RIG_INVARIANT(low == 0 || sorted[low - 1]->add_until < position);
    RIG_INVARIANT(low == count || sorted[low]->add_until >= position);
    return low == 0 ? count : low - 1;
}

/* Per lifetime, in the order of sort_long(): the first and the last one of its stretch, and how far those up to it
 * reach. */
struct stretches {
    const struct rig_object_lifetime **sorted;
    uint32_t *first, *last, *reach;
    uint32_t count;
};

static bool find_stretches(const struct rig_object_lifetimes *lifetimes, struct stretches *s)
{
    s->sorted = sort_long(lifetimes, &s->count);
    s->first = malloc(((size_t)s->count + 1) * sizeof *s->first);
    s->last = malloc(((size_t)s->count + 1) * sizeof *s->last);
    s->reach = malloc(((size_t)s->count + 1) * sizeof *s->reach);
    if (s->sorted == NULL || s->first == NULL || s->last == NULL || s->reach == NULL)
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t end = s->sorted[i]->take_from;
        RIG_INVARIANT(i == 0 || s->sorted[i - 1]->add_until <= s->sorted[i]->add_until);
        const bool goes_on = i > 0 && s->sorted[i]->add_until < s->reach[i - 1];
        s->first[i] = goes_on ? s->first[i - 1] : i;
        s->reach[i] = goes_on && s->reach[i - 1] > end ? s->reach[i - 1] : end;
    }
    for (uint32_t i = s->count; i-- > 0;)
        s->last[i] = i + 1 < s->count && s->first[i + 1] == s->first[i] ? s->last[i + 1] : i;
    RIG_INVARIANT(s->count == 0 || (s->first[0] == 0 && s->last[s->count - 1] == s->count - 1));
    return true;
}

/* Whether the object is certainly not empty while the operation, which found nothing, takes effect. */
static bool is_covered(const struct stretches *s, const struct rig_object_op *op, uint32_t *lifetime)
{
    const uint32_t before = find_before(s->sorted, s->count, op->invoke);
    *lifetime = before;
    return op->end != RIG_POSITION_NONE && before < s->count && s->reach[before] > op->invoke &&
           s->reach[s->last[before]] > op->end;
}

static bool find_nothing(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                         struct rig_object_values *values, uint32_t *nothing)
{
    RIG_REQUIRE(values->count == 0);
    struct stretches s = {.count = 0};
    bool done = find_stretches(lifetimes, &s);
    for (size_t i = 0; done && values->count == 0 && i < lifetimes->nothings.count; i++) {
        const struct rig_object_op *op = &ops[lifetimes->nothings.at[i]];
        uint32_t lifetime;
        bool covered;
        if (!is_covered(&s, op, &lifetime))
            continue;
        *nothing = lifetimes->nothings.at[i];
        const uint32_t first = s.first[lifetime];
        done = rig_object_lifetimes_cover(s.sorted + first, s.last[lifetime] - first + 1, op->invoke, op->end + 1,
                                          values, &covered);
        RIG_INVARIANT(!done || covered);
    }
    free(s.sorted);
    free(s.first);
    free(s.last);
    free(s.reach);
    return done;
}

/* ---- single values, and pairs ---- */

static bool find_one(const struct rig_object_lifetimes *lifetimes, struct rig_object_values *values)
{
    for (size_t i = 0; i < lifetimes->at.count; i++) {
        const struct rig_object_lifetime *lifetime = &lifetimes->at.at[i];
        if (lifetime->takes > 0 &&
            (lifetime->takes > 1 || lifetime->add == no_op || lifetime->take_until < lifetime->add_from))
            return rig_object_values_add(values, lifetime->value);
    }
    return true;
}

/* In a queue: b is taken before a, of those added before it the one that is taken last. */
static bool find_pair(const struct rig_object_lifetimes *lifetimes, struct rig_object_values *values)
{
    RIG_REQUIRE(lifetimes->queue && values->count == 0);
    const size_t count = lifetimes->at.count;
    const struct rig_object_lifetime **by_end = malloc((count + 1) * sizeof(void *));
    const struct rig_object_lifetime **by_begin = malloc((count + 1) * sizeof(void *));
    const struct rig_object_lifetime *last = NULL;
    bool done = by_end != NULL && by_begin != NULL;
    for (size_t i = 0; done && i < count; i++)
        by_end[i] = by_begin[i] = &lifetimes->at.at[i];
    if (done && count > 0) {
        qsort(by_end, count, sizeof(void *), compare_additions);
        qsort(by_begin, count, sizeof(void *), compare_begins);
    }
    for (size_t i = 0, added = 0; done && i < count; i++) {
        const struct rig_object_lifetime *b = by_begin[i];
        for (; added < count && by_end[added]->add_until < b->add_from; added++)
            last = last == NULL || by_end[added]->take_from > last->take_from ? by_end[added] : last;
        if (last != NULL && b->take_until < last->take_from) {
            done = rig_object_values_add(values, last->value) && rig_object_values_add(values, b->value);
            break;
        }
    }
    free(by_end);
    free(by_begin);
    return done;
}

bool rig_object_lifetimes_contradict(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                                     struct rig_object_values *values, uint32_t *nothing)
{
    RIG_REQUIRE(values->count == 0);
    *nothing = no_op;
    return find_one(lifetimes, values) && (values->count > 0 || !lifetimes->queue || find_pair(lifetimes, values)) &&
           (values->count > 0 || find_nothing(lifetimes, ops, values, nothing));
}
