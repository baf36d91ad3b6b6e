/*
 * Branches (struct rig_branch of history.h) that grow, while a history is built.
 *
 * Lists that failed transactions read are mostly read by others soon. So a branch may continue with elements that have
 * since joined the spine: lists that leave the spine one after the other are one branch instead of one each. The
 * distance is limited, so that few elements are compared and kept twice.
 *
 * Space: that of the tail. Time: linear in the tails, and RIG_BRANCH_REACH elements. Threads: one at a time.
 */
#ifndef RIG_HISTORY_MODEL_GROWING_BRANCH_H
#define RIG_HISTORY_MODEL_GROWING_BRANCH_H

#include "base/vec.h"
#include "history/model/growing_list.h"
#include "history/model/history.h"

enum { RIG_BRANCH_REACH = 16 };

struct rig_growing_branch {
    uint32_t key;
    uint32_t shared; /* elements of the key's spine that it begins with; it may share more */
    struct rig_growing_list tail;
};

RIG_VEC(struct rig_growing_branch, rig_growing_branches)

static inline uint32_t rig_growing_branch_count(const struct rig_growing_branch *branch)
{
    return branch->shared + branch->tail.count;
}

/*
 * Whether a list of the same key, which shares its first `shared` elements with the spine, is near enough to join this
 * branch and equal to it over their common length.
 */
bool rig_growing_branch_agrees(const struct rig_growing_branch *branch, const struct rig_read_list *list,
                               uint32_t shared);
/* Appends the elements of such a list that the branch lacks. False when memory runs out. */
bool rig_growing_branch_extend(struct rig_list_pool *pool, struct rig_growing_branch *branch,
                               const struct rig_read_list *list);

#endif
