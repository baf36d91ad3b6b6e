/*
 * Reads of lists that are stored whole (history.h): the committed ones, and what is to be known of the lists once
 * instead of once a read.
 *
 * Time: two passes over the operations and one over each list that committed reads show; n log n where a list's values
 * are sparse. Space: 20 bytes a read, 20 a list.
 */
#ifndef RIG_CHECKER_INFER_WHOLE_LISTS_H
#define RIG_CHECKER_INFER_WHOLE_LISTS_H

#include "checker/infer/versions.h"

/* One committed read of a list that is stored whole. */
struct rig_whole_read {
    uint32_t key, txn, op, list, count;
};

struct rig_whole_reads {
    struct rig_whole_read *at; /* in the order of the history */
    uint32_t count;
};

/* Collects the reads; sets `count` and `unique` of the lists in rig_versions.wholes. False when memory runs out. */
bool rig_whole_lists_collect(struct rig_arena *arena, struct rig_versions *versions, struct rig_whole_reads *reads);
/* Once the keys have their orders: what else there is to be known, and no append that a list shows counts as unread. */
void rig_whole_lists_inspect(struct rig_versions *versions, const struct rig_whole_reads *reads);

static inline uint32_t rig_whole_list_of(const struct rig_mop *op)
{
    return op->list & ~RIG_LIST_WHOLE;
}

/* Of a committed read of a list that is stored whole. */
static inline const struct rig_whole_list *rig_whole_list(const struct rig_versions *versions, const struct rig_mop *op)
{
    return &versions->wholes[rig_whole_list_of(op)];
}

/* Appends that this list shows are not unread, though they may have no place in the order. */
void rig_mark_unplaced(const struct rig_versions *versions, uint32_t key, struct rig_list list);

#endif
