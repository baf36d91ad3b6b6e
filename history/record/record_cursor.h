/*
 * Reads the numbers of a frame fast. Private to the record's readers.
 *
 * If there is no number where one must be, the cursor keeps the place in `bad`, gives 0 and is at its end from then on;
 * so a caller checks once, after an event, not after each number. Cursors are local variables and passed to inlined
 * functions only, so that they stay in registers.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CURSOR_H
#define RIG_HISTORY_RECORD_RECORD_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "history/record/varint.h"

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
