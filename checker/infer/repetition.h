/*
 * Repeated elements in a list. Time O(n) when all were appended and there are marks, or the key's values are dense and
 * few; else O(n log n).
 */
#ifndef RIG_CHECKER_INFER_REPETITION_H
#define RIG_CHECKER_INFER_REPETITION_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/versions.h"

/* Marks for scanning many lists: zeroed, one for each slot of the versions. */
struct rig_marks {
    uint32_t *at; /* NULL: there are none */
    uint32_t latest;
};

/* How many leading elements of `list` come before its first repetition; false when memory runs out. */
bool rig_unique_prefix(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                       struct rig_marks *marks, uint32_t *unique);

#endif
