/*
 * One order of all operations of a history of objects, which explains each object and keeps the real-time order: the
 * proof that the history is strictly serializable.
 *
 * Each object is decided by itself (object_key.h). In its order, an operation takes effect at the latest invocation of
 * the operations up to it: after its own invocation, and, as the order keeps real time, before its end. Sorted by these
 * moments, the operations of all objects keep it, too (Herlihy & Wing 1990, theorem 1).
 *
 * Time: that of the decisions, and n log n. Space: 16 bytes an operation beside them. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_ORDER_H
#define RIG_CHECKER_OBJECTS_OBJECT_ORDER_H

#include "base/vec.h"
#include "checker/objects/object_begins.h"
#include "checker/objects/object_decide.h"

RIG_VEC(uint32_t, rig_objects_order)

/* Adds the transactions, a drain once for each of its values. `found`: false where an object is not linearizable, or
 * was not decided within the limits, or has no order. False when memory runs out. */
bool rig_objects_order_find(const struct rig_history *history, struct rig_known_initial initial,
                            const struct rig_objects_limits *limits, struct rig_objects_order *order, bool *found);

/* The same for an order that keeps the one of each process, and not real time (object_sessions.h): all objects are
 * searched together, within the limits. */
bool rig_objects_order_of_sessions(const struct rig_history *history, struct rig_known_initial initial,
                                   const struct rig_objects_limits *limits, struct rig_objects_order *order,
                                   bool *found);

#endif
