/*
 * Objects: each operation is possible in the state that those before it in the order leave. A register has a value, a lock is
 * 1 while it is held, a string register has a text, and a queue or a stack has values in a row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "history/value_texts.h"
#include "verify/replay_private.h"

RIG_VEC(int64_t, row)

struct object {
    int64_t value;
    struct row row; /* at[from] to at[count - 1] */
    size_t from;
    struct rig_buf text;
};

struct objects {
    struct rig_replay *r;
    struct object *at; /* per key */
    uint8_t *used;     /* per operation: it took effect */
    int64_t nil;       /* the value of a register that has none */
    bool no_memory;
};

static bool takes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_DEQUEUE || op->kind == RIG_OP_POP;
}

/* A transaction of several takes, each of which stands in the order by itself. */
static bool is_drain(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    for (uint32_t i = 0; i < count; i++) {
        if (!takes(&ops[i]))
            return false;
    }
    return count > 1;
}

static bool use_value(const struct objects *o, struct object *object, const struct rig_txn_op *op)
{
    const int64_t value = op->read_state == RIG_READ_NIL ? o->nil : op->value;
    if (op->kind == RIG_OP_WRITE)
        object->value = value;
    else if (op->kind == RIG_OP_EXPECT || op->read_state != RIG_READ_UNKNOWN)
        return object->value == value;
    return true;
}

/* A text stands in quotes where it is a string; nil is the empty one. */
static bool use_text(struct object *object, const struct rig_txn_op *op)
{
    struct rig_value_digits digits;
    const char *text = op->read_state == RIG_READ_NIL ? "" : rig_value_show(op->value, &digits);
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '"') {
        text++;
        size -= 2;
    }
    if (op->kind == RIG_OP_READ_REGISTER)
        return op->read_state == RIG_READ_UNKNOWN ||
               (object->text.size == size && memcmp(rig_buf_text(&object->text), text, size) == 0);
    if (op->kind == RIG_OP_WRITE)
        rig_buf_clear(&object->text);
    rig_buf_add(&object->text, text, size);
    return true;
}

static bool add_to_row(struct objects *o, struct object *object, const struct rig_txn_op *op)
{
    o->no_memory |= !row_add(&object->row, op->value);
    return true;
}

/* Whether the take is possible now; it takes the first value of a queue, the last one of a stack, or finds none. */
static bool can_take(const struct object *object, const struct rig_txn_op *op)
{
    const bool empty = object->from == object->row.count;
    if (op->read_state != RIG_READ_SEEN)
        return op->read_state == RIG_READ_UNKNOWN || empty;
    return !empty && op->value == (op->kind == RIG_OP_DEQUEUE ? object->row.at[object->from]
                                                              : object->row.at[object->row.count - 1]);
}

static void take(struct object *object, const struct rig_txn_op *op)
{
    if (object->from == object->row.count)
        return;
    if (op->kind == RIG_OP_DEQUEUE)
        object->from++;
    else
        object->row.count--;
}

/* The take of a drain that is possible now, one of a known value before one of an unknown one. */
static bool take_one_of(struct objects *o, uint32_t txn)
{
    const struct rig_history *history = o->r->history;
    uint32_t chosen = RIG_FACT_NONE;
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (!o->used[op] && can_take(&o->at[at->key], at) &&
            (chosen == RIG_FACT_NONE || history->ops[chosen].read_state == RIG_READ_UNKNOWN))
            chosen = op;
    }
    if (chosen == RIG_FACT_NONE)
        return false;
    o->used[chosen] = 1;
    take(&o->at[history->ops[chosen].key], &history->ops[chosen]);
    return true;
}

static bool use(struct objects *o, const struct rig_txn_op *op)
{
    struct object *object = &o->at[op->key];
    if (takes(op)) {
        const bool possible = can_take(object, op);
        take(object, op);
        return possible;
    }
    if (op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH)
        return add_to_row(o, object, op);
    return o->r->history->workload == RIG_WORKLOAD_APPEND_REGISTER ? use_text(object, op) : use_value(o, object, op);
}

static bool execute(struct objects *o, uint32_t txn)
{
    const struct rig_history *history = o->r->history;
    if (is_drain(history, txn))
        return take_one_of(o, txn);
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        if (!use(o, &history->ops[op]))
            return false;
    }
    return true;
}

static enum rig_rc execute_all(struct objects *o)
{
    struct rig_replay *r = o->r;
    for (size_t e = 0; e < r->count; e++) {
        if (!execute(o, r->events[e]))
            return rig_fail(r->err, RIG_E_INPUT, "T%u is not possible at its place in the order",
                            rig_txn_name(r->history, r->events[e]));
        if (o->no_memory || o->at[r->history->ops[r->history->txns[r->events[e]].first_op].key].text.failed)
            return rig_no_memory(r->err, "the replay");
    }
    return RIG_OK;
}

/* Each acknowledged operation stands in the order, those of a drain one by one, and no failed one does. */
static enum rig_rc place_all(const struct rig_replay *r)
{
    const struct rig_history *history = r->history;
    for (size_t e = 0; e < r->count; e++)
        r->times[r->events[e]]++;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const unsigned outcome = history->txns[txn].outcome, name = rig_txn_name(history, txn);
        const uint32_t count = rig_txn_op_count(history, txn), most = is_drain(history, txn) ? count : 1;
        for (uint32_t i = 1; i < count; i++) {
            if (rig_txn_ops(history, txn)[i].key != rig_txn_ops(history, txn)[0].key)
                return rig_fail(r->err, RIG_E_INPUT, "T%u is about several objects", name);
        }
        if (r->times[txn] > 0 && (count == 0 || outcome == RIG_OUTCOME_FAIL))
            return rig_fail(r->err, RIG_E_INPUT, "T%u did nothing and stands in the order", name);
        if (r->times[txn] > most || (outcome == RIG_OUTCOME_OK && count > 0 && r->times[txn] < most))
            return rig_fail(r->err, RIG_E_INPUT, "T%u stands %u times in the order instead of %u", name, r->times[txn],
                            most);
    }
    return RIG_OK;
}

enum rig_rc rig_replay_objects(struct rig_replay *r)
{
    struct objects o = {.r = r,
                        .at = calloc((size_t)r->history->key_count + 1, sizeof *o.at),
                        .used = calloc((size_t)r->history->op_count + 1, 1)};
    enum rig_rc rc = o.at != NULL && o.used != NULL ? place_all(r) : rig_no_memory(r->err, "the replay");
    if (rc == RIG_OK && r->history->workload == RIG_WORKLOAD_CAS_REGISTER && !rig_value_number("nil", 3, &o.nil))
        rc = rig_no_memory(r->err, "the replay");
    for (uint32_t key = 0; rc == RIG_OK && key < r->history->key_count; key++) {
        o.at[key].value = o.nil;
        rig_buf_init(&o.at[key].text, 0);
    }
    if (rc == RIG_OK)
        rc = execute_all(&o);
    for (uint32_t key = 0; o.at != NULL && key < r->history->key_count; key++) {
        row_done(&o.at[key].row);
        rig_buf_done(&o.at[key].text);
    }
    free(o.at);
    free(o.used);
    return rc;
}
