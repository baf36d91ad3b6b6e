/*
 * The order of the next events of several ranks (history/merge/merge.h): ascending streams of times, merged in batches.
 *
 * An event is one number: its time since the batch's earliest event, then whether it ends a transaction, then its
 * stream. Streams are merged by twos, without branches: which of two streams has the next event is unpredictable.
 *
 * Space: 16 bytes an event of a batch. Time: linear, times the logarithm of the number of streams. Threads: one at a
 * time.
 */
#ifndef RIG_HISTORY_MERGE_TIME_ORDER_H
#define RIG_HISTORY_MERGE_TIME_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

RIG_VEC(uint64_t, rig_time_events)

/* Stream 2r has the starts of rank r, and stream 2r + 1 its ends. At the same time starts precede ends. */
struct rig_time_stream {
    const int64_t *times; /* of the next events, ascending */
    size_t count;
    int64_t then_ns; /* later events are not before this time; INT64_MAX: there are none */
    size_t taken;    /* events of the batch; filled in */
};

struct rig_time_order {
    struct rig_time_events events, other;
    size_t *ends; /* per run that is being merged: its end in `events` */
    size_t stream_count;
    unsigned stream_bits; /* the lowest bits of an event are its stream */
};

/* False when memory runs out. Call rig_time_order_done() in any case. */
bool rig_time_order_init(struct rig_time_order *order, size_t stream_count);
void rig_time_order_done(struct rig_time_order *order);

/*
 * The next events of all streams in order, before `until_ns`, at most `most_each` of a stream, in order->events. There
 * are none where a stream has to be continued first: the one with the earliest `then_ns` of those whose next events are
 * not known. False when memory runs out.
 */
bool rig_time_order_next(struct rig_time_order *order, struct rig_time_stream *streams, int64_t until_ns,
                         size_t most_each);

static inline uint32_t rig_time_order_stream_of(const struct rig_time_order *order, uint64_t event)
{
    return (uint32_t)event & ((1U << order->stream_bits) - 1);
}

#endif
