/*
 * Selection without a branch, where a branch would be mispredicted every other time: compilers turn `?:` into one when
 * that may save a load.
 */
#ifndef RIG_CHECKER_INFER_PICK_H
#define RIG_CHECKER_INFER_PICK_H

#include <stdint.h>

/* All bits for 1, none for 0. */
static inline uint32_t rig_mask(uint32_t condition)
{
    return 0u - condition;
}

/* `condition` is 0 or 1. */
static inline uint32_t rig_pick(uint32_t condition, uint32_t yes, uint32_t no)
{
    return no ^ ((yes ^ no) & rig_mask(condition));
}

static inline int64_t rig_pick_value(uint32_t condition, int64_t yes, int64_t no)
{
    return (int64_t)((uint64_t)no ^ (((uint64_t)yes ^ (uint64_t)no) & (UINT64_C(0) - condition)));
}

#endif
