#include "checker/prove/replay_object.h"

#include <string.h>

#include "base/bug.h"
#include "history/model/value_texts.h"

bool rig_replay_object_nil(enum rig_workload workload, int64_t *nil)
{
    *nil = 0;
    return workload != RIG_WORKLOAD_CAS_REGISTER || rig_value_number("nil", 3, nil);
}

bool rig_replay_object_has_row(enum rig_workload workload)
{
    return workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK;
}

void rig_replay_object_init(struct rig_replay_object *state, int64_t value)
{
    *state = (struct rig_replay_object){.value = value};
    rig_buf_init(&state->text, 0);
}

void rig_replay_object_done(struct rig_replay_object *state)
{
    rig_replay_row_done(&state->row);
    rig_buf_done(&state->text);
}

bool rig_replay_object_is_drain(const struct rig_history *history, uint32_t txn)
{
    RIG_REQUIRE(txn < history->txn_count);
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    for (uint32_t i = 0; i < count; i++) {
        if (!rig_replay_object_takes(&ops[i]))
            return false;
    }
    return count > 1;
}

bool rig_replay_object_is_open_drain(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    return history->txns[txn].outcome == RIG_OUTCOME_INFO && rig_txn_op_count(history, txn) == 2 &&
           rig_replay_object_is_drain(history, txn) && ops[0].read_state == RIG_READ_UNKNOWN &&
           ops[1].read_state == RIG_READ_UNKNOWN;
}

static bool use_value(struct rig_replay_object *state, int64_t nil, const struct rig_txn_op *op)
{
    RIG_REQUIRE(!rig_replay_object_takes(op));
    const int64_t value = op->read_state == RIG_READ_NIL ? nil : op->value;
    if (op->kind == RIG_OP_WRITE)
        state->value = value;
    else if (op->kind == RIG_OP_EXPECT || op->read_state != RIG_READ_UNKNOWN)
        return state->value == value;
    return true;
}

/* A text stands in quotes where it is a string; nil is the empty one. A text that begins with a NUL is one that no read
 * shows before the next put: a search may begin with it. */
static bool use_text(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    struct rig_value_digits digits;
    const char *text = op->read_state == RIG_READ_NIL ? "" : rig_value_show(op->value, &digits);
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '"') {
        text++;
        size -= 2;
    }
    if (op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_UNKNOWN)
        return true;
    if (op->kind != RIG_OP_WRITE && state->text.size > 0 && rig_buf_text(&state->text)[0] == '\0')
        return op->kind != RIG_OP_READ_REGISTER;
    if (op->kind == RIG_OP_READ_REGISTER)
        return state->text.size == size && memcmp(rig_buf_text(&state->text), text, size) == 0;
    if (op->kind == RIG_OP_WRITE)
        rig_buf_clear(&state->text);
    rig_buf_add(&state->text, text, size);
    state->no_memory |= state->text.failed;
    return true;
}

bool rig_replay_object_can_take(const struct rig_replay_object *state, const struct rig_txn_op *op)
{
    RIG_REQUIRE(rig_replay_object_takes(op) && state->from <= state->row.count);
    const bool empty = state->from == state->row.count;
    if (op->read_state != RIG_READ_SEEN)
        return op->read_state == RIG_READ_UNKNOWN || empty;
    return !empty &&
           op->value == (op->kind == RIG_OP_DEQUEUE ? state->row.at[state->from] : state->row.at[state->row.count - 1]);
}

static bool take(struct rig_replay_object *state, const struct rig_txn_op *op)
{
    if (!rig_replay_object_can_take(state, op))
        return false;
    if (state->from < state->row.count && op->kind == RIG_OP_DEQUEUE)
        state->from++;
    else if (state->from < state->row.count)
        state->row.count--;
    RIG_INVARIANT(state->from <= state->row.count);
    return true;
}

bool rig_replay_object_apply(struct rig_replay_object *state, enum rig_workload workload, int64_t nil,
                             const struct rig_txn_op *op)
{
    if (rig_replay_object_takes(op))
        return take(state, op);
    if (op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH) {
        state->no_memory |= !rig_replay_row_add(&state->row, op->value);
        return true;
    }
    return workload == RIG_WORKLOAD_APPEND_REGISTER ? use_text(state, op) : use_value(state, nil, op);
}
