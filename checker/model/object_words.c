#include "checker/model/object_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/verdict.h"
#include "history/types/types.h"
#include "history/model/value_texts.h"

int64_t rig_object_nil(enum rig_workload workload)
{
    int64_t nil = 0;
    if (workload == RIG_WORKLOAD_CAS_REGISTER && !rig_value_number("nil", strlen("nil"), &nil))
        return INT64_MIN; /* memory runs out: what follows fails, too */
    return nil;
}

void rig_object_string(int64_t value, struct rig_buf *text)
{
    const char *written = rig_value_text(value);
    const size_t length = written == NULL ? 0 : strlen(written);
    if (length >= 2 && written[0] == '"')
        rig_buf_add(text, written + 1, length - 2);
    else
        rig_value_add(text, value);
}

static void add_sequence(const char *bytes, size_t size, struct rig_buf *text)
{
    enum { SHOWN = 12, END = 4 };
    const size_t count = size / sizeof(int64_t);
    rig_buf_add_char(text, '[');
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (count > SHOWN && i == END) {
            rig_buf_add_text(text, " ...");
            i = count - END;
        }
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        rig_buf_add_text(text, i == 0 ? "" : " ");
        rig_value_add(text, value);
    }
    if (count > SHOWN)
        rig_buf_printf(text, " (%zu elements)", count);
    rig_buf_add_char(text, ']');
}

static void add_string(const char *bytes, size_t size, struct rig_buf *text)
{
    enum { SHOWN = 120, END = 50 };
    rig_buf_add_char(text, '"');
    rig_buf_add(text, bytes, size <= SHOWN ? size : END);
    if (size > SHOWN) {
        rig_buf_add_text(text, " ... ");
        rig_buf_add(text, bytes + size - END, END);
    }
    rig_buf_add_char(text, '"');
    if (size > SHOWN)
        rig_buf_printf(text, " (%zu bytes)", size);
}

/* objects/object_locks.c says what a lock consists of. */
static void add_lock(const char *bytes, size_t size, struct rig_buf *text)
{
    enum { GIVEN = 3, WORKED, HOLDS = 6, HOLD_SIZE = 3 };
    const size_t count = size / sizeof(int64_t);
    int64_t value[2] = {0, 0};
    if (count <= HOLDS)
        rig_buf_add_text(text, "free");
    for (size_t at = HOLDS; at + HOLD_SIZE <= count; at += HOLD_SIZE) {
        memcpy(value, bytes + at * sizeof value[0], sizeof value);
        rig_buf_add_text(text, at == HOLDS ? "held by " : at + 2 * HOLD_SIZE <= count ? ", " : " and ");
        rig_value_add(text, value[0]);
        if (value[1] > 1)
            rig_buf_printf(text, " (%" PRId64 " times)", value[1]);
    }
    for (size_t at = GIVEN; at <= WORKED && at < count; at++) {
        memcpy(value, bytes + at * sizeof value[0], sizeof value[0]);
        if (value[0] != 0)
            rig_buf_printf(text, at == GIVEN ? ", last token %" PRId64 : ", last work under token %" PRId64, value[0]);
    }
}

void rig_object_words_state(enum rig_workload workload, const void *bytes, size_t size, struct rig_buf *text)
{
    int64_t value = 0;
    if (workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK) {
        add_sequence(bytes, size, text);
        return;
    }
    if (workload == RIG_WORKLOAD_APPEND_REGISTER) {
        const char *string = bytes;
        if (size > 0 && string[0] == '\0')
            rig_buf_add_text(text, "a string that no read shows");
        else
            add_string(bytes, size, text);
        return;
    }
    if (workload == RIG_WORKLOAD_LOCK) {
        add_lock(bytes, size, text);
        return;
    }
    RIG_REQUIRE(size == sizeof value);
    memcpy(&value, bytes, sizeof value);
    if (workload == RIG_WORKLOAD_MUTEX)
        rig_buf_add_text(text, value == 0 ? "free" : "held");
    else
        rig_value_add(text, value);
}

void rig_object_words_states(const struct rig_blocked *blocked, struct rig_buf *text)
{
    const uint32_t more = blocked->state_count - blocked->state_shown;
    for (uint32_t i = 0; i < blocked->state_shown; i++) {
        const bool is_last = more == 0 && i + 1 == blocked->state_shown;
        rig_buf_printf(text, "%s%s", i == 0 ? "" : is_last ? " or " : ", ", blocked->states[i]);
    }
    if (more > 0)
        rig_buf_printf(text, " or in one of %" PRIu32 " other states", more);
}

