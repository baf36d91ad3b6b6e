/*
 * Variable-length integers of the binary record: LEB128 (7 bits a byte, lowest first, at most 10 bytes), signed numbers
 * folded so that small magnitudes are small (zigzag). Encodings are minimal: a last byte of 0 after others is refused.
 */
#ifndef RIG_HISTORY_RECORD_VARINT_H
#define RIG_HISTORY_RECORD_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { RIG_VARINT_BYTES = 10 };

static inline uint64_t rig_zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);
}

static inline int64_t rig_unzigzag(uint64_t folded)
{
    return (int64_t)((folded >> 1) ^ (0 - (folded & 1)));
}

/* Differences wrap around, so that every pair of numbers has one. */
static inline int64_t rig_difference(int64_t number, int64_t base)
{
    return (int64_t)((uint64_t)number - (uint64_t)base);
}

static inline int64_t rig_sum(int64_t base, int64_t difference)
{
    return (int64_t)((uint64_t)base + (uint64_t)difference);
}

/* Writes to `to`, which has room for RIG_VARINT_BYTES; returns the end of the number. */
static inline uint8_t *rig_varint_write(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static inline void rig_varint_put(struct rig_buf *buf, uint64_t number)
{
    uint8_t *to = (uint8_t *)rig_buf_reserve(buf, RIG_VARINT_BYTES);
    if (to != NULL)
        buf->size += (size_t)(rig_varint_write(to, number) - to);
}

static inline void rig_varint_put_signed(struct rig_buf *buf, int64_t number)
{
    rig_varint_put(buf, rig_zigzag(number));
}

/* Reads from `*at`, which moves past the number; false at `end` or for a malformed varint. */
static inline bool rig_varint_get(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
    const uint8_t *from = *at;
    uint64_t result = 0;
    for (unsigned shift = 0; from < end && shift < 64; shift += 7) {
        uint8_t byte = *from++;
        if (shift == 63 && byte > 1)
            return false;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0)
                return false;
            *at = from;
            *number = result;
            return true;
        }
    }
    return false;
}

#endif
