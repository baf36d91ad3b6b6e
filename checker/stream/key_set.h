/*
 * A set of keys that only grows and is never large, because it may hold more than was added: which keys a check in
 * windows has forgotten (retired.h).
 *
 * It is a set of ranges. Keys that are numbers and lie close together end up in few of them, however many they are; of
 * text keys there is a hash of 64 bits each. Where there would be too many ranges, those with the smallest gaps between
 * them become one: a query for a key out of such a gap answers that it is there.
 *
 * Space: 16 bytes a range, and never more than was allowed. Time: logarithmic in the ranges; to add, in the long run,
 * likewise. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_KEY_SET_H
#define RIG_CHECKER_STREAM_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { RIG_KEY_SET_BYTES = 16 << 20 }; /* when not said otherwise */

struct rig_key_range {
    uint64_t first, last;
};

RIG_VEC(struct rig_key_range, rig_key_ranges)

/* Zeroed, it is empty. */
struct rig_key_set {
    struct rig_key_ranges ranges; /* sorted, with gaps between them, up to `sorted`; then what was added since */
    size_t sorted;
    size_t most_bytes; /* 0: RIG_KEY_SET_BYTES */
};

void rig_key_set_done(struct rig_key_set *set);
size_t rig_key_set_bytes(const struct rig_key_set *set);
/* A key that is a number, or (`text` not NULL) a text. False when memory runs out. */
bool rig_key_set_add(struct rig_key_set *set, int64_t number, const char *text, size_t length);
/* What was added can be asked for from now on, also where memory runs out: false; it may then be larger than allowed.
 */
bool rig_key_set_settle(struct rig_key_set *set);
bool rig_key_set_has(const struct rig_key_set *set, int64_t number, const char *text, size_t length);

#endif
