#include "drivers/http/transaction_state.h"

#include <string.h>

#include "base/bug.h"

static bool is_write(const struct rig_op *op)
{
    return !rig_op_reads(op->kind);
}

/* It reads, and changes what it reads. */
static bool takes(const struct rig_op *op)
{
    return op->kind == RIG_OP_DEQUEUE || op->kind == RIG_OP_POP;
}

static uint32_t find_or_add_key(struct rig_transaction_state *state, int64_t key)
{
    uint32_t i = 0;
    while (i < state->key_count && state->keys[i].key != key)
        i++;
    if (i == state->key_count)
        state->keys[state->key_count++] = (struct rig_key_state){.key = key};
    return i;
}

bool rig_state_begin(struct rig_transaction_state *state, const struct rig_core *core, struct rig_arena *arena,
                     struct rig_transaction *transaction)
{
    const uint32_t count = transaction->op_count;
    *state = (struct rig_transaction_state){.core = core, .arena = arena, .transaction = transaction};
    state->keys = rig_arena_array(arena, count + 1, sizeof *state->keys);
    state->key_of_op = rig_arena_array(arena, count + 1, sizeof *state->key_of_op);
    state->reads = rig_arena_array(arena, count + 1, sizeof *state->reads);
    state->writes = rig_arena_array(arena, count + 1, sizeof *state->writes);
    state->answered = rig_arena_array(arena, count + 1, sizeof *state->answered);
    if (state->keys == NULL || state->key_of_op == NULL || state->reads == NULL || state->writes == NULL ||
        state->answered == NULL)
        return false;
    for (uint32_t op = 0; op < count; op++) {
        const uint32_t index = find_or_add_key(state, transaction->ops[op].key);
        struct rig_key_state *key = &state->keys[index];
        state->key_of_op[op] = index;
        if (!is_write(&transaction->ops[op]) && !key->written) {
            if (!key->read)
                state->reads[state->read_count++] = index;
            key->read = true;
        }
        if (is_write(&transaction->ops[op]) || takes(&transaction->ops[op])) {
            if (!key->written)
                state->writes[state->write_count++] = index;
            key->written = true;
        }
    }
    return true;
}

uint32_t rig_state_set_size(const struct rig_transaction_state *state, enum rig_dialect_set set)
{
    switch (set) {
    case RIG_SET_ONCE:
        return 1;
    case RIG_SET_OPERATIONS:
        return state->transaction->op_count;
    case RIG_SET_KEYS:
        return state->key_count;
    case RIG_SET_READS:
        return state->read_count;
    case RIG_SET_WRITES:
        return state->write_count;
    }
    rig_bug(__FILE__, __LINE__, "a set of a known name");
}

struct rig_key_state *rig_state_key(const struct rig_transaction_state *state, enum rig_dialect_set set,
                                    uint32_t element)
{
    RIG_REQUIRE(set != RIG_SET_ONCE && element < rig_state_set_size(state, set));
    if (set == RIG_SET_OPERATIONS)
        return &state->keys[state->key_of_op[element]];
    if (set == RIG_SET_READS)
        return &state->keys[state->reads[element]];
    if (set == RIG_SET_WRITES)
        return &state->keys[state->writes[element]];
    return &state->keys[element];
}

/* That of a key that does not exist. */
static struct rig_value initial_value(const struct rig_transaction_state *state)
{
    if (state->accounts.count == 0)
        return (struct rig_value){.kind = RIG_IS_NOTHING};
    return (struct rig_value){.kind = RIG_IS_INTEGER, .integer = state->accounts.balance};
}

/* The value before the operation `end`; the list is in `room`, which is large enough. */
static struct rig_value value_before(const struct rig_transaction_state *state, const struct rig_key_state *key,
                                     uint32_t end, int64_t *room)
{
    const struct rig_transaction *transaction = state->transaction;
    struct rig_value value = initial_value(state);
    if (key->told && key->exists)
        value = key->value;
    else if (!key->told)
        value = (struct rig_value){.kind = RIG_IS_UNKNOWN};
    size_t count = value.kind == RIG_IS_LIST ? value.count : 0;
    if (count > 0)
        memcpy(room, value.list, count * sizeof *room);
    for (uint32_t op = 0; op < end; op++) {
        if (&state->keys[state->key_of_op[op]] != key)
            continue;
        if (transaction->ops[op].kind == RIG_OP_WRITE)
            value = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = transaction->ops[op].value};
        if (transaction->ops[op].kind == RIG_OP_EXTEND && value.kind != RIG_IS_UNKNOWN)
            value =
                (struct rig_value){.kind = RIG_IS_INTEGER, .integer = value.integer * 10 + transaction->ops[op].value};
        if (transaction->ops[op].kind == RIG_OP_INCREMENT && value.kind != RIG_IS_UNKNOWN)
            value = (struct rig_value){.kind = RIG_IS_INTEGER, .integer = value.integer + transaction->ops[op].value};
        if (transaction->ops[op].kind != RIG_OP_APPEND && transaction->ops[op].kind != RIG_OP_ADD)
            continue;
        room[count++] = transaction->ops[op].value;
        if (value.kind == RIG_IS_NOTHING)
            value.kind = RIG_IS_LIST;
    }
    if (value.kind == RIG_IS_LIST) {
        value.list = room;
        value.count = count;
    }
    return value;
}

