/*
 * Repeated elements in a list. Time O(n) when the key's values are dense and all were appended, else O(n log n).
 */
#ifndef RIG_CHECKER_INFER_REPETITION_H
#define RIG_CHECKER_INFER_REPETITION_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/infer/versions.h"

/* How many leading elements of `list` come before its first repetition; false when memory runs out. */
bool rig_unique_prefix(const struct rig_versions *versions, uint32_t key, struct rig_list list, uint32_t *unique);

#endif
