#include "checker/objects/object_values.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"
#include "base/table.h"
#include "checker/objects/object_key.h"

/*
 * Decides a stack whose values are unique, and finds an order of the operations, without a search.
 *
 * A value whose addition and take overlap may be taken at once, so it constrains nothing. The others are certainly
 * there from the end of their addition to the beginning of their take. While such times overlap, the stack is not
 * empty, and one value is at its bottom all the time: it is added before any of these additions has to be, and taken
 * after all takes. Any value that may be is as good as another, because additions before the stretch may wait until its
 * beginning, and takes after it may come at its end. So the values that may be at the bottom are left out, the rest
 * falls into shorter stretches, and there is an order if and only if this leaves out all. A stretch in which no value
 * may be at the bottom is a contradiction, and so are the fewest of its values that make up the whole stretch.
 *
 * Sources: Gibbons, Bruno & Phillips 2002, "Black-box correctness tests for basic parallel data structures"; Lee &
 * Mathur 2025, "Efficient decrease-and-conquer linearizability monitoring".
 *
 * Time: n log n for a bounded number of operations that are open at once. Space: 120 bytes a value. Threads: one at a
 * time.
 */

/* Times between two successive ends of lifetimes are gaps, numbered from 0: `at[gap]` to `at[gap + 1]`. A stretch is a
 * range of gaps, each within some lifetime. */
struct stretch {
    uint32_t from, until;
};

/* An operation at its point in time. At one point, takes come before takes that found nothing, and these before
 * additions. */
struct point {
    uint32_t at, op;
    uint64_t rank;
};

RIG_VEC(struct stretch, stretches)
RIG_VEC(struct point, points)
RIG_VEC(uint32_t, positions)

struct stacking {
    const struct rig_object_lifetimes *lifetimes;
    const struct rig_object_op *ops;
    const struct rig_object_lifetime **sorted; /* those that are not empty, by the ends of their additions */
    uint32_t count, width;                     /* of `sorted`; leaves of `begins` */
    uint32_t *begins;                          /* tree of minima: add_from of those that are left */
    struct positions at;
    uint32_t gaps;           /* leaves of the tree of covers */
    int32_t *least, *change; /* tree: lifetimes that cover a gap, at least, and what is to be added below */
    struct stretches waiting;
    struct points *points; /* NULL: no order is wanted */
    uint64_t rank;
    bool failed;
};

enum { TAKES, NOTHINGS, ADDITIONS };
static const int32_t split = 1 << 30; /* covers of a gap between stretches */

/* ---- a tree of minima over the beginnings of additions ---- */

static void set_begin(struct stacking *s, uint32_t lifetime, uint32_t begin)
{
    RIG_REQUIRE(lifetime < s->width);
    uint32_t node = s->width + lifetime;
    s->begins[node] = begin;
    for (node /= 2; node > 0; node /= 2) {
        const uint32_t left = s->begins[2 * node], right = s->begins[2 * node + 1];
        s->begins[node] = left < right ? left : right;
    }
}

/* The first lifetime of [from, until) whose addition begins before `before`; `until`: there is none. */
static uint32_t find_begin(const struct stacking *s, uint32_t node, uint32_t low, uint32_t high, uint32_t from,
                           uint32_t until, uint32_t before)
{
    uint32_t found = until;
    if (high <= from || until <= low || s->begins[node] >= before)
        return until;
    if (high - low == 1)
        return low;
    const uint32_t middle = (low + high) / 2;
    found = find_begin(s, 2 * node, low, middle, from, until, before);
    return found != until ? found : find_begin(s, 2 * node + 1, middle, high, from, until, before);
}

/* ---- a tree of minima over the covers of gaps ---- */

static void cover(struct stacking *s, uint32_t node, uint32_t low, uint32_t high, struct stretch range, int32_t change)
{
    if (range.until <= low || high <= range.from)
        return;
    if (range.from <= low && high <= range.until) {
        s->least[node] += change;
        s->change[node] += change;
        return;
    }
    const uint32_t middle = (low + high) / 2;
    cover(s, 2 * node, low, middle, range, change);
    cover(s, 2 * node + 1, middle, high, range, change);
    const int32_t left = s->least[2 * node], right = s->least[2 * node + 1];
    s->least[node] = (left < right ? left : right) + s->change[node];
}

/* The first gap of the range that no lifetime covers; `until`: there is none. */
static uint32_t find_open(const struct stacking *s, uint32_t node, uint32_t low, uint32_t high, struct stretch range,
                          int32_t above)
{
    if (high <= range.from || range.until <= low || s->least[node] + above > 0)
        return range.until;
    if (high - low == 1)
        return low;
    const uint32_t middle = (low + high) / 2;
    above += s->change[node];
    const uint32_t found = find_open(s, 2 * node, low, middle, range, above);
    return found != range.until ? found : find_open(s, 2 * node + 1, middle, high, range, above);
}

