/*
 * Replays an order of the operations on one object: whether it explains them.
 *
 * Every operation that completed is in it once, one of unknown outcome at most once; each is possible in the state that
 * the ones before it leave; and none takes effect before the invocation of another that completed before it. Time:
 * linear.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_REPLAY_H
#define RIG_CHECKER_OBJECTS_OBJECT_REPLAY_H

#include "base/vec.h"
#include "checker/model/verdict.h"
#include "checker/objects/object_search.h"

/* False when memory runs out. */
bool rig_object_replay(struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const struct rig_object_order *order, bool *explains);

/*
 * An order for the operations before the one that cannot take effect, for pictures.
 *
 * The prefix ends just before the blocked operation's completion: operations that are open then may take effect or not.
 * The order is searched once more (object_search.h) and replayed (object_replay.h). No verdict depends on it, so its
 * work is limited, and a prefix that takes more has no order here.
 *
 * Time: that of a search, at most STEPS operations tried; linear in the history. Threads: one at a time.
 */

RIG_VEC(uint32_t, rig_object_prefix)

/* Adds the transactions in the order in which they take effect; a drain is there once for each of its values. False:
 * the history is an excerpt, the witness speaks of a few values, or the limits were not enough.
 * rig_object_prefix_done() follows in either case. */
bool rig_object_prefix_order(const struct rig_history *history, const struct rig_witness *witness,
                             struct rig_object_prefix *order);

#endif
