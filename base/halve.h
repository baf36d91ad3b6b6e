/*
 * Halving a range until one place is left: the first one for which a condition that ascends does not hold any more.
 *
 *   uint32_t low = 0, high = count;
 *   while (low < high)
 *       rig_halve(&low, &high, positions[rig_middle(low, high)] < position);
 *
 * Now `low` is the first place whose position is not before `position`, or `count`.
 */
#ifndef RIG_BASE_HALVE_H
#define RIG_BASE_HALVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t rig_middle(uint32_t low, uint32_t high)
{
    return low + (high - low) / 2;
}

static inline size_t rig_middle_size(size_t low, size_t high)
{
    return low + (high - low) / 2;
}

/* `is_before`: the place looked for comes after the middle. */
static inline void rig_halve(uint32_t *low, uint32_t *high, bool is_before)
{
    const uint32_t middle = rig_middle(*low, *high);
    *low = is_before ? middle + 1 : *low;
    *high = is_before ? *high : middle;
}

static inline void rig_halve_size(size_t *low, size_t *high, bool is_before)
{
    const size_t middle = rig_middle_size(*low, *high);
    *low = is_before ? middle + 1 : *low;
    *high = is_before ? *high : middle;
}

#endif
