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

#endif
