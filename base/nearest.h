/*
 * The nearest valid name to a mistyped one, for "did you mean".
 *
 * Distance is the optimal string alignment distance (insertions, deletions, substitutions and swaps of neighbours, each
 * 1), with ASCII case ignored. A name is proposed only if the distance is at most a third of its length; one edit is
 * always allowed. Names longer than RIG_NEAREST_BYTES are never proposed.
 *
 * Time: O(length * length) a name. Threads: one a search.
 */
#ifndef RIG_BASE_NEAREST_H
#define RIG_BASE_NEAREST_H

#include <stddef.h>

enum { RIG_NEAREST_BYTES = 64 };

struct rig_nearest {
    const char *wanted;
    const char *best; /* NULL while nothing is near */
    size_t best_distance;
};

/* Borrows `wanted`. */
void rig_nearest_init(struct rig_nearest *nearest, const char *wanted);
/* Borrows `name`; among equally near ones the first offered wins. */
void rig_nearest_offer(struct rig_nearest *nearest, const char *name);
/* The nearest of the NULL-ended `names`, or NULL. */
const char *rig_nearest_of(const char *wanted, const char *const *names);

#endif
