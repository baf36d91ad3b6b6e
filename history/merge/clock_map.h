/*
 * Bounds of rank 0's clock at each time of another rank's, from samples of their difference
 * (history/merge/rank_facts.h).
 *
 * Between two samples the difference is taken to run along the line through both; it may leave that line by the larger
 * error of the two, and by RIG_CLOCK_WANDER for the time to the nearer sample. Before the first and after the last
 * sample it may drift by RIG_CLOCK_RATE. Two samples that differ by more than their errors and RIG_CLOCK_RATE explain
 * are a step of a clock: between them the difference may be anything from the lowest to the highest that they allow.
 *
 * Both bounds ascend with the rank's clock: one that would be below an earlier one stays there, which only widens
 * them.
 *
 * Space: 96 bytes a sample. Time: that of looking at the next samples, if times ascend.
 */
#ifndef RIG_HISTORY_MERGE_CLOCK_MAP_H
#define RIG_HISTORY_MERGE_CLOCK_MAP_H

#include "base/err.h"
#include "history/merge/rank_facts.h"

/* Shares of the time passed: by how much the rates of two clocks may differ, and by how much this difference may change
 * from one sample to the next. Clocks that follow a time server are slewed by at most 500 ppm each. */
#define RIG_CLOCK_RATE   1e-3
#define RIG_CLOCK_WANDER 1e-4

/* From `begin` to the next piece: the difference is `offset` and what the slopes add to it. */
struct rig_clock_piece {
    int64_t begin, end; /* the rank's clock; INT64_MIN and INT64_MAX at the ends */
    int64_t anchor;     /* the rank's clock where the difference is `offset` */
    int64_t offset;
    double slope;
    double least, most; /* by which the difference may be below and above the line, at the ends of the piece */
    double growth;      /* of `least` and `most`, with the distance from the nearer end */
    double left, right; /* distances of the anchor from the ends; INFINITY where there is none */
    int64_t high_before, low_behind; /* no bound is below the one, above the other, whatever this piece says */
};

RIG_VEC(struct rig_clock_piece, rig_clock_pieces)

struct rig_clock_map {
    struct rig_clock_pieces pieces; /* none: the clock is rank 0's own */
    size_t at;                      /* of the last time asked for */
    uint32_t steps;                 /* how often a clock stepped */
    int64_t largest_step_ns;        /* the largest of these steps */
};

struct rig_clock_bounds {
    int64_t low, likely, high; /* rank 0's clock */
};

/* `count` samples, at least one unless the rank is 0, in any order. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_clock_map_make(const struct rig_rank *rank, const struct rig_clock_sample *samples, size_t count,
                               struct rig_clock_map *map, struct rig_err *err);
void rig_clock_map_done(struct rig_clock_map *map);

/* As floor() and ceil(), which are calls: each event of a merge has three bounds. */
static inline int64_t rig_clock_floor(double x)
{
    const int64_t whole = (int64_t)x;
    return whole - (x < (double)whole);
}

static inline int64_t rig_clock_ceil(double x)
{
    const int64_t whole = (int64_t)x;
    return whole + (x > (double)whole);
}

/* By this piece alone, for a time in it. */
static inline struct rig_clock_bounds rig_clock_piece_bounds(const struct rig_clock_piece *piece, int64_t local_ns)
{
    const double since = (double)(local_ns - piece->anchor), along = piece->slope * since;
    const double left = piece->left + since, right = piece->right - since;
    const double wander = piece->growth * (left < right ? left : right);
    const int64_t at = local_ns + piece->offset;
    return (struct rig_clock_bounds){.low = at + rig_clock_floor(along - piece->least - wander),
                                     .likely = at + (int64_t)along,
                                     .high = at + rig_clock_ceil(along + piece->most + wander)};
}

/* For times that a clock of 64 bits reaches: below 2^61 either way. */
static inline struct rig_clock_bounds rig_clock_map_bounds(struct rig_clock_map *map, int64_t local_ns)
{
    if (map->pieces.count == 0)
        return (struct rig_clock_bounds){local_ns, local_ns, local_ns};
    const struct rig_clock_piece *piece = &map->pieces.at[map->at];
    while (piece->end < local_ns)
        piece++;
    while (piece->begin > local_ns)
        piece--;
    map->at = (size_t)(piece - map->pieces.at);
    struct rig_clock_bounds bounds = rig_clock_piece_bounds(piece, local_ns);
    bounds.high = bounds.high > piece->high_before ? bounds.high : piece->high_before;
    bounds.low = bounds.low < piece->low_behind ? bounds.low : piece->low_behind;
    return bounds;
}

#endif
