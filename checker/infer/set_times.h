/*
 * When the elements of sets became visible, and for how long they were missing afterwards (element_times.h).
 *
 * Only acknowledged reads count. Time: O(elements that reads show and miss), as the inference of sets, and sorting the
 * latencies. Space: 36 bytes an element.
 */
#ifndef RIG_CHECKER_INFER_SET_TIMES_H
#define RIG_CHECKER_INFER_SET_TIMES_H

#include "base/arena.h"
#include "checker/element_times.h"

struct rig_inference;

/* For a whole history. Without times in it, or memory for it, nothing is measured. */
void rig_set_times(const struct rig_inference *inference, struct rig_arena *arena, struct rig_element_times *times);

#endif
