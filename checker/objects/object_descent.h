/*
 * Looks for an order of the operations on one object depth first (Wing & Gong 1993, with Lowe's memo, 2017): one order
 * at a time, where object_search.h follows all of them together. Many operations of unknown outcome, or of values that
 * repeat, make far more configurations than an order needs to meet. It answers yes, or nothing.
 *
 * Operations that completed are tried first, the one that completes first before the others, then those of unknown
 * outcome; of these that do the same, only the one that was invoked first. One that only observes takes effect as soon
 * as the state allows it, and then nothing else is tried. The memo compares hashes: if two are equal, an order may be
 * missed, and none is wrong, because the caller replays it.
 *
 * Time: exponential in the worst case. Space: 60 bytes an operation, and 12 to 24 bytes a configuration met. Threads:
 * one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_DESCENT_H
#define RIG_CHECKER_OBJECTS_OBJECT_DESCENT_H

#include "checker/objects/object_search.h"

/* LINEARIZABLE, with the order; TIME: it found none; or NO_MEMORY. Operations are in the order of their invocations,
 * and all of them are there. */
enum rig_object_answer rig_object_descend(struct rig_object_model *model, const struct rig_object_op *ops,
                                          uint32_t count, const struct rig_object_search_limits *limits,
                                          struct rig_object_order *order);

#endif
