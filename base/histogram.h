/*
 * Latency histogram: log-linear buckets of nanoseconds, 128 an octave (after HdrHistogram, Tene).
 *
 * Values from 0 to 2^42 - 1 ns (73 minutes) are kept with a relative error of at most 1/256, those below 256 ns
 * exactly; larger ones count as the largest, though `max` stays exact. Space: 36 KiB, no allocation.
 * rig_histogram_add() costs O(1), a few ns; reading a percentile O(buckets).
 *
 * Threads: one writer. Others may read at any time: they see a recent value of each bucket, not a consistent snapshot.
 */
#ifndef RIG_BASE_HISTOGRAM_H
#define RIG_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    RIG_HISTOGRAM_OCTAVE_BITS = 7,
    RIG_HISTOGRAM_VALUE_BITS = 42,
    RIG_HISTOGRAM_BUCKETS = (RIG_HISTOGRAM_VALUE_BITS - RIG_HISTOGRAM_OCTAVE_BITS + 1) << RIG_HISTOGRAM_OCTAVE_BITS,
};

struct rig_histogram {
    _Atomic uint64_t total;
    _Atomic int64_t sum_ns; /* of 2^63 ns, 292 years, at most */
    _Atomic int64_t max_ns; /* sum of the exact values */
    _Atomic uint64_t buckets[RIG_HISTOGRAM_BUCKETS];
};

/* A zeroed histogram is empty; this makes one so. */
void rig_histogram_init(struct rig_histogram *histogram);
/* Negative values (a clock cannot give them) count as 0. */
void rig_histogram_add(struct rig_histogram *histogram, int64_t value_ns);
/* Adds all of `from`; the caller is the writer of `into`. */
void rig_histogram_merge(struct rig_histogram *into, const struct rig_histogram *from);
/*
 * Subtracts `earlier`, an older copy of the same counts. `max_ns` stays that of the whole.
 */
void rig_histogram_subtract(struct rig_histogram *histogram, const struct rig_histogram *earlier);

uint64_t rig_histogram_count(const struct rig_histogram *histogram);
/* 0 when empty. */
double rig_histogram_mean(const struct rig_histogram *histogram);
int64_t rig_histogram_max(const struct rig_histogram *histogram);
/* The value that `percent` (0..100) of the values do not exceed; 0 when empty; 100 gives the maximum. */
int64_t rig_histogram_percentile(const struct rig_histogram *histogram, double percent);

#endif
