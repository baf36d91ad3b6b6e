#include "history/merge/clock_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/bug.h"

/* Samples beyond these say nothing, and would overflow. */
static const int64_t most_ns = INT64_C(1) << 61;

static int compare_samples(const void *left, const void *right)
{
    const struct rig_clock_sample *a = left, *b = right;
    if (a->local_ns != b->local_ns)
        return a->local_ns < b->local_ns ? -1 : 1;
    return (a->error_ns > b->error_ns) - (a->error_ns < b->error_ns);
}

static bool is_usable(const struct rig_clock_sample *sample)
{
    return sample->local_ns > -most_ns && sample->local_ns < most_ns && sample->offset_ns > -most_ns &&
           sample->offset_ns < most_ns && sample->error_ns < (uint64_t)most_ns;
}

/* Before the first sample or after the last one. */
static struct rig_clock_piece beyond(const struct rig_clock_sample *sample, int64_t begin, int64_t end)
{
    return (struct rig_clock_piece){.begin = begin,
                                    .end = end,
                                    .anchor = sample->local_ns,
                                    .offset = sample->offset_ns,
                                    .least = (double)sample->error_ns,
                                    .most = (double)sample->error_ns,
                                    .growth = RIG_CLOCK_RATE,
                                    .left = begin == INT64_MIN ? INFINITY : 0,
                                    .right = end == INT64_MAX ? INFINITY : 0};
}

static struct rig_clock_piece between(const struct rig_clock_sample *a, const struct rig_clock_sample *b,
                                      struct rig_clock_map *map)
{
    const double time = (double)(b->local_ns - a->local_ns), change = (double)(b->offset_ns - a->offset_ns);
    const double error = (double)(a->error_ns > b->error_ns ? a->error_ns : b->error_ns);
    struct rig_clock_piece piece = {.begin = a->local_ns,
                                    .end = b->local_ns,
                                    .anchor = a->local_ns,
                                    .offset = a->offset_ns,
                                    .slope = time > 0 ? change / time : 0,
                                    .least = error,
                                    .most = error,
                                    .growth = RIG_CLOCK_WANDER,
                                    .right = time};
    if (fabs(change) <= RIG_CLOCK_RATE * time)
        return piece;
    /* No line: the errors alone make the difference, or a clock stepped. */
    const double low = fmin(-(double)a->error_ns, change - (double)b->error_ns);
    const double high = fmax((double)a->error_ns, change + (double)b->error_ns);
    piece.slope = 0;
    piece.offset = a->offset_ns + (int64_t)((low + high) / 2);
    piece.least = piece.most = (high - low) / 2 + 1;
    piece.growth = RIG_CLOCK_RATE;
    if (fabs(change) <= (double)a->error_ns + (double)b->error_ns + RIG_CLOCK_RATE * time)
        return piece;
    map->steps++;
    if (fabs(change) > (double)map->largest_step_ns)
        map->largest_step_ns = (int64_t)fabs(change);
    return piece;
}

/* The bound of an earlier piece at its end is the least for `high`, and that of a later one at its beginning the most
 * for `low`. */
static void settle(struct rig_clock_map *map)
{
    struct rig_clock_piece *pieces = map->pieces.at;
    const size_t count = map->pieces.count;
    int64_t highest = INT64_MIN, lowest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        pieces[i].high_before = highest;
        if (pieces[i].end == INT64_MAX)
            continue;
        const int64_t high = rig_clock_piece_bounds(&pieces[i], pieces[i].end).high;
        highest = high > highest ? high : highest;
    }
    for (size_t i = count; i-- > 0;) {
        pieces[i].low_behind = lowest;
        if (pieces[i].begin == INT64_MIN)
            continue;
        const int64_t low = rig_clock_piece_bounds(&pieces[i], pieces[i].begin).low;
        lowest = low < lowest ? low : lowest;
    }
}

static bool add_pieces(const struct rig_clock_sample *samples, size_t count, struct rig_clock_map *map)
{
    if (count == 0)
        return true;
    bool added = rig_clock_pieces_add(&map->pieces, beyond(&samples[0], INT64_MIN, samples[0].local_ns));
    for (size_t i = 0; i + 1 < count && added; i++)
        added = rig_clock_pieces_add(&map->pieces, between(&samples[i], &samples[i + 1], map));
    return added &&
           rig_clock_pieces_add(&map->pieces, beyond(&samples[count - 1], samples[count - 1].local_ns, INT64_MAX));
}

enum rig_rc rig_clock_map_make(const struct rig_rank *rank, const struct rig_clock_sample *samples, size_t count,
                               struct rig_clock_map *map, struct rig_err *err)
{
    *map = (struct rig_clock_map){0};
    if (rank->number == 0 || rank->origin_ns == 0) /* simulated times are rank 0's in all ranks */
        return RIG_OK;
    RIG_REQUIRE(count > 0);
    struct rig_clock_sample *sorted = malloc(count * sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; sorted != NULL && i < count; i++) {
        if (is_usable(&samples[i]))
            sorted[kept++] = samples[i];
    }
    if (sorted != NULL)
        qsort(sorted, kept, sizeof *sorted, compare_samples);
    const bool done = sorted != NULL && add_pieces(sorted, kept, map);
    free(sorted);
    if (!done) {
        rig_clock_map_done(map);
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the clock of rank %u", (unsigned)rank->number);
    }
    settle(map);
    return kept > 0 ? RIG_OK
                    : rig_fail(err, RIG_E_INPUT, "no sample of the clock of rank %u is a possible one",
                               (unsigned)rank->number);
}

void rig_clock_map_done(struct rig_clock_map *map)
{
    rig_clock_pieces_done(&map->pieces);
}
