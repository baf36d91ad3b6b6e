#include "history/merge/time_order.h"

#include <string.h>

#include "base/bug.h"
#include "base/halve.h"

bool rig_time_order_init(struct rig_time_order *order, size_t stream_count)
{
    *order = (struct rig_time_order){.stream_count = stream_count, .stream_bits = 1};
    while (((size_t)1 << order->stream_bits) < stream_count)
        order->stream_bits++;
    RIG_REQUIRE(order->stream_bits < 32);
    order->ends = calloc(stream_count, sizeof *order->ends);
    return order->ends != NULL;
}

void rig_time_order_done(struct rig_time_order *order)
{
    rig_time_events_done(&order->events);
    rig_time_events_done(&order->other);
    free(order->ends);
    order->ends = NULL;
}

/* How many of the times, which ascend, are before the limit. */
static size_t count_before(const int64_t *times, size_t count, int64_t limit_ns)
{
    size_t low = 0, high = count;
    while (low < high)
        rig_halve_size(&low, &high, times[rig_middle_size(low, high)] < limit_ns);
    return low;
}

/* The earliest event of all, alone: others have the same time, or one that is not known yet, from `unknown_ns` on. */
static void take_one(struct rig_time_order *order, struct rig_time_stream *streams, int64_t unknown_ns)
{
    const struct rig_time_stream *first = NULL;
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = kind; i < order->stream_count; i += 2) {
            const struct rig_time_stream *stream = &streams[i];
            if (stream->count > 0 && (first == NULL || stream->times[0] < first->times[0]))
                first = stream;
            if (stream->count == 0 && stream->then_ns < unknown_ns)
                unknown_ns = stream->then_ns;
        }
    }
    if (first == NULL || first->times[0] >= unknown_ns)
        return;
    const size_t number = (size_t)(first - streams);
    streams[number].taken = 1;
    order->events.at[order->events.count++] = number;
}

/* The events of each stream before the limit, one run a stream. Gives the number of runs. */
static size_t gather(struct rig_time_order *order, struct rig_time_stream *streams, int64_t base_ns, int64_t limit_ns,
                     size_t most_each)
{
    const unsigned bits = order->stream_bits;
    uint64_t *to = order->events.at;
    size_t runs = 0;
    for (size_t i = 0; i < order->stream_count; i++) {
        struct rig_time_stream *stream = &streams[i];
        const size_t most = stream->count < most_each ? stream->count : most_each;
        const uint64_t code = (uint64_t)(i & 1) << bits | i;
        stream->taken = count_before(stream->times, most, limit_ns);
        for (size_t event = 0; event < stream->taken; event++)
            *to++ = (uint64_t)(stream->times[event] - base_ns) << (bits + 1) | code;
        if (stream->taken > 0)
            order->ends[runs++] = (size_t)(to - order->events.at);
    }
    order->events.count = (size_t)(to - order->events.at);
    return runs;
}

/* The next event of each run decides which one is next, so the steps of a merge wait for each other. Merging from both
 * ends at once has two steps under way. */
static void merge_two(const uint64_t *restrict a, const uint64_t *a_end, const uint64_t *restrict b,
                      const uint64_t *b_end, uint64_t *restrict to)
{
    uint64_t *to_end = to + (a_end - a) + (b_end - b);
    while (a < a_end && b < b_end) {
        /* Neither run is exhausted before, and the ends do not meet. */
        for (ptrdiff_t steps = a_end - a < b_end - b ? a_end - a : b_end - b; steps > 0; steps--) {
            const uint64_t x = *a, y = *b, x_last = a_end[-1], y_last = b_end[-1];
            const bool second = y < x, second_last = y_last >= x_last;
            *to++ = second ? y : x;
            a += !second;
            b += second;
            *--to_end = second_last ? y_last : x_last;
            a_end -= !second_last;
            b_end -= second_last;
        }
    }
    if (a < a_end)
        memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    if (b < b_end)
        memcpy(to, b, (size_t)(b_end - b) * sizeof *to);
}

static void merge_runs(struct rig_time_order *order, size_t runs)
{
    while (runs > 1) {
        const uint64_t *from = order->events.at;
        uint64_t *to = order->other.at;
        size_t begin = 0, merged = 0;
        for (size_t run = 0; run < runs; run += 2) {
            const size_t middle = order->ends[run], end = order->ends[run + 1 < runs ? run + 1 : run];
            merge_two(from + begin, from + middle, from + middle, from + end, to + begin);
            order->ends[merged++] = begin = end;
        }
        const struct rig_time_events events = order->events;
        order->events = order->other;
        order->events.count = events.count;
        order->other = events;
        runs = merged;
    }
}

bool rig_time_order_next(struct rig_time_order *order, struct rig_time_stream *streams, int64_t until_ns,
                         size_t most_each)
{
    int64_t base_ns = INT64_MAX, limit_ns = until_ns;
    size_t count = 0;
    for (size_t i = 0; i < order->stream_count; i++) {
        struct rig_time_stream *stream = &streams[i];
        const int64_t then_ns = stream->count > most_each ? stream->times[most_each] : stream->then_ns;
        stream->taken = 0;
        limit_ns = then_ns < limit_ns ? then_ns : limit_ns;
        if (stream->count > 0 && stream->times[0] < base_ns)
            base_ns = stream->times[0];
        count += stream->count < most_each ? stream->count : most_each;
    }
    order->events.count = 0;
    if (!rig_time_events_reserve(&order->events, count + 1) || !rig_time_events_reserve(&order->other, count + 1))
        return false;
    if (base_ns >= limit_ns) {
        take_one(order, streams, until_ns);
        return true;
    }
    /* Times since the earliest event take the bits that the rest leaves. */
    const uint64_t span_ns = UINT64_MAX >> (order->stream_bits + 1);
    if ((uint64_t)limit_ns - (uint64_t)base_ns > span_ns)
        limit_ns = (int64_t)((uint64_t)base_ns + span_ns);
    merge_runs(order, gather(order, streams, base_ns, limit_ns, most_each));
    return true;
}
