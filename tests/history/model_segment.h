/*
 * The segments that a reader would make of a model: for the tests of what takes segments.
 */
#ifndef RIG_TESTS_HISTORY_MODEL_SEGMENT_H
#define RIG_TESTS_HISTORY_MODEL_SEGMENT_H

#include "history/segment.h"
#include "tests/history/history_model.h"

/*
 * The stretch of the events [from, to). What parts from a key's spine is a branch or, by `rng`, goes on under a new
 * number of the key. Fails the test when memory runs out.
 */
void model_segment(const struct model *model, uint32_t from, uint32_t to, struct rig_rng *rng,
                   struct rig_segment *segment);

#endif
