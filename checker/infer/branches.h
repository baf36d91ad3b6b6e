/*
 * Committed reads of branches (history.h), and facts about the branches, found once for each branch instead of once for
 * each read.
 *
 * Time: two passes over the operations and one over each list that committed reads show; n log n where a list's values
 * are sparse. Space: 20 bytes a read, 20 a branch.
 */
#ifndef RIG_CHECKER_INFER_BRANCHES_H
#define RIG_CHECKER_INFER_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/versions.h"

/* One committed read of a branch. */
struct rig_branch_read {
    uint32_t key, txn, op, branch, count;
};

struct rig_branch_reads {
    struct rig_branch_read *at; /* in the order of the history */
    uint32_t count;
};

/* Collects the reads; sets `count` and `unique` of the branches in rig_versions.branches. False when memory runs out.
 */
bool rig_branches_collect(struct rig_arena *arena, struct rig_versions *versions, struct rig_branch_reads *reads);
/* Completes the facts once the keys have their orders, and marks the appends that a branch shows as not unread. */
void rig_branches_inspect(struct rig_versions *versions, const struct rig_branch_reads *reads);

/* The facts about the branch of a committed read. */
static inline const struct rig_branch_facts *rig_branch_facts(const struct rig_versions *versions,
                                                              const struct rig_txn_op *op)
{
    return &versions->branches[rig_txn_op_branch(op)];
}

/* Marks the appends that this list shows as not unread, even when they have no place in the order. */
void rig_mark_unplaced(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list);

/*
 * Repeated elements in a list. Time O(n) when all were appended and there are marks, or the key's values are dense and
 * few; else O(n log n).
 */

/* Marks for scanning many lists: zeroed, one for each slot of the versions. */
struct rig_marks {
    uint32_t *at; /* NULL: there are none */
    uint32_t latest;
};

/* How many leading elements of `list` come before its first repetition; false when memory runs out. */
bool rig_unique_prefix(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                       struct rig_marks *marks, uint32_t *unique);

#endif
