#include "checker/objects/object_rows.h"

#include "base/bug.h"

static const struct rig_object_fate never = {RIG_POSITION_NONE, RIG_POSITION_NONE, UINT32_MAX};

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

static const struct rig_txn_op *op_of(const struct rig_object_model *from, const struct rig_object_op *op)
{
    return &from->classes.at[op->class].ops[0];
}

/* Numbers the added values. False: one is added twice, or memory ran out. */
static bool note_additions(struct rig_object_rows *rows, const struct rig_object_model *from,
                           const struct rig_object_op *ops, uint32_t count, bool *unique)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_txn_op *op = op_of(from, &ops[i]);
        if (!adds(op))
            continue;
        uint32_t *number = rig_table_put(&rows->fate_of, (uint64_t)op->value);
        if (number == NULL || !rig_object_fate_list_add(&rows->fates, never))
            return false;
        *unique &= *number == RIG_TABLE_NONE;
        *number = (uint32_t)rows->fates.count - 1;
    }
    return true;
}

/* Notes when each value is taken. A value that was never added, or is taken twice, has no order: `unique` is false. */
static void note_takes(struct rig_object_rows *rows, const struct rig_object_model *from,
                       const struct rig_object_op *ops, uint32_t count, bool *unique)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_txn_op *op = op_of(from, &ops[i]);
        rows->may_vanish |= !adds(op) && op->read_state == RIG_READ_UNKNOWN;
        if (adds(op) || op->read_state != RIG_READ_SEEN)
            continue;
        const uint32_t number = rig_table_get(&rows->fate_of, (uint64_t)op->value);
        const bool certain = ops[i].end != RIG_POSITION_NONE;
        struct rig_object_fate *fate = number == RIG_TABLE_NONE ? NULL : &rows->fates.at[number];
        *unique &= !certain || (fate != NULL && fate->end == RIG_POSITION_NONE);
        if (fate != NULL && (certain || fate->op == UINT32_MAX))
            *fate = (struct rig_object_fate){ops[i].invoke, ops[i].end, i};
    }
}

/* Certainly, or perhaps by an operation that tells its value. */
static bool is_taken(const struct rig_object_rows *rows, int64_t value)
{
    const uint32_t number = rig_table_get(&rows->fate_of, (uint64_t)value);
    return number != RIG_TABLE_NONE && rows->fates.at[number].op != UINT32_MAX;
}

static bool change(struct rig_object_rows *rows, const struct rig_object_model *from, const struct rig_object_op *ops,
                   uint32_t count, struct rig_object_model *into)
{
    for (rows->other = INT64_MIN; rig_table_get(&rows->fate_of, (uint64_t)rows->other) != RIG_TABLE_NONE;)
        rows->other++;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_txn_op op = *op_of(from, &ops[i]);
        const bool unknown = !adds(&op) && op.read_state == RIG_READ_UNKNOWN;
        if (unknown)
            op.read_state = RIG_READ_SEEN;
        if (unknown || (adds(&op) && !is_taken(rows, op.value)))
            op.value = rows->other;
        const struct rig_object_op changed = {i, rig_object_class_of(into, &op, 1), ops[i].invoke, ops[i].end};
        if (changed.class == RIG_OBJECT_NONE || !rig_object_op_list_add(&rows->ops, changed))
            return false;
    }
    return true;
}

bool rig_object_rows_init(struct rig_object_rows *rows, const struct rig_object_model *from,
                          const struct rig_object_op *ops, uint32_t count, struct rig_object_model *into, bool *unique)
{
    *rows = (struct rig_object_rows){.may_vanish = false};
    rig_table_init(&rows->fate_of);
    *unique = true;
    if (!note_additions(rows, from, ops, count, unique))
        return false;
    rows->distinct = *unique;
    note_takes(rows, from, ops, count, unique);
    return !*unique || change(rows, from, ops, count, into);
}

void rig_object_rows_done(struct rig_object_rows *rows)
{
    rig_table_done(&rows->fate_of);
    rig_object_fate_list_done(&rows->fates);
    rig_object_op_list_done(&rows->ops);
}

/* Whether `first` is certainly taken before `second`, which is in the same state. */
static bool is_taken_before(const struct rig_object_rows *rows, int64_t first, int64_t second)
{
    const uint32_t a = rig_table_get(&rows->fate_of, (uint64_t)first);
    const uint32_t b = rig_table_get(&rows->fate_of, (uint64_t)second);
    const struct rig_object_fate *x = a == RIG_TABLE_NONE ? &never : &rows->fates.at[a];
    const struct rig_object_fate *y = b == RIG_TABLE_NONE ? &never : &rows->fates.at[b];
    if (x->end == RIG_POSITION_NONE)
        return false;
    return y->end == RIG_POSITION_NONE ? !rows->may_vanish && y->op == UINT32_MAX : x->end < y->invoke;
}

bool rig_object_rows_is_dead(const struct rig_object_rows *rows, bool queue, const int64_t *values, size_t count)
{
    RIG_REQUIRE(count > 0);
    const int64_t fresh = values[count - 1];
    for (size_t i = 0; i + 1 < count; i++) {
        if (queue ? is_taken_before(rows, fresh, values[i]) : is_taken_before(rows, values[i], fresh))
            return true;
    }
    return false;
}
