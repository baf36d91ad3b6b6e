#include "base/heap.h"

#include "base/bug.h"

static bool comes_before(struct rig_due a, struct rig_due b)
{
    return a.when != b.when ? a.when < b.when : a.id < b.id;
}

static void sift_up(struct rig_heap *heap, size_t at)
{
    const struct rig_due entry = heap->at[at];
    while (at > 0 && comes_before(entry, heap->at[(at - 1) / 2])) {
        heap->at[at] = heap->at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->at[at] = entry;
}

static void sift_down(struct rig_heap *heap, size_t at)
{
    const struct rig_due entry = heap->at[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && comes_before(heap->at[child + 1], heap->at[child]))
            child++;
        if (!comes_before(heap->at[child], entry))
            break;
        heap->at[at] = heap->at[child];
        at = child;
    }
    heap->at[at] = entry;
}

bool rig_heap_push(struct rig_heap *heap, int64_t when, uint32_t id)
{
    if (!rig_heap_add(heap, (struct rig_due){.when = when, .id = id}))
        return false;
    sift_up(heap, heap->count - 1);
    return true;
}

static void take_out(struct rig_heap *heap, size_t at)
{
    heap->count--;
    if (at == heap->count)
        return;
    heap->at[at] = heap->at[heap->count];
    sift_up(heap, at);
    sift_down(heap, at);
}

struct rig_due rig_heap_pop(struct rig_heap *heap)
{
    RIG_REQUIRE(heap->count > 0);
    const struct rig_due first = heap->at[0];
    take_out(heap, 0);
    return first;
}

bool rig_heap_remove(struct rig_heap *heap, uint32_t id)
{
    for (size_t at = 0; at < heap->count; at++) {
        if (heap->at[at].id == id) {
            take_out(heap, at);
            return true;
        }
    }
    return false;
}