/* Adds the stretches of the range to those that wait. */
static void divide(struct stacking *s, struct stretch range)
{
    RIG_REQUIRE(range.until <= s->gaps);
    while (range.from < range.until && !s->failed) {
        const uint32_t open = find_open(s, 1, 0, s->gaps, range, 0);
        RIG_INVARIANT(open >= range.from && open <= range.until);
        if (open > range.from)
            s->failed = !stretches_add(&s->waiting, (struct stretch){range.from, open});
        if (open < range.until)
            cover(s, 1, 0, s->gaps, (struct stretch){open, open + 1}, split);
        range.from = open + 1;
    }
}

/* ---- the operations ---- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_positions(const void *left, const void *right)
{
    return compare_numbers(*(const uint32_t *)left, *(const uint32_t *)right);
}

static int compare_additions(const void *left, const void *right)
{
    const struct rig_object_lifetime *const *a = left, *const *b = right;
    return compare_numbers((*a)->add_until, (*b)->add_until);
}

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    return a->at != b->at ? compare_numbers(a->at, b->at) : (a->rank > b->rank) - (a->rank < b->rank);
}

static uint32_t gap_of(const struct stacking *s, uint32_t position)
{
    const uint32_t *found = bsearch(&position, s->at.at, s->at.count, sizeof *found, compare_positions);
    RIG_INVARIANT(found != NULL);
    return (uint32_t)(found - s->at.at);
}

static struct stretch gaps_of(const struct stacking *s, const struct rig_object_lifetime *lifetime)
{
    RIG_REQUIRE(rig_object_lifetime_is_long(lifetime));
    return (struct stretch){gap_of(s, lifetime->add_until), gap_of(s, lifetime->take_from)};
}

static void note_positions(struct stacking *s)
{
    for (uint32_t i = 0; i < s->count && !s->failed; i++)
        s->failed = !positions_add(&s->at, s->sorted[i]->add_until) || !positions_add(&s->at, s->sorted[i]->take_from);
    size_t kept = 0;
    if (s->at.count > 0)
        qsort(s->at.at, s->at.count, sizeof *s->at.at, compare_positions);
    for (size_t i = 0; i < s->at.count; i++) {
        if (kept == 0 || s->at.at[i] != s->at.at[kept - 1])
            s->at.at[kept++] = s->at.at[i];
    }
    RIG_INVARIANT(kept <= 2 * (size_t)s->count);
    s->at.count = kept;
}

static bool set_up(struct stacking *s)
{
    const size_t lifetimes = s->lifetimes->at.count;
    s->sorted = malloc((lifetimes + 1) * sizeof(void *));
    for (size_t i = 0; s->sorted != NULL && i < lifetimes; i++) {
        if (rig_object_lifetime_is_long(&s->lifetimes->at.at[i]))
            s->sorted[s->count++] = &s->lifetimes->at.at[i];
    }
    if (s->count > 0)
        qsort(s->sorted, s->count, sizeof(void *), compare_additions);
    note_positions(s);
    for (s->width = 1; s->width < s->count;)
        s->width *= 2;
    for (s->gaps = 1; s->gaps < s->at.count;)
        s->gaps *= 2;
    RIG_INVARIANT(s->width >= s->count && s->gaps >= s->at.count);
    s->begins = malloc(2 * (size_t)s->width * sizeof *s->begins);
    s->least = calloc(2 * (size_t)s->gaps, sizeof *s->least);
    s->change = calloc(2 * (size_t)s->gaps, sizeof *s->change);
    if (s->sorted == NULL || s->failed || s->begins == NULL || s->least == NULL || s->change == NULL)
        return false;
    for (uint32_t i = 0; i < 2 * s->width; i++)
        s->begins[i] = RIG_POSITION_NONE;
    for (uint32_t i = 0; i < s->count; i++) {
        set_begin(s, i, s->sorted[i]->add_from);
        cover(s, 1, 0, s->gaps, gaps_of(s, s->sorted[i]), 1);
    }
    return true;
}

static void add_point(struct stacking *s, uint32_t at, unsigned class, uint64_t rank, uint32_t op)
{
    if (s->points != NULL && op != UINT32_MAX)
        s->failed |= !points_add(s->points, (struct point){at, op, (uint64_t) class << 56 | rank});
}

/* The value is at the bottom of the stretch, on those that were before. */
static void place_bottom(struct stacking *s, const struct rig_object_lifetime *lifetime, uint32_t from, uint32_t until)
{
    RIG_REQUIRE(from < until);
    static const uint64_t most = UINT64_C(1) << 48;
    s->rank++;
    add_point(s, from, ADDITIONS, s->rank, lifetime->add);
    add_point(s, until, TAKES, most - s->rank, lifetime->take);
}

