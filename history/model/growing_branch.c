#include "history/model/growing_branch.h"

bool rig_growing_branch_agrees(const struct rig_growing_branch *branch, const struct rig_read_list *list,
                               uint32_t shared)
{
    if (branch->shared > shared || shared - branch->shared > RIG_BRANCH_REACH)
        return false;
    uint32_t count = rig_growing_branch_count(branch), common = count < list->count ? count : list->count;
    uint32_t i = branch->shared, in_spine = list->shared < common ? list->shared : common;
    const int64_t *tail = branch->tail.at;
    for (; i < in_spine; i++, tail++) {
        if (*tail != list->at[i])
            return false;
    }
    for (; i < common; i++, tail++) {
        if (*tail != list->tail[i - list->shared])
            return false;
    }
    return true;
}

bool rig_growing_branch_extend(struct rig_list_pool *pool, struct rig_growing_branch *branch,
                               const struct rig_read_list *list)
{
    uint32_t known = rig_growing_branch_count(branch);
    if (list->count <= known)
        return true;
    uint32_t more = list->count - known;
    if (!rig_growing_list_has_room(&branch->tail, more) && !rig_growing_list_reserve(pool, &branch->tail, more))
        return false;
    for (int64_t *to = branch->tail.at + branch->tail.count; known < list->count; known++)
        *to++ = rig_read_element(list, known);
    branch->tail.count += more;
    return true;
}
