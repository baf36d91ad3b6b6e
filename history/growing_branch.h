/*
 * Branches (struct rig_branch of history.h) that grow, while a history is built.
 *
 * What failed transactions read is mostly what others read soon. So a branch may go on with what has become part of the
 * spine since: lists that part from the spine one behind the other are one branch, instead of one each. But not far, so
 * that little is compared, and kept twice.
 *
 * Space: that of the tail. Time: linear in the tails, and RIG_BRANCH_REACH elements. Threads: one at a time.
 */
#ifndef RIG_HISTORY_GROWING_BRANCH_H
#define RIG_HISTORY_GROWING_BRANCH_H

#include "base/vec.h"
#include "history/growing_list.h"
#include "history/history.h"

enum { RIG_BRANCH_REACH = 16 };

struct rig_growing_branch {
    uint32_t key;
    uint32_t shared; /* elements of the key's spine that it begins with; it may have more in common with it */
    struct rig_growing_list tail;
};

RIG_VEC(struct rig_growing_branch, rig_growing_branches)

static inline uint32_t rig_growing_branch_count(const struct rig_growing_branch *branch)
{
    return branch->shared + branch->tail.count;
}

/*
 * Whether a list of the same key, which has its first `shared` elements in common with the spine, is near enough to be
 * this branch, and equal to it as far as both go.
 */
bool rig_growing_branch_agrees(const struct rig_growing_branch *branch, const struct rig_read_list *list,
                               uint32_t shared);
/* Adds what such a list has and the branch has not. False when memory runs out. */
bool rig_growing_branch_extend(struct rig_list_pool *pool, struct rig_growing_branch *branch,
                               const struct rig_read_list *list);

#endif
