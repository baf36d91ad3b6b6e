/*
 * The cuts at which a part of merged records begins, and the processes of its transactions. Private to the merge.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_PARTS_H
#define RIG_HISTORY_MERGE_MERGE_PARTS_H

#include "base/err.h"
#include "history/merge/merge_rank.h"

struct rig_merge_process;

/*
 * Times at which the merged order of several records can be entered (history/merge/merge.h), for processes that check
 * parts of it.
 *
 * A cut lies before all events whose time in the merged order is at least the cut's. It names a block of each record
 * before which all events are earlier, so that reading there meets all later ones. Its offset is the sum of those of
 * the blocks: a place in the records, as if they were one file.
 *
 * Space: 16 bytes a cut, and 24 for each of its blocks; a cut for each block of a record, and fewer
 * where that makes more than 1,048,576 blocks. Time: one read of all frame
 * heads and checkpoints.
 */

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

void rig_merge_cuts_done(struct rig_merge_cuts *cuts);

/*
 * The processes of merged records (history/merge/merge.h): each belongs to one rank, and begins a transaction after it
 * has completed the one before.
 *
 * Space: 8 bytes a process, in pages of 4,096. Time: constant; to begin again or list them, linear in the pages between
 * the lowest and the highest process.
 */

struct rig_merge_processes {
    struct rig_merge_process **pages;
    uint32_t first, end; /* those pages that may be there; first > end: none */
};

/* False when memory runs out. Call rig_merge_processes_done() in any case. */
bool rig_merge_processes_init(struct rig_merge_processes *processes);
void rig_merge_processes_done(struct rig_merge_processes *processes);
/* None has begun. */
void rig_merge_processes_reset(struct rig_merge_processes *processes);

/* The same for transactions, at positions of the record, in the order in which they complete, and notes where they
 * do. */
enum rig_rc rig_merge_processes_note(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                     uint32_t rank, const struct rig_txn *txns, size_t count, struct rig_err *err);

#endif
