/*
 * The kinds of operations that only objects have (history/types/types.h), for code that serves all types.
 *
 * Constant; any thread.
 */
#ifndef RIG_HISTORY_TYPES_OBJECT_KINDS_H
#define RIG_HISTORY_TYPES_OBJECT_KINDS_H

#include "history/model/history.h"
#include "history/types/types.h"

/* Whether these operations are compare-and-set. */
static inline bool rig_object_is_cas(const struct rig_op *ops, uint32_t count)
{
    return count == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE;
}

/*
 * An operation on a lock is a release (free), work under a token (token), or an acquisition: hold, then perhaps a
 * limit, after which a lease may follow, and at the end the token that it gave.
 */
static inline bool rig_object_is_lock_operation(const struct rig_txn_op *ops, size_t count)
{
    if (count == 1)
        return ops[0].kind == RIG_OP_FREE || ops[0].kind == RIG_OP_TOKEN;
    return count >= 2 && count <= 4 && ops[0].kind == RIG_OP_HOLD && ops[count - 1].kind == RIG_OP_TOKEN &&
           (count < 3 || ops[1].kind == RIG_OP_LIMIT) && (count < 4 || ops[2].kind == RIG_OP_LEASE);
}

/*
 * A record tells only writes from reads: compare-and-set is two writes there, of the expected and of the new value, an
 * append to a string two writes of its value, and an acquisition of a lock, or a call, is writes and a read.
 */

/* Whether the operation is two in a record. */
static inline bool rig_object_is_recorded_twice(enum rig_op_kind kind)
{
    return kind == RIG_OP_EXTEND;
}

/* The kind of such an operation in a record. */
static inline enum rig_op_kind rig_object_recorded_kind(enum rig_op_kind kind)
{
    return kind == RIG_OP_EXTEND ? RIG_OP_WRITE : kind;
}

/* Whether the objects are locks with owners. */
static inline bool rig_object_has_owners(enum rig_workload workload)
{
    return rig_object_further_op(workload) == RIG_OP_HOLD;
}

/* Whether the micro-operations are a call of a model: its name, its arguments, and perhaps its result. */
static inline bool rig_object_is_call(const struct rig_txn_op *ops, size_t count)
{
    bool is_call = count >= 1 && ops[0].kind == RIG_OP_CALL;
    for (size_t i = 1; is_call && i < count; i++)
        is_call = ops[i].kind == RIG_OP_ARGUMENT || (ops[i].kind == RIG_OP_RESULT && i + 1 == count);
    return is_call;
}

/* Whether a record of the workload can hold these operations of a transaction. */
static inline bool rig_object_is_recorded(enum rig_workload workload, const struct rig_txn_op *ops, size_t count)
{
    if (rig_object_further_op(workload) == RIG_OP_KIND_COUNT)
        return true;
    if (rig_object_has_owners(workload))
        return count == 0 || rig_object_is_lock_operation(ops, count);
    if (rig_workload_has_specification(workload))
        return count == 0 || rig_object_is_call(ops, count);
    if (count == 2 && ops[0].kind == RIG_OP_WRITE && ops[1].kind == RIG_OP_WRITE)
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((ops[i].kind == RIG_OP_EXTEND && count > 1) || (ops[i].kind == RIG_OP_EXPECT && !(i == 0 && count == 2)))
            return false;
    }
    return true;
}

/* Makes the operations of a transaction on a lock of those that a record has. Returns their number. */
static inline size_t rig_object_restore_lock(struct rig_txn_op *ops, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        ops[i].kind = (uint8_t)(RIG_OP_HOLD + i);
    return count;
}

/* Makes the operations of a transaction of those that a record has. Returns their number, at most `count`. */
static inline size_t rig_object_restore(enum rig_workload workload, struct rig_txn_op *ops, size_t count)
{
    if (rig_object_has_owners(workload))
        return rig_object_restore_lock(ops, count);
    if (rig_workload_has_specification(workload)) {
        for (size_t i = 1; i < count; i++)
            ops[i].kind = ops[i].kind == RIG_OP_RESULT ? RIG_OP_RESULT : RIG_OP_ARGUMENT;
        return count;
    }
    if (count != 2 || ops[0].kind != RIG_OP_WRITE || ops[1].kind != RIG_OP_WRITE)
        return count;
    ops[0].kind = (uint8_t)rig_object_further_op(workload);
    return ops[0].kind == RIG_OP_EXTEND ? 1 : 2;
}

static inline bool rig_object_takes(unsigned kind)
{
    return kind == RIG_OP_DEQUEUE || kind == RIG_OP_POP;
}

/* Whether a completion whose first operation is of this kind may have other operations than were invoked: a drain is
 * invoked as two takes, because their number is unknown. */
static inline bool rig_object_drains(size_t invoked_count, unsigned invoked_first, unsigned first_kind)
{
    return invoked_count == 2 && invoked_first == first_kind && rig_object_takes(first_kind);
}

/* Whether these operations of a transaction of unknown outcome are a drain: it may have taken any number of values. */
static inline bool rig_object_is_open_drain(enum rig_outcome outcome, const struct rig_txn_op *ops, size_t count)
{
    return outcome == RIG_OUTCOME_INFO && count == 2 && rig_object_takes(ops[0].kind) &&
           rig_object_takes(ops[1].kind) && ops[0].read_state == RIG_READ_UNKNOWN &&
           ops[1].read_state == RIG_READ_UNKNOWN;
}

#endif
