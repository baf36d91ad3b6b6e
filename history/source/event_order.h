/*
 * The order of events by time, for records whose positions follow from it.
 *
 * Events come in the order of the file, each client's in its own order, so they are nearly sorted: a natural merge sort
 * needs O(n) for sorted input and O(n log r) for r ascending runs. At equal times invocations come before completions,
 * which makes the two transactions concurrent: the weaker claim.
 */
#ifndef RIG_HISTORY_SOURCE_EVENT_ORDER_H
#define RIG_HISTORY_SOURCE_EVENT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct rig_event_time {
    int64_t time_ns;
    uint32_t ordinal;  /* in the file */
    uint32_t kind : 1; /* 0 invocation, 1 completion */
    uint32_t client : 31;
};

/* Whether the events are in order. */
bool rig_event_is_sorted(const struct rig_event_time *events, uint32_t count);
/*
 * Sorts by (time, kind, client), stable. `spare` has room for `count`; the result is in `events` or in `spare`,
 * whichever is returned.
 */
struct rig_event_time *rig_event_sort(struct rig_event_time *events, struct rig_event_time *spare, uint32_t count);

#endif