/* The lifetimes of the stretch that are left, [first, last). */
static void lives_of(const struct stacking *s, struct stretch stretch, uint32_t *first, uint32_t *last)
{
    RIG_REQUIRE(stretch.from < stretch.until && stretch.until < s->at.count);
    const uint32_t bounds[] = {s->at.at[stretch.from], s->at.at[stretch.until]};
    uint32_t *const found[] = {first, last};
    for (unsigned side = 0; side < 2; side++) {
        uint32_t low = 0, high = s->count;
        while (low < high)
            rig_halve(&low, &high, s->sorted[rig_middle(low, high)]->add_until < bounds[side]);
        *found[side] = low;
    }
    RIG_INVARIANT(*first <= *last && *last <= s->count);
}

/* Leaves out the values that may be at the bottom. False: there are none. */
static bool remove_bottoms(struct stacking *s, struct stretch stretch, uint32_t first, uint32_t last)
{
    const uint32_t from = s->at.at[stretch.from], until = s->at.at[stretch.until];
    bool any = false;
    for (uint32_t i = first; i < last; i++) {
        i = find_begin(s, 1, 0, s->width, i, last, from);
        if (i == last || s->sorted[i]->take_until < until)
            continue;
        any = true;
        RIG_INVARIANT(s->sorted[i]->add_from < from);
        place_bottom(s, s->sorted[i], from, until);
        set_begin(s, i, RIG_POSITION_NONE);
        cover(s, 1, 0, s->gaps, gaps_of(s, s->sorted[i]), -1);
    }
    return any;
}

/* The fewest values that make up the stretch. */
static bool contradict(const struct stacking *s, struct stretch stretch, uint32_t first, uint32_t last,
                       struct rig_object_values *values)
{
    const struct rig_object_lifetime **left = malloc(((size_t)s->count + 1) * sizeof(void *));
    uint32_t count = 0;
    bool covered = false;
    for (uint32_t i = first; left != NULL && i < last; i++) {
        if (s->begins[s->width + i] != RIG_POSITION_NONE)
            left[count++] = s->sorted[i];
    }
    const bool done = left != NULL && rig_object_lifetimes_cover(left, count, s->at.at[stretch.from],
                                                                 s->at.at[stretch.until], values, &covered);
    RIG_INVARIANT(!done || covered);
    free(left);
    return done;
}

static bool remove_all(struct stacking *s, struct rig_object_values *values)
{
    while (s->waiting.count > 0 && values->count == 0 && !s->failed) {
        const struct stretch stretch = s->waiting.at[--s->waiting.count];
        uint32_t first, last;
        lives_of(s, stretch, &first, &last);
        if (!remove_bottoms(s, stretch, first, last))
            return contradict(s, stretch, first, last, values);
        divide(s, stretch);
    }
    return !s->failed;
}

/* ---- what is outside of the stretches ---- */

static void place_short(struct stacking *s)
{
    for (size_t i = 0; i < s->lifetimes->at.count && !s->failed; i++) {
        const struct rig_object_lifetime *lifetime = &s->lifetimes->at.at[i];
        const uint32_t at = lifetime->add_from > lifetime->take_from ? lifetime->add_from : lifetime->take_from;
        if (rig_object_lifetime_is_long(lifetime))
            continue;
        add_point(s, at, ADDITIONS, ++s->rank, lifetime->add);
        add_point(s, at, ADDITIONS, ++s->rank, lifetime->take);
    }
}

/* At the end of the stretch in which it begins, or where it begins. */
static void place_nothings(struct stacking *s, const struct stretch *all, size_t count)
{
    for (size_t i = 0; i < s->lifetimes->nothings.count && !s->failed; i++) {
        const uint32_t op = s->lifetimes->nothings.at[i], from = s->ops[op].invoke;
        size_t low = 0, high = count;
        while (low < high)
            rig_halve_size(&low, &high, s->at.at[all[rig_middle_size(low, high)].until] <= from);
        const bool within = low < count && s->at.at[all[low].from] < from;
        add_point(s, within ? s->at.at[all[low].until] : from, NOTHINGS, ++s->rank, op);
    }
}

static bool stack_up(struct stacking *s, struct rig_object_values *values)
{
    if (!set_up(s))
        return false;
    if (s->at.count > 0)
        divide(s, (struct stretch){0, (uint32_t)s->at.count - 1});
    if (s->points != NULL && !s->failed) {
        place_nothings(s, s->waiting.at, s->waiting.count);
        place_short(s);
    }
    return !s->failed && remove_all(s, values);
}

