/*
 * The processes of a part, and which of them have something open, in the order of the invocations.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_PART_PROCESSES_H
#define RIG_HISTORY_PART_PROCESSES_H

#include "history/operation_part.h"

enum { RIG_PART_SMALL_PROCESSES = 1 << 16 /* numbers below it are looked up in a table of their own */ };

/* The process, which fits 32 bits; NULL when memory runs out. */
struct rig_part_process *rig_part_find_process(struct rig_part *part, int64_t process);

/* The same, quickest for one that was seen before; NULL also for what does not fit. */
RIG_PART_INLINE struct rig_part_process *rig_part_process_of(struct rig_part *part, int64_t process)
{
    if (process >= 0 && process < RIG_PART_SMALL_PROCESSES) {
        uint32_t place = part->process_of_small[process];
        if (place < part->processes.count && part->processes.at[place].process == process)
            return &part->processes.at[place];
    }
    return process >= INT32_MIN && process <= INT32_MAX ? rig_part_find_process(part, process) : NULL;
}

RIG_PART_INLINE void rig_part_open_process(struct rig_part *part, struct rig_part_process *process)
{
    uint32_t own = (uint32_t)(process - part->processes.at);
    process->open = true;
    process->before = part->last_open;
    process->behind = RIG_TABLE_NONE;
    if (part->last_open == RIG_TABLE_NONE)
        part->first_open = own;
    else
        part->processes.at[part->last_open].behind = own;
    part->last_open = own;
}

RIG_PART_INLINE void rig_part_close_process(struct rig_part *part, struct rig_part_process *process)
{
    process->open = false;
    if (process->before == RIG_TABLE_NONE)
        part->first_open = process->behind;
    else
        part->processes.at[process->before].behind = process->behind;
    if (process->behind == RIG_TABLE_NONE)
        part->last_open = process->before;
    else
        part->processes.at[process->behind].before = process->before;
}

#endif