static void add_result(const struct rig_txn_op *op, struct rig_buf *text)
{
    if (op->read_state == RIG_READ_UNKNOWN)
        rig_buf_add_text(text, " (unknown)");
    else if (op->read_state == RIG_READ_NIL)
        rig_buf_add_text(text, op->kind == RIG_OP_READ_REGISTER ? " nil" : " nothing");
    else
        rig_buf_printf(text, " %s", RIG_VALUE_SHOWN(op->value));
}

/* A call of a model: "withdraw 5 -> false". */
static void add_call(const struct rig_txn_op *ops, uint32_t count, struct rig_buf *text)
{
    rig_object_string(ops->value, text);
    for (const struct rig_txn_op *op = ops + 1; op < ops + count; op++) {
        if (op->kind == RIG_OP_RESULT && op->read_state == RIG_READ_UNKNOWN)
            continue;
        rig_buf_add_text(text, op->kind == RIG_OP_RESULT ? " -> " : " ");
        if (op->read_state == RIG_READ_NIL)
            rig_buf_add_text(text, "nil");
        else
            rig_value_add(text, op->value);
    }
}

/* An operation on a lock: "acquire by 3, for 2 permits, with token 34". */
static void add_lock_op(const struct rig_txn_op *ops, uint32_t count, struct rig_buf *text)
{
    if (ops->kind == RIG_OP_TOKEN) {
        rig_buf_add_text(text, "work under ");
        if (ops->read_state == RIG_READ_SEEN)
            rig_buf_printf(text, "token %" PRId64, ops->value);
        else
            rig_buf_add_text(text, "an unknown token");
        return;
    }
    rig_buf_add_text(text, ops->kind == RIG_OP_HOLD ? "acquire by " : "release by ");
    rig_value_add(text, ops->value);
    for (const struct rig_txn_op *op = ops + 1; op < ops + count; op++) {
        if (op->kind == RIG_OP_LIMIT && op->value > 1)
            rig_buf_printf(text, " of %" PRId64 " permits", op->value);
        else if (op->kind == RIG_OP_LEASE)
            rig_buf_printf(text, " for %" PRId64 " ms", op->value / 1000000);
        else if (op->kind == RIG_OP_TOKEN && op->read_state == RIG_READ_SEEN)
            rig_buf_printf(text, " with token %" PRId64, op->value);
    }
}

void rig_object_words_op(enum rig_workload workload, const struct rig_txn_op *op, uint32_t count, struct rig_buf *text)
{
    if (workload == RIG_WORKLOAD_MUTEX && op->kind == RIG_OP_EXPECT) {
        rig_buf_add_text(text, op->value == 0 ? "acquire" : "release");
        return;
    }
    if (workload == RIG_WORKLOAD_LOCK) {
        add_lock_op(op, count, text);
        return;
    }
    if (workload == RIG_WORKLOAD_MODEL) {
        add_call(op, count, text);
        return;
    }
    if (op->kind == RIG_OP_EXPECT && count > 1) {
        rig_buf_printf(text, "cas %s", RIG_VALUE_SHOWN(op->value));
        rig_buf_printf(text, " to %s", RIG_VALUE_SHOWN(op[1].value));
        return;
    }
    switch ((int)op->kind) {
    case RIG_OP_READ_REGISTER:
        rig_buf_add_text(text, "read");
        add_result(op, text);
        return;
    case RIG_OP_DEQUEUE:
        rig_buf_add_text(text, "dequeue");
        add_result(op, text);
        return;
    case RIG_OP_POP:
        rig_buf_add_text(text, "pop");
        add_result(op, text);
        return;
    case RIG_OP_ENQUEUE:
        rig_buf_add_text(text, "enqueue");
        break;
    case RIG_OP_PUSH:
        rig_buf_add_text(text, "push");
        break;
    case RIG_OP_EXTEND:
        rig_buf_add_text(text, "append");
        break;
    case RIG_OP_EXPECT:
        rig_buf_add_text(text, "expect");
        break;
    default:
        rig_buf_add_text(text, "write");
        break;
    }
    rig_buf_printf(text, " %s", RIG_VALUE_SHOWN(op->value));
}

/* The certain operations of a witness on one of its values. */
struct value_uses {
    uint32_t additions, takes, nothings; /* nothings: takes that found nothing */
};

