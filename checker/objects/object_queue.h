/*
 * An order of the operations on a queue whose values are unique, found without a search.
 *
 * Values leave a queue in the order in which they entered it, so one order of the values decides both. Value a has to
 * come before b if the addition or the take of a completed before that of b began, or the take of a before the addition
 * of b; any order that keeps these relations explains the operations (Gibbons & Korach 1997, section 5, for unique
 * values). A take that found nothing is a place in this order, where all values before it are gone. Takes of unknown
 * outcome are given, in the order of their invocations, to the values that have to be gone and that nothing else takes.
 *
 * It finds an order for most histories that have one, and is complete without takes that found nothing or are of
 * unknown outcome. The caller replays the order, and searches if there is none.
 *
 * Time: n log n. Space: 64 bytes an operation. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_QUEUE_H
#define RIG_CHECKER_OBJECTS_OBJECT_QUEUE_H

#include "checker/objects/object_rows.h"
#include "checker/objects/object_search.h"

/* `rows` has the fates of the values, and its operations those of the key. Fills in `order` where there is one; empty:
 * none was found. False when memory runs out. */
bool rig_object_queue_order(const struct rig_object_rows *rows, const struct rig_object_model *from,
                            const struct rig_object_op *ops, uint32_t count, struct rig_object_order *order);

#endif
