/*
 * Replays an order of the operations on one object: whether it explains them.
 *
 * Every operation that completed is in it once, one of unknown outcome at most once; each is possible in the state that
 * the ones before it leave; and none takes effect before the invocation of another that completed before it. Time: linear.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_REPLAY_H
#define RIG_CHECKER_OBJECTS_OBJECT_REPLAY_H

#include "checker/objects/object_search.h"

/* False when memory runs out. */
bool rig_object_replay(struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const struct rig_object_order *order, bool *explains);

#endif
