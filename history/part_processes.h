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
void rig_part_open_process(struct rig_part *part, struct rig_part_process *process);
void rig_part_close_process(struct rig_part *part, struct rig_part_process *process);

#endif
