/*
 * The processes of merged records (history/merge/merge.h): each belongs to one rank, and begins a transaction after it has completed the one
 * before. Private to the merge.
 *
 * Space: 8 bytes a process, in pages of 4,096. Time: constant.
 */
#ifndef RIG_HISTORY_MERGE_MERGE_PROCESSES_H
#define RIG_HISTORY_MERGE_MERGE_PROCESSES_H

#include "base/err.h"
#include "history/merge/merge_rank.h"

struct rig_merge_process;

struct rig_merge_processes {
    struct rig_merge_process **pages;
};

/* False when memory runs out. Call rig_merge_processes_done() in any case. */
bool rig_merge_processes_init(struct rig_merge_processes *processes);
void rig_merge_processes_done(struct rig_merge_processes *processes);
/* None has begun. */
void rig_merge_processes_reset(struct rig_merge_processes *processes);

/* Whether the process may have a transaction that was invoked at this position of the rank's record. RIG_E_INPUT: the process is of another
 * rank, or completed a later one. */
enum rig_rc rig_merge_processes_check(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                      uint32_t rank, int32_t number, uint32_t invoked, struct rig_err *err);
/* Likewise for transactions, at positions of the record, in the order in which they complete, and notes where they do. */
enum rig_rc rig_merge_processes_note(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                     uint32_t rank, const struct rig_txn *txns, size_t count, struct rig_err *err);
/* Adds those that were noted, in ascending order. False when memory runs out. */
bool rig_merge_processes_list(const struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                              struct rig_rank_processes *list);

#endif
