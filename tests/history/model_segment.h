/*
 * The segments that a reader would make of a model, for the tests of modules that take segments.
 */
#ifndef RIG_TESTS_HISTORY_MODEL_SEGMENT_H
#define RIG_TESTS_HISTORY_MODEL_SEGMENT_H

#include "history/model/segment.h"
#include "tests/history/history_model.h"

/*
 * The segment of the events [from, to). A read that leaves its key's spine becomes a branch or, as `rng` decides,
 * continues under a new number of the key. Fails the test when memory runs out.
 */
void model_segment(const struct model *model, uint32_t from, uint32_t to, struct rig_rng *rng,
                   struct rig_segment *segment);

#endif
