#include "base/histogram.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"

enum { OCTAVE = 1 << RIG_HISTOGRAM_OCTAVE_BITS };
static const int64_t largest_ns = (INT64_C(1) << RIG_HISTOGRAM_VALUE_BITS) - 1;

static uint64_t load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* One writer: a load and a store, not a locked addition. */
static void increase(_Atomic uint64_t *number, uint64_t by)
{
    atomic_store_explicit(number, load(number) + by, memory_order_relaxed);
}

static void increase_sum(_Atomic int64_t *number, int64_t by)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by, memory_order_relaxed);
}

static void raise_max(struct rig_histogram *histogram, int64_t value_ns)
{
    if (value_ns > atomic_load_explicit(&histogram->max_ns, memory_order_relaxed))
        atomic_store_explicit(&histogram->max_ns, value_ns, memory_order_relaxed);
}

/*
 * The first two octaves' worth of values have a bucket each; above them, the leading 8 bits of the value choose a
 * bucket that is 2^shift wide.
 */
static size_t bucket_of(int64_t value_ns)
{
    uint64_t value = value_ns > largest_ns ? (uint64_t)largest_ns : (uint64_t)value_ns;
    if (value < 2 * OCTAVE)
        return (size_t)value;
    unsigned shift = 63U - (unsigned)__builtin_clzll(value) - RIG_HISTOGRAM_OCTAVE_BITS;
    return shift * (size_t)OCTAVE + (size_t)(value >> shift);
}

/* The middle of a bucket: at most half a width, 1/256 of the value, from anything in it. */
static int64_t middle_of(size_t bucket)
{
    if (bucket < 2 * OCTAVE)
        return (int64_t)bucket;
    unsigned shift = (unsigned)(bucket / OCTAVE) - 1;
    int64_t low = (int64_t)(bucket - shift * (size_t)OCTAVE) << shift;
    return low + ((INT64_C(1) << shift) >> 1);
}

void rig_histogram_init(struct rig_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void rig_histogram_add(struct rig_histogram *histogram, int64_t value_ns)
{
    if (value_ns < 0)
        value_ns = 0;
    increase(&histogram->buckets[bucket_of(value_ns)], 1);
    increase(&histogram->total, 1);
    increase_sum(&histogram->sum_ns, value_ns);
    raise_max(histogram, value_ns);
}

void rig_histogram_merge(struct rig_histogram *into, const struct rig_histogram *from)
{
    for (size_t i = 0; i < RIG_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = load(&from->buckets[i]);
        if (count > 0)
            increase(&into->buckets[i], count);
    }
    increase(&into->total, load(&from->total));
    increase_sum(&into->sum_ns, atomic_load_explicit(&from->sum_ns, memory_order_relaxed));
    raise_max(into, rig_histogram_max(from));
}

void rig_histogram_subtract(struct rig_histogram *histogram, const struct rig_histogram *earlier)
{
    for (size_t i = 0; i < RIG_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = load(&earlier->buckets[i]);
        RIG_REQUIRE(count <= load(&histogram->buckets[i]));
        if (count > 0)
            increase(&histogram->buckets[i], 0 - count);
    }
    increase(&histogram->total, 0 - load(&earlier->total));
    increase_sum(&histogram->sum_ns, -atomic_load_explicit(&earlier->sum_ns, memory_order_relaxed));
}

uint64_t rig_histogram_count(const struct rig_histogram *histogram)
{
    return load(&histogram->total);
}

double rig_histogram_mean(const struct rig_histogram *histogram)
{
    uint64_t total = load(&histogram->total);
    return total == 0 ? 0 : (double)atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed) / (double)total;
}

int64_t rig_histogram_max(const struct rig_histogram *histogram)
{
    return atomic_load_explicit(&histogram->max_ns, memory_order_relaxed);
}

int64_t rig_histogram_percentile(const struct rig_histogram *histogram, double percent)
{
    RIG_REQUIRE(percent >= 0 && percent <= 100);
    /* The buckets are summed anew: a reader beside the writer may find a total that is ahead of them. */
    uint64_t total = 0;
    for (size_t i = 0; i < RIG_HISTOGRAM_BUCKETS; i++)
        total += load(&histogram->buckets[i]);
    if (total == 0)
        return 0;
    /* The ten-thousandth undoes the rounding of percents such as 99.9, which binary fractions only approach. */
    double exact_rank = ceil(percent * (double)total / 100 - 1e-4);
    uint64_t rank = exact_rank <= 1 ? 1 : (uint64_t)exact_rank;
    if (rank >= total)
        return rig_histogram_max(histogram);
    uint64_t below = 0;
    for (size_t i = 0; i < RIG_HISTOGRAM_BUCKETS; i++) {
        below += load(&histogram->buckets[i]);
        if (below >= rank) {
            int64_t value = middle_of(i);
            int64_t max = rig_histogram_max(histogram);
            return value < max ? value : max;
        }
    }
    return rig_histogram_max(histogram);
}
