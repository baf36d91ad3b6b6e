/*
 * Operations that are complete become transactions of the part: what completes is paired with what was invoked.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_PART_TAKE_H
#define RIG_HISTORY_PART_TAKE_H

#include "history/operation_part.h"

/*
 * The operation is complete; its `count` micro-operations stand behind those of the segment. `text` is not NULL where
 * they were not parsed: an invocation's, as they stand in the file. They are parsed when its completion is not, byte
 * for byte, what was invoked, or does not come.
 */
void rig_part_take(struct rig_part *part, const struct rig_operation_fields *fields, uint32_t count, const char *text,
                   const char *text_end);
/* The operation that the part's parser has read. */
void rig_part_take_parsed(struct rig_part *part);
/* Parses what the process invoked. `first` operations behind those of the segment are somebody else's. */
void rig_part_parse_invoked(struct rig_part *part, struct rig_part_process *process, uint32_t first);

static inline const struct rig_mop *rig_part_ops(const struct rig_part *part, const struct rig_part_process *process)
{
    return process->op_count <= RIG_PART_SHORT_OPS ? process->short_ops : part->long_ops.at + process->long_ops;
}

#endif
