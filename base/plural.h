/*
 * Nouns after a number in messages: "1 transaction", "2 transactions".
 */
#ifndef RIG_BASE_PLURAL_H
#define RIG_BASE_PLURAL_H

#include <stdint.h>

/* The ending of a regular noun: "" for one, else "s". */
static inline const char *rig_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The verb after it. */
static inline const char *rig_was_were(uint64_t count)
{
    return count == 1 ? "was" : "were";
}

#endif
