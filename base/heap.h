/*
 * Binary min-heap of (when, id): the entry that is due first. Ties go to the lower `id`, so that the order is
 * deterministic.
 *
 * A zeroed heap is empty. Time: O(log n) an entry. Space: 16 bytes an entry. Threads: one.
 */
#ifndef RIG_BASE_HEAP_H
#define RIG_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct rig_due {
    int64_t when;
    uint32_t id;
};

RIG_VEC(struct rig_due, rig_heap)

/* False when memory runs out. */
bool rig_heap_push(struct rig_heap *heap, int64_t when, uint32_t id);
/* Removes the first entry; the heap must not be empty. */
struct rig_due rig_heap_pop(struct rig_heap *heap);
/* Removes the entry of `id`. O(n). False when there is none. */
bool rig_heap_remove(struct rig_heap *heap, uint32_t id);

static inline const struct rig_due *rig_heap_first(const struct rig_heap *heap)
{
    return heap->count == 0 ? NULL : &heap->at[0];
}

#endif
