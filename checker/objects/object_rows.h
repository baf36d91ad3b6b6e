/*
 * Queues and stacks whose values are unique: what the order in which values are taken says of the order in which they
 * were added.
 *
 * The order of concurrent additions is open until the values are taken, so a search that does not look ahead has to
 * keep all their permutations. Here an addition is impossible in a state that no later operation can empty: where it
 * places a value after another one (in a stack: on top of it) that is certainly taken after it (before it). Two
 * changes of the operations make more states equal:
 *  - values that nothing is known to take are the same value;
 *  - a take of unknown outcome takes such a value, or nothing, because another value's own take would find it missing.
 *
 * An order of the changed operations is one of the operations themselves, and the other way around: the operations of a
 * key are linearizable if and only if the changed ones are. That holds for all operations of the key, not for a prefix.
 *
 * Source: values as keys of small patterns, Bouajjani, Emmi, Enea & Hamza 2018, "On reducing linearizability to state
 * reachability". Space: 24 bytes an operation. Time: n log n. Threads: one at a time.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_ROWS_H
#define RIG_CHECKER_OBJECTS_OBJECT_ROWS_H

#include "base/table.h"
#include "base/vec.h"
#include "checker/objects/object_model.h"

/* The take of a value. */
struct rig_object_fate {
    uint32_t invoke, end; /* RIG_POSITION_NONE: nothing certainly takes it */
    uint32_t op;          /* UINT32_MAX: nothing does; else one of unknown outcome may have, if there is no end */
};

RIG_VEC(struct rig_object_fate, rig_object_fate_list)

/*
 * Leaves out the operations of unknown outcome on a register or a lock whose effect nothing needs.
 *
 * Without such an operation an order stays an order: until the next write, every other operation accepts the state that
 * it would have replaced, because none needs the state that it leaves. So leaving them out changes no answer, and a
 * search has to try only those that a read, or a compare-and-set, needs. The same holds of a part of the operations
 * (object_search.h): an operation that a later part needs can take effect at the beginning of that part.
 *
 * Space: 12 bytes an operation and 8 a state. Time: linear. Threads: one at a time.
 */

RIG_VEC(struct rig_object_op, rig_object_op_list)

struct rig_object_rows {
    struct rig_table fate_of;          /* value -> index */
    struct rig_object_fate_list fates; /* of the values that were added */
    struct rig_object_op_list ops;     /* the changed operations; txn is the number of the original one */
    int64_t other;                     /* the value in place of those that nothing is known to take */
    bool may_vanish;                   /* takes of unknown outcome may take those */
    bool distinct;                     /* no value is added twice */
};

/* The changed operations, as classes of `into`, which is used for this key alone. `unique`: the values are, else
 * nothing else is filled in. False when memory runs out. rig_object_rows_done() follows in either case. */
bool rig_object_rows_init(struct rig_object_rows *rows, const struct rig_object_model *from,
                          const struct rig_object_op *ops, uint32_t count, struct rig_object_model *into, bool *unique);
void rig_object_rows_done(struct rig_object_rows *rows);

/* Whether no order goes on from the state after the last addition to it: `values` from the front or the bottom on. */
bool rig_object_rows_is_dead(const struct rig_object_rows *rows, bool queue, const int64_t *values, size_t count);

/* Keeps in their order the operations that matter, those with `used` (per operation; NULL: none) in any case; all of
 * them for an object that is no register and no lock. False when memory runs out; rig_object_op_list_done() follows in
 * either case. */
bool rig_object_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const uint8_t *used, struct rig_object_op_list *needed);

#endif
