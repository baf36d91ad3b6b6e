/*
 * Leaves out the operations of unknown outcome on a register whose effect nothing needs.
 *
 * Without such an operation an order stays an order: until the next write, every other operation accepts the state that it
 * would have replaced, because none needs the state that it leaves. So leaving them out changes no answer, and a search has
 * to try only those that a read, or a compare-and-set, needs. The same holds of a part of the operations (object_search.h):
 * an operation that a later part needs can take effect at the beginning of that part.
 *
 * Space: 12 bytes an operation and 8 a state. Time: linear. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_NEEDED_H
#define RIG_CHECKER_OBJECTS_OBJECT_NEEDED_H

#include "checker/objects/object_ops.h"

RIG_VEC(struct rig_object_op, rig_object_op_list)

/* Keeps in their order the operations that matter, those with `used` (per operation; NULL: none) in any case; all of them
 * for an object that is no register. False when memory runs out; rig_object_op_list_done() follows in either case. */
bool rig_object_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const uint8_t *used, struct rig_object_op_list *needed);

#endif