/* The lifetimes do not contradict each other otherwise (rig_object_lifetimes_contradict()). Fills in the values of a
 * stretch that is a contradiction; else, if `order` is not NULL and the lifetimes are certain, the order. False when
 * memory runs out. */
static bool object_stack_decide(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops,
                                struct rig_object_values *values, struct rig_object_order *order)
{
    RIG_REQUIRE(!lifetimes->queue && values->count == 0);
    struct points points = {0};
    struct stacking s = {
        .lifetimes = lifetimes, .ops = ops, .points = order != NULL && lifetimes->certain ? &points : NULL};
    bool done = stack_up(&s, values);
    if (points.count > 0)
        qsort(points.at, points.count, sizeof *points.at, compare_points);
    for (size_t i = 0; done && values->count == 0 && i < points.count; i++)
        done = rig_object_order_add(order, points.at[i].op);
    free(s.sorted);
    free(s.begins);
    free(s.least);
    free(s.change);
    positions_done(&s.at);
    stretches_done(&s.waiting);
    points_done(&points);
    return done;
}

struct refuting {
    struct rig_object_model *model;
    const struct rig_object_op *ops;
    uint32_t count;
    const struct rig_object_search_limits *limits;
    struct rig_object_refutation *to;
};

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

/* Keeps the operations on the values, takes of unknown result, and the take `nothing` that found nothing. */
static bool keep(const struct refuting *r, uint32_t nothing)
{
    struct rig_table named;
    bool kept = true;
    rig_table_init(&named);
    for (size_t i = 0; kept && i < r->to->values.count; i++) {
        uint32_t *number = rig_table_put(&named, (uint64_t)r->to->values.at[i]);
        kept = number != NULL;
        if (kept)
            *number = (uint32_t)i;
    }
    for (uint32_t i = 0; kept && i < r->count; i++) {
        const struct rig_txn_op *op = &r->model->classes.at[r->ops[i].class].ops[0];
        struct rig_object_op one = r->ops[i];
        const bool has_value = adds(op) || op->read_state == RIG_READ_SEEN;
        const bool has_unknown = !adds(op) && op->read_state == RIG_READ_UNKNOWN;
        if (has_unknown)
            one.end = RIG_POSITION_NONE;
        if (has_unknown || i == nothing || (has_value && rig_table_get(&named, (uint64_t)op->value) != RIG_TABLE_NONE))
            kept = rig_object_op_list_add(&r->to->ops, one);
    }
    rig_table_done(&named);
    RIG_INVARIANT(r->to->ops.count <= r->count);
    return kept;
}

/* A search confirms that these have no order. */
static bool confirm(const struct refuting *r, uint32_t nothing)
{
    RIG_REQUIRE(r->to->values.count > 0);
    if (!keep(r, nothing))
        return false;
    const struct rig_object_part part = {
        .ops = r->to->ops.at, .count = (uint32_t)r->to->ops.count, .until = RIG_POSITION_NONE};
    const enum rig_object_answer answer = rig_object_search(r->model, &part, r->limits, &r->to->result);
    r->to->found = answer == RIG_OBJECT_REFUTED;
    return answer != RIG_OBJECT_NO_MEMORY;
}

bool rig_object_values_decide(const struct rig_object_key *key, const struct rig_object_search_limits *limits,
                              struct rig_object_refutation *refutation, struct rig_object_order *order, bool *decided)
{
    RIG_REQUIRE(order == NULL || order->count == 0);
    const struct refuting r = {key->model, key->ops, key->count, limits, refutation};
    struct rig_object_lifetimes lifetimes;
    struct rig_object_values *values = &refutation->values;
    uint32_t nothing = UINT32_MAX;
    *refutation = (struct rig_object_refutation){.found = false};
    bool done = rig_object_lifetimes_init(&lifetimes, key->model, key->ops, key->count, key->open) &&
                rig_object_lifetimes_contradict(&lifetimes, key->ops, values, &nothing);
    if (done && values->count == 0 && !lifetimes.queue)
        done = object_stack_decide(&lifetimes, key->ops, values, order);
    *decided = done && values->count == 0 && lifetimes.certain;
    if (done && values->count > 0) {
        done = confirm(&r, nothing);
        *decided = refutation->found;
    }
    RIG_INVARIANT(!refutation->found || refutation->result.blocked < refutation->ops.count);
    rig_object_lifetimes_done(&lifetimes);
    return done;
}

void rig_object_refutation_done(struct rig_object_refutation *refutation)
{
    rig_object_values_done(&refutation->values);
    rig_object_op_list_done(&refutation->ops);
    rig_object_result_done(&refutation->result);
}
