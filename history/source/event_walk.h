/*
 * A history's events (invocations, completions, faults) in the order of their positions, for writers of formats.
 *
 * Space: 8 bytes a transaction. Threads: a walk belongs to one thread.
 */
#ifndef RIG_HISTORY_SOURCE_EVENT_WALK_H
#define RIG_HISTORY_SOURCE_EVENT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "history/model/history.h"

struct rig_event_walk {
    const struct rig_history *history; /* borrowed */
    uint64_t *invocations;             /* position << 32 | transaction, ascending */
    uint32_t invocation_count;
    uint32_t next_invocation;
    uint32_t next_completion; /* the next transaction; they are in completion order */
    uint32_t next_fault;
};

struct rig_event {
    uint32_t txn;
    uint32_t position;
    bool is_completion;
    const struct rig_fault_event *fault; /* not NULL: the event is this one, not of a transaction */
};

/* False when memory runs out. */
bool rig_event_walk_init(struct rig_event_walk *walk, const struct rig_history *history);
void rig_event_walk_done(struct rig_event_walk *walk);
/* False at the end. */
bool rig_event_walk_next(struct rig_event_walk *walk, struct rig_event *event);

/*
 * The order of events by time, for records whose positions follow from it.
 *
 * Events come in the order of the file, each client's in its own order, so they are nearly sorted: a natural merge sort
 * needs O(n) for sorted input and O(n log r) for r ascending runs. At equal times invocations come before completions,
 * which makes the two transactions concurrent: the weaker claim.
 */

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
