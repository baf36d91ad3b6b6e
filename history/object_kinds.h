/*
 * The kinds of operations that only objects have (history/types.h), for code that serves all types.
 *
 * Constant; any thread.
 */
#ifndef RIG_HISTORY_OBJECT_KINDS_H
#define RIG_HISTORY_OBJECT_KINDS_H

#include "history/history.h"
#include "history/types.h"

/* Whether the type has compare-and-set: a record has it as two writes, of the expected and of the new value. */
static inline bool rig_object_has_cas(enum rig_workload workload)
{
    return rig_object_further_op(workload) == RIG_OP_EXPECT;
}

/* Whether these operations are compare-and-set. */
static inline bool rig_object_is_cas(const struct rig_op *ops, uint32_t count)
{
    return count == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE;
}

/* Makes compare-and-set of the operations of a transaction that a record has. */
static inline void rig_object_restore_cas(struct rig_txn_op *ops, size_t count)
{
    if (count == 2 && ops[0].kind == RIG_OP_WRITE && ops[1].kind == RIG_OP_WRITE)
        ops[0].kind = RIG_OP_EXPECT;
}

/* Whether the operation is one that records cannot hold. */
static inline bool rig_object_is_unrecorded(unsigned kind)
{
    return kind == RIG_OP_EXTEND;
}

/* Whether a completion whose first operation is of this kind may follow an invocation of `invoked_count`: a drain is
 * invoked without operations, because their number is unknown. */
static inline bool rig_object_drains(size_t invoked_count, unsigned first_kind)
{
    return invoked_count == 0 && (first_kind == RIG_OP_DEQUEUE || first_kind == RIG_OP_POP);
}

#endif
