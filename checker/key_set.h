/*
 * A set of keys that only grows, in little space: which keys a check in windows has forgotten (retired.h).
 *
 * Space: of keys that are numbers, a quarter of a byte to half a byte each where they lie close together, 20 to 32
 * where they do not; of text keys, which are known by a hash of 64 bits, 14 to 28. (Who asks for a text may hear that
 * it is there because another one has its hash.) Time: a look-up. Threads: one.
 */
#ifndef RIG_CHECKER_KEY_SET_H
#define RIG_CHECKER_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/vec.h"

RIG_VEC(uint64_t, rig_key_set_words)

/* Zeroed, it is empty. */
struct rig_key_set {
    struct rig_table pages; /* key / 64 -> which word */
    struct rig_key_set_words words;
    struct rig_table texts; /* hashes */
};

void rig_key_set_done(struct rig_key_set *set);
size_t rig_key_set_bytes(const struct rig_key_set *set);
/* A key that is a number, or (`text` not NULL) a text. False when memory runs out. */
bool rig_key_set_add(struct rig_key_set *set, int64_t number, const char *text, size_t length);
bool rig_key_set_has(const struct rig_key_set *set, int64_t number, const char *text, size_t length);

#endif
