/*
 * When the elements of sets became visible, and for how long they were missing afterwards (verdict.h).
 *
 * Only acknowledged reads count. A long history is measured in windows: each key once, when all transactions that used
 * it are there and no further one will come. The numbers do not depend on the windows.
 *
 * Time: O(elements that reads show and miss), as the inference of sets. Space: 40 bytes an element, for one call, and
 * 37 KiB.
 */
#ifndef RIG_CHECKER_INFER_SET_TIMES_H
#define RIG_CHECKER_INFER_SET_TIMES_H

#include "base/arena.h"
#include "base/histogram.h"
#include "checker/model/verdict.h"

struct rig_inference;

/* The elements so far; zeroed at first. */
struct rig_element_timing {
    struct rig_element_times times;
    struct rig_histogram latencies; /* of stable elements */
    bool began, failed;             /* there were keys; some had no times, or there was no memory for them */
};

/* Adds the elements of the keys that are selected (per key; NULL: all), of all transactions that use them. */
void rig_set_times(const struct rig_inference *inference, const uint8_t *keys, struct rig_arena *arena,
                   struct rig_element_timing *timing);
void rig_set_times_conclude(const struct rig_element_timing *timing, struct rig_element_times *times);

#endif