/* False: an operation of unknown outcome takes part. */
static bool count_uses(const struct rig_history *history, const struct rig_witness *witness, int64_t value,
                       struct value_uses *uses)
{
    *uses = (struct value_uses){0};
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const struct rig_txn_op *op = rig_txn_ops(history, witness->txns[i]);
        const struct rig_txn_op *end = op + rig_txn_op_count(history, witness->txns[i]);
        if (history->txns[witness->txns[i]].outcome != RIG_OUTCOME_OK)
            return false;
        for (; op < end; op++) {
            const bool reads = rig_op_reads(op->kind);
            uses->nothings += reads && op->read_state == RIG_READ_NIL;
            uses->takes += reads && op->read_state == RIG_READ_SEEN && op->value == value;
            uses->additions += !reads && op->value == value;
        }
    }
    return true;
}

const char *rig_object_phenomenon(const struct rig_history *history, const struct rig_witness *witness)
{
    const struct rig_blocked *blocked = witness->blocked;
    bool lost = false;
    struct value_uses uses = {0};
    for (uint32_t i = 0; i < blocked->value_count; i++) {
        if (!count_uses(history, witness, blocked->values[i], &uses))
            return NULL;
        if (uses.takes > 1)
            return "duplicated-element";
        if (uses.additions == 0)
            return "phantom-element";
        lost |= uses.takes == 0;
    }
    if (blocked->value_count == 0)
        return NULL;
    return lost ? "lost-element" : uses.nothings > 0 ? "false-empty" : "reordered-elements";
}

/* Which rule of locks the blocked operation breaks: in each state before it, the lock is free or it is not. */
static const char *lock_deed(const struct rig_history *history, const struct rig_witness *witness)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, witness->txns[0]);
    const uint32_t count = rig_txn_op_count(history, witness->txns[0]);
    const struct rig_blocked *blocked = witness->blocked;
    bool all_free = blocked->state_shown > 0, any_free = false;
    for (uint32_t i = 0; i < blocked->state_shown; i++) {
        const bool is_free = strncmp(blocked->states[i], "free", 4) == 0;
        all_free &= is_free;
        any_free |= is_free;
    }
    if (ops->kind == RIG_OP_TOKEN)
        return "Work under an old token was accepted";
    if (ops->kind == RIG_OP_FREE)
        return all_free ? "A lock was released that was free" : "A lock was released by an owner that did not hold it";
    if (all_free)
        return "A lock gave a token that is not larger than those before";
    if (count > 2 && ops[1].value > 1)
        return any_free ? "No order of the operations explains their results"
                        : "A semaphore gave more permits than it has, or a token that is too small";
    if (count > 2 && ops[1].value < 0)
        return "A lock had two owners at once, or one owner too often";
    return any_free ? "No order of the operations explains their results" : "A lock had two owners at once";
}

const char *rig_object_deed(const struct rig_history *history, const struct rig_witness *witness)
{
    static const struct {
        const char *name, *words;
    } all[] = {{"duplicated-element", "An element was taken twice"},
               {"phantom-element", "An element was taken that was not there"},
               {"lost-element", "An acknowledged element was not found"},
               {"false-empty", "Nothing was found although there were elements"},
               {"reordered-elements", "Elements were taken in a wrong order"}};
    const struct rig_txn_op *op = rig_txn_ops(history, witness->txns[0]);
    const char *phenomenon = witness->blocked == NULL ? NULL : rig_object_phenomenon(history, witness);
    if (history->workload == RIG_WORKLOAD_MUTEX && witness->blocked != NULL && op->kind == RIG_OP_EXPECT)
        return op->value == 0 ? "A lock had two owners at once" : "A lock was released that was free";
    if (history->workload == RIG_WORKLOAD_LOCK && witness->blocked != NULL)
        return lock_deed(history, witness);
    for (size_t i = 0; phenomenon != NULL && i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, phenomenon) == 0)
            return all[i].words;
    }
    return "No order of the operations explains their results";
}

const char *rig_object_noun(enum rig_workload workload)
{
    static const char *const nouns[RIG_WORKLOAD_COUNT] = {
        [RIG_WORKLOAD_CAS_REGISTER] = "register", [RIG_WORKLOAD_MUTEX] = "lock",  [RIG_WORKLOAD_LOCK] = "lock",
        [RIG_WORKLOAD_MODEL] = "object",          [RIG_WORKLOAD_QUEUE] = "queue", [RIG_WORKLOAD_STACK] = "stack",
        [RIG_WORKLOAD_APPEND_REGISTER] = "string"};
    RIG_REQUIRE((unsigned)workload < RIG_WORKLOAD_COUNT && nouns[workload] != NULL);
    return nouns[workload];
}
