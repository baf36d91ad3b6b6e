#include "history/source/byte_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { SMALLEST_BYTES = 4096 };

bool rig_byte_ring_init(struct rig_byte_ring *ring, size_t size)
{
    RIG_REQUIRE(size <= (size_t)1 << 40);
    size_t rounded = SMALLEST_BYTES;
    while (rounded < size)
        rounded *= 2;
    *ring = (struct rig_byte_ring){.size = rounded};
    ring->data = malloc(rounded);
    return ring->data != NULL;
}

void rig_byte_ring_done(struct rig_byte_ring *ring)
{
    free(ring->data);
    ring->data = NULL;
}

size_t rig_byte_ring_write(struct rig_byte_ring *ring, const void *bytes, size_t count)
{
    size_t room = ring->size - (size_t)(ring->written - ring->taken_seen);
    if (room < count) {
        ring->taken_seen = atomic_load_explicit(&ring->taken, memory_order_acquire);
        room = ring->size - (size_t)(ring->written - ring->taken_seen);
    }
    if (count > room)
        count = room;
    size_t start = (size_t)ring->written & (ring->size - 1);
    size_t first = count < ring->size - start ? count : ring->size - start;
    memcpy(ring->data + start, bytes, first);
    if (first < count)
        memcpy(ring->data, (const uint8_t *)bytes + first, count - first);
    ring->written += count;
    return count;
}

void rig_byte_ring_publish(struct rig_byte_ring *ring)
{
    atomic_store_explicit(&ring->published, ring->written, memory_order_release);
}

size_t rig_byte_ring_available(const struct rig_byte_ring *ring)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    return (size_t)(atomic_load_explicit(&ring->published, memory_order_acquire) - taken);
}

void rig_byte_ring_take(struct rig_byte_ring *ring, void *to, size_t count)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    size_t start = (size_t)taken & (ring->size - 1);
    size_t first = count < ring->size - start ? count : ring->size - start;
    if (to != NULL && count > 0) {
        memcpy(to, ring->data + start, first);
        if (first < count)
            memcpy((uint8_t *)to + first, ring->data, count - first);
    }
    atomic_store_explicit(&ring->taken, taken + count, memory_order_release);
}