static size_t most_elements(const struct rig_transaction_state *state, const struct rig_key_state *key)
{
    return (key->told && key->exists && key->value.kind == RIG_IS_LIST ? key->value.count : 0) +
           state->transaction->op_count;
}

struct rig_value rig_state_final_value(const struct rig_transaction_state *state, const struct rig_key_state *key)
{
    int64_t *room = rig_arena_room(state->arena, most_elements(state, key) + 1, sizeof *room);
    if (room == NULL)
        return (struct rig_value){.kind = RIG_IS_NOTHING};
    return value_before(state, key, state->transaction->op_count, room);
}

struct rig_value rig_state_expected(const struct rig_transaction_state *state, const struct rig_key_state *key)
{
    const struct rig_transaction *transaction = state->transaction;
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        if (transaction->ops[op].kind == RIG_OP_EXPECT && &state->keys[state->key_of_op[op]] == key)
            return (struct rig_value){.kind = RIG_IS_INTEGER, .integer = transaction->ops[op].value};
    }
    return (struct rig_value){.kind = RIG_IS_NOTHING};
}

bool rig_state_affords(const struct rig_transaction_state *state)
{
    for (uint32_t i = 0; state->accounts.count > 0 && !state->accounts.negative && i < state->write_count; i++) {
        const struct rig_key_state *key = &state->keys[state->writes[i]];
        const struct rig_value value = rig_state_final_value(state, key);
        const int64_t before = key->exists ? key->value.integer : state->accounts.balance;
        if (value.kind == RIG_IS_INTEGER && value.integer < 0 && value.integer < before)
            return false;
    }
    return true;
}

bool rig_state_is_full(const struct rig_transaction_state *state)
{
    const struct rig_transaction *transaction = state->transaction;
    return transaction->op_count == 1 && transaction->ops[0].kind == RIG_OP_EXTEND && state->keys[0].exists &&
           state->keys[0].value.kind == RIG_IS_INTEGER && state->keys[0].value.integer >= RIG_STRING_FULL;
}

/* -- answers ------------------------------------------------------------------------------------------------------- */

static bool store_read(const struct rig_transaction_state *state, uint32_t op, const struct rig_value *value)
{
    struct rig_transaction *transaction = state->transaction;
    struct rig_read *read = &transaction->reads[op];
    if (value->kind == RIG_IS_NOTHING) {
        read->state = RIG_READ_NIL;
        return true;
    }
    if (value->kind == RIG_IS_INTEGER) {
        read->value = value->integer;
        read->state = RIG_READ_SEEN;
        return true;
    }
    RIG_INVARIANT(value->kind == RIG_IS_LIST);
    int64_t *room = value->count > UINT32_MAX ? NULL : state->core->elements(transaction, value->count);
    if (room == NULL)
        return false;
    if (value->count > 0)
        memcpy(room, value->list, value->count * sizeof *room);
    read->first_element = transaction->element_count;
    read->count = (uint32_t)value->count;
    read->state = RIG_READ_SEEN;
    transaction->element_count += value->count;
    return true;
}

bool rig_state_answer_op(struct rig_transaction_state *state, uint32_t op, bool exists, const struct rig_value *value)
{
    const struct rig_value initial = initial_value(state);
    RIG_REQUIRE(op < state->transaction->op_count && !is_write(&state->transaction->ops[op]));
    state->answered[op] = true;
    return store_read(state, op, exists ? value : &initial);
}

void rig_state_forget_answers(struct rig_transaction_state *state)
{
    const struct rig_transaction *transaction = state->transaction;
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        state->answered[op] = false;
        transaction->reads[op] = (struct rig_read){.state = RIG_READ_UNKNOWN};
    }
}

enum rig_state_result rig_state_answer_reads(struct rig_transaction_state *state)
{
    const struct rig_transaction *transaction = state->transaction;
    size_t most = 1;
    for (uint32_t i = 0; i < state->key_count; i++) {
        const size_t count = most_elements(state, &state->keys[i]) + 1;
        most = count > most ? count : most;
    }
    int64_t *room = rig_arena_room(state->arena, most, sizeof *room);
    if (room == NULL)
        return RIG_STATE_NO_ROOM;
    for (uint32_t op = 0; op < transaction->op_count; op++) {
        if (is_write(&transaction->ops[op]) || state->answered[op])
            continue;
        const struct rig_value value = value_before(state, &state->keys[state->key_of_op[op]], op, room);
        if (value.kind == RIG_IS_UNKNOWN)
            return RIG_STATE_UNTOLD;
        if (!store_read(state, op, &value))
            return RIG_STATE_NO_ROOM;
    }
    return RIG_STATE_ANSWERED;
}
