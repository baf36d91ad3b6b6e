/*
 * Reads the numbers of a frame fast. Private to the record's readers.
 *
 * If there is no number where one must be, the cursor keeps the place in `bad`, gives 0 and is at its end from then on;
 * so a caller checks once, after an event, not after each number. Cursors are local variables and passed to inlined
 * functions only, so that they stay in registers.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CURSOR_H
#define RIG_HISTORY_RECORD_RECORD_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Variable-length integers of the binary record: LEB128 (7 bits a byte, lowest first, at most 10 bytes), signed numbers
 * folded so that small magnitudes are small (zigzag). Encodings are minimal: a last byte of 0 after others is refused.
 */

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

#define RIG_ALWAYS_INLINE       static inline __attribute__((always_inline))
#define RIG_LIKELY(condition)   __builtin_expect((condition) != 0, 1)
#define RIG_UNLIKELY(condition) __builtin_expect((condition) != 0, 0)

struct rig_record_cursor {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *bad; /* NULL while every number was valid */
};

struct rig_long_number {
    uint64_t number;
    const uint8_t *next; /* NULL: not a number */
};

/* The number at `at`, of any length. */
struct rig_long_number rig_record_long_number(const uint8_t *at, const uint8_t *end);

RIG_ALWAYS_INLINE uint64_t rig_cursor_number(struct rig_record_cursor *cursor)
{
    if (RIG_LIKELY(cursor->at < cursor->end && *cursor->at < 0x80))
        return *cursor->at++;
    struct rig_long_number number = rig_record_long_number(cursor->at, cursor->end);
    if (RIG_LIKELY(number.next != NULL)) {
        cursor->at = number.next;
        return number.number;
    }
    if (cursor->bad == NULL)
        cursor->bad = cursor->at;
    cursor->at = cursor->end;
    return 0;
}

RIG_ALWAYS_INLINE int64_t rig_cursor_signed(struct rig_record_cursor *cursor)
{
    return rig_unzigzag(rig_cursor_number(cursor));
}

RIG_ALWAYS_INLINE uint64_t rig_cursor_left(const struct rig_record_cursor *cursor)
{
    return (uint64_t)(cursor->end - cursor->at);
}

#endif
