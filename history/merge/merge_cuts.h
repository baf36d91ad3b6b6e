/*
 * Times at which the merged order of several records can be entered (history/merge/merge.h), for processes that check parts of it. Private to
 * the merge.
 *
 * A cut lies before all events whose time in the merged order is at least the cut's. It names a block of each record before which all events
 * are earlier, so that reading there meets all later ones. Its offset is the sum of those of the blocks: a place in the
 * records, as if they were one file.
 *
 * Space: 16 bytes a cut, and 24 for each of its blocks; a cut for each block of a record, and fewer
 * where that makes more than 1,048,576 blocks. Time: one read of all frame
 * heads and checkpoints.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_CUTS_H
#define RIG_HISTORY_MERGE_MERGE_CUTS_H

#include "history/merge/merge_rank.h"

struct rig_merge_cut {
    int64_t time_ns;
    size_t offset;
};

RIG_VEC(struct rig_merge_cut, rig_merge_cut_vec)

/* Initialise with {0}. */
struct rig_merge_cuts {
    struct rig_merge_cut_vec at;       /* ascending; the first one lies before everything */
    struct rig_source_entries entries; /* per cut, and per rank: the block */
};

/* Finds them unless they are there. False when memory runs out, and where a record cannot be entered. */
bool rig_merge_cuts_find(struct rig_merge_cuts *cuts, struct rig_merge_rank *ranks, size_t count);
void rig_merge_cuts_done(struct rig_merge_cuts *cuts);

#endif
