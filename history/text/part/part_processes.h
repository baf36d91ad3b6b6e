/*
 * The processes of a part, and which of them have an open transaction, in the order of the invocations.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_PART_PROCESSES_H
#define RIG_HISTORY_TEXT_PART_PART_PROCESSES_H

#include "history/text/part/operation_part.h"

enum { RIG_PART_SMALL_PROCESSES = 1 << 16 /* numbers below it have a direct table */ };

/* The process invokes while it has an open transaction, which stays open forever. Gives the process a new entry, without
 * an open one; NULL when memory runs out. */
struct rig_part_process *rig_part_abandon(struct rig_part *part, struct rig_part_process *process);

/* The process, which fits 32 bits or has a name; NULL when memory runs out. */
struct rig_part_process *rig_part_find_process(struct rig_part *part, int64_t process);

/* The same, fastest for a known one; NULL also if the number does not fit. */
RIG_PART_INLINE struct rig_part_process *rig_part_process_of(struct rig_part *part, int64_t process)
{
    if (process >= 0 && process < RIG_PART_SMALL_PROCESSES) {
        uint32_t place = part->process_of_small[process];
        if (place < part->processes.count && part->processes.at[place].process == process)
            return &part->processes.at[place];
    }
    return process >= INT32_MIN && process <= INT32_MAX ? rig_part_find_process(part, process) : NULL;
}

/* Marks the process as having an open transaction; false when memory runs out. */
RIG_PART_INLINE bool rig_part_open_process(struct rig_part *part, struct rig_part_process *process)
{
    struct rig_part_invoked *invoked = &part->invoked;
    if (!rig_part_invoked_reserve(invoked, invoked->count + 1))
        return false;
    process->open = true;
    process->invocation = (uint32_t)invoked->count;
    invoked->at[invoked->count++] = (uint32_t)(process - part->processes.at);
    return true;
}

RIG_PART_INLINE void rig_part_close_process(struct rig_part_process *process)
{
    process->open = false;
}

#endif
