/*
 * The operations on a queue or a stack that later ones cannot contradict, so that a window may forget them.
 *
 * All operations so far have an order, the values are unique, and no take is of unknown outcome. Operations that
 * are open now, of transactions from `open_txn` on, were invoked after `until`; an addition that is open may fail yet.
 *  - Queue: a value that was taken by then, and a take that found nothing by then. Each contradiction of a queue
 *    (object_lifetimes.h) that involves one of these is among the operations so far: a value that is still there counts as taken
 *    after `until`, as it will be. A take that found nothing and ends after `until` may find its only place there, and
 *    lose it to a value that is never taken; values that were there since it began are kept.
 *  - Stack: while no operation on the stack is open, the set of its values is known. Between two such moments, operations
 *    on values that are both added and taken there leave the stack as it was, so they can be left out; then the next ones
 *    may stand between two such moments.
 *
 * Time: linear. Space: 12 bytes an operation. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_DONE_H
#define RIG_CHECKER_OBJECTS_OBJECT_DONE_H

#include "checker/objects/object_lifetimes.h"

/* Marks per operation those that are done: both of a value, and all of a transaction, or none. False when memory runs
 * out. */
bool rig_object_done_find(const struct rig_object_lifetimes *lifetimes, const struct rig_object_op *ops, uint32_t count,
                          uint32_t until, uint32_t open_txn, uint8_t *done);

#endif
