/*
 * A stream of bytes from one producer thread to one consumer thread, without locks.
 *
 * The producer writes what fits and publishes when it likes; the consumer takes what is published. Positions count
 * bytes from the beginning and never wrap in practice (2^64); the ring is addressed by their lower bits.
 *
 * Memory order: publishing releases and reading acquires, so that the consumer sees the bytes and everything that the
 * producer did before.
 */
#ifndef RIG_HISTORY_SOURCE_BYTE_RING_H
#define RIG_HISTORY_SOURCE_BYTE_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RIG_CACHE_LINE_BYTES = 64 };

struct rig_byte_ring {
    alignas(RIG_CACHE_LINE_BYTES) _Atomic uint64_t published; /* written by the producer */
    uint64_t written;                                         /* the producer's: >= published */
    uint64_t taken_seen;                                      /* the producer's last look at `taken` */
    uint8_t *data;
    size_t size;                                          /* a power of two */
    alignas(RIG_CACHE_LINE_BYTES) _Atomic uint64_t taken; /* written by the consumer */
};

/* `size` is rounded up to a power of two, at least 4 KiB. False when memory runs out. */
bool rig_byte_ring_init(struct rig_byte_ring *ring, size_t size);
void rig_byte_ring_done(struct rig_byte_ring *ring);

/* Producer: copies as many of the bytes as fit and returns how many. */
size_t rig_byte_ring_write(struct rig_byte_ring *ring, const void *bytes, size_t count);
/* Producer: the consumer may take everything written. */
void rig_byte_ring_publish(struct rig_byte_ring *ring);

/* Consumer: bytes published and not taken. */
size_t rig_byte_ring_available(const struct rig_byte_ring *ring);
/* Consumer: moves `count` bytes, which must be available, to `to` (NULL: nowhere). */
void rig_byte_ring_take(struct rig_byte_ring *ring, void *to, size_t count);

#endif
