#include "checker/objects/object_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/objects/object_locks.h"

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
    RIG_INVARIANT(rows->fates.count <= count);
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
        RIG_INVARIANT(number == RIG_TABLE_NONE || number < rows->fates.count);
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
    RIG_INVARIANT(rows->ops.count == count);
    return true;
}

bool rig_object_rows_init(struct rig_object_rows *rows, const struct rig_object_model *from,
                          const struct rig_object_op *ops, uint32_t count, struct rig_object_model *into, bool *unique)
{
    RIG_REQUIRE(from->workload == into->workload);
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

static const uint32_t none = UINT32_MAX;

struct needing {
    const struct rig_object_model *model;
    const struct rig_object_op *ops;
    uint32_t
        *first; /* per state: the first operation of unknown outcome that leaves it, of those not known to be needed */
    uint32_t *next;    /* per operation: the next one that leaves the same state */
    uint32_t *waiting; /* states that are needed, whose operations have not been looked at */
    uint8_t *needed;   /* per operation */
    uint32_t wait_count;
};

static void need(struct needing *n, uint32_t op)
{
    RIG_INVARIANT(n->needed[op] == 0);
    const struct rig_object_class *class = &n->model->classes.at[n->ops[op].class];
    n->needed[op] = 1;
    if (class->needs < n->model->states.count && n->first[class->needs] != none)
        n->waiting[n->wait_count++] = class->needs;
}

/* Every operation of unknown outcome is taken out of its list at most once. */
static void need_all(struct needing *n)
{
    while (n->wait_count > 0) {
        const uint32_t state = n->waiting[--n->wait_count];
        RIG_INVARIANT(state < n->model->states.count);
        uint32_t op = n->first[state];
        n->first[state] = none;
        for (; op != none; op = n->next[op])
            need(n, op);
    }
}

static void find_needed(struct needing *n, uint32_t count, const uint8_t *used)
{
    memset(n->first, 0xff, n->model->states.count * sizeof *n->first);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t leaves = n->model->classes.at[n->ops[i].class].leaves;
        if (n->ops[i].end != RIG_POSITION_NONE || leaves == RIG_OBJECT_NONE || (used != NULL && used[i]))
            continue;
        RIG_INVARIANT(leaves < n->model->states.count);
        n->next[i] = n->first[leaves];
        n->first[leaves] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (n->ops[i].end != RIG_POSITION_NONE || (used != NULL && used[i]))
            need(n, i);
        need_all(n);
    }
}

bool rig_object_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                       const uint8_t *used, struct rig_object_op_list *needed)
{
    RIG_REQUIRE(needed->count == 0);
    struct needing n = {.model = model, .ops = ops};
    const bool locks = model->workload == RIG_WORKLOAD_LOCK, all = !model->is_register && !locks;
    if (!rig_object_op_list_reserve(needed, (size_t)count + 1))
        return false;
    n.first = all ? NULL : malloc((model->states.count + 1) * sizeof *n.first);
    n.next = all ? NULL : malloc(((size_t)count + 1) * sizeof *n.next);
    n.waiting = all ? NULL : malloc(((size_t)count + 1) * sizeof *n.waiting);
    n.needed = all ? NULL : calloc((size_t)count + 1, 1);
    bool fits = all || (n.first != NULL && n.next != NULL && n.waiting != NULL && n.needed != NULL);
    if (fits && locks && used != NULL)
        memcpy(n.needed, used, count);
    if (fits && locks)
        fits = rig_object_lock_needed(model, ops, count, n.needed);
    else if (fits && !all)
        find_needed(&n, count, used);
    for (uint32_t i = 0; fits && i < count; i++) {
        if (all || n.needed[i])
            needed->at[needed->count++] = ops[i];
    }
    RIG_INVARIANT(needed->count <= count && (!all || !fits || needed->count == count));
    free(n.first);
    free(n.next);
    free(n.waiting);
    free(n.needed);
    return fits;
}
