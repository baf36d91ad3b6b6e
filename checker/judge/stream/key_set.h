/*
 * A set of keys that only grows and has a size limit, because it may answer that it holds keys that were never added.
 * It holds the keys that a check in windows has forgotten (retired.h).
 *
 * The set consists of ranges. Numeric keys that lie close together share few ranges; a text key is a 64-bit hash. When
 * there are too many ranges, those with the smallest gaps between them are joined, and the set then seems to hold the
 * keys in these gaps.
 *
 * Space: 16 bytes a range, and never more than allowed. Time: logarithmic in the ranges, for adding amortised. Threads:
 * one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_KEY_SET_H
#define RIG_CHECKER_JUDGE_STREAM_KEY_SET_H

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
/* Makes the added keys visible to queries. False when memory runs out: they are visible, but the set may be larger than
 * allowed. */
bool rig_key_set_settle(struct rig_key_set *set);
bool rig_key_set_has(const struct rig_key_set *set, int64_t number, const char *text, size_t length);

#endif
