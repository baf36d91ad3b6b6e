/*
 * A stretch of merged records (history/merge/merge.h) while it is put together: transactions copied from the pieces of
 * all ranks, with keys, branches and errors numbered anew. Private to the merge.
 *
 * Lists and error texts stay where they are, and the output uses them until it is emptied.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_OUTPUT_H
#define RIG_HISTORY_MERGE_MERGE_OUTPUT_H

#include "history/merge/merge_rank.h"

struct rig_used_lists {
    struct rig_merge_lists *lists;
    uint32_t rank;
};
RIG_VEC(struct rig_used_lists, rig_used_lists_vec)

struct rig_merge_output {
    struct rig_segment segment;
    struct rig_used_lists_vec lists;
    struct rig_merge_ids elements;   /* per key: the most that was read of its spine */
    uint64_t number;                 /* no other output of the merge has it; from 1 */
    bool sequences;                  /* reads return lists */
    struct rig_merge_ids branch_ops; /* scratch */
    bool any_columns;                /* in a piece that it uses */
};

void rig_merge_output_init(struct rig_merge_output *out, bool sequences);
void rig_merge_output_done(struct rig_merge_output *out);
/* For the next stretch. Lists that are not used any longer go back to `ranks`. */
void rig_merge_output_empty(struct rig_merge_output *out, struct rig_merge_rank *ranks, uint64_t number);

/* All of these: false when memory runs out. */

#endif
