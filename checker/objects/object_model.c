#include "checker/objects/object_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/bug.h"
#include "checker/model/object_words.h"
#include "checker/objects/object_locks.h"
#include "checker/objects/object_rows.h"
#include "history/types/object_kinds.h"
#include "history/types/types.h"

uint32_t rig_object_state_of(struct rig_object_model *model, const void *bytes, size_t size)
{
    RIG_REQUIRE(bytes != NULL || size == 0);
    for (uint64_t hash = XXH3_64bits(bytes, size);; hash++) {
        uint32_t *number = rig_table_put(&model->state_of, hash);
        if (number == NULL)
            return RIG_OBJECT_NONE;
        if (*number != RIG_TABLE_NONE) {
            RIG_INVARIANT(*number < model->states.count);
            const struct rig_object_state *known = &model->states.at[*number];
            if (known->size == size && (size == 0 || memcmp(known->bytes, bytes, size) == 0))
                return *number;
            continue;
        }
        char *copy = rig_arena_text(&model->arena, size == 0 ? "" : bytes, size);
        if (copy == NULL || !rig_object_states_add(&model->states, (struct rig_object_state){copy, size}))
            return RIG_OBJECT_NONE;
        *number = (uint32_t)model->states.count - 1;
        RIG_INVARIANT(*number < RIG_OBJECT_NONE - 1); /* which summarise() takes for a state that there is not */
        return *number;
    }
}

bool rig_object_model_begin(struct rig_object_model *model, int64_t value)
{
    RIG_REQUIRE(model->is_register);
    model->initial = rig_object_state_of(model, &value, sizeof value);
    return model->initial != RIG_OBJECT_NONE;
}

/* ---- the specifications ---- */

/* A value in a state. Nil and the empty string are the initial state of a register, or of a string. */
static int64_t value_read(const struct rig_object_model *model, const struct rig_txn_op *op)
{
    return op->read_state == RIG_READ_NIL ? rig_object_nil(model->workload) : op->value;
}

/* Values as bytes: a number, the text of a string without quotes, or a sequence of numbers. */
static void set_value(struct rig_buf *state, int64_t value)
{
    rig_buf_clear(state);
    rig_buf_add(state, (const char *)&value, sizeof value);
}

static bool has_value(const struct rig_buf *state, int64_t value)
{
    return state->size == sizeof value && memcmp(rig_buf_text(state), &value, sizeof value) == 0;
}

/* True: possible. The state becomes the next one. */
typedef bool apply_op(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state);

static bool apply_to_register(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state)
{
    if (op->kind == RIG_OP_EXPECT)
        return has_value(state, op->value);
    if (rig_op_reads(op->kind))
        return op->read_state == RIG_READ_UNKNOWN || has_value(state, value_read(model, op));
    set_value(state, op->value);
    return true;
}

static bool apply_to_string(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state)
{
    const bool vague = state->size > 0 && state->data[0] == RIG_OBJECT_VAGUE;
    struct rig_buf text;
    bool possible = true;
    (void)model;
    if (op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_UNKNOWN)
        return true;
    if (vague && op->kind != RIG_OP_WRITE)
        return op->kind != RIG_OP_READ_REGISTER;
    rig_buf_init(&text, 0);
    if (!rig_op_reads(op->kind) || op->read_state == RIG_READ_SEEN)
        rig_object_string(op->value, &text);
    if (op->kind == RIG_OP_READ_REGISTER)
        possible = text.size == state->size && memcmp(rig_buf_text(&text), rig_buf_text(state), text.size) == 0;
    if (op->kind == RIG_OP_WRITE)
        rig_buf_clear(state);
    if (!rig_op_reads(op->kind))
        rig_buf_add(state, rig_buf_text(&text), text.size);
    state->failed |= text.failed;
    rig_buf_done(&text);
    return possible;
}

/* Takes the value at `at` out of the sequence, if it is the one that was read; an empty one gives nil. */
static bool take(const struct rig_txn_op *op, size_t at, struct rig_buf *state)
{
    int64_t value;
    if (state->size == 0)
        return op->read_state != RIG_READ_SEEN;
    RIG_INVARIANT(state->size % sizeof value == 0 && at + sizeof value <= state->size);
    memcpy(&value, rig_buf_text(state) + at, sizeof value);
    if (op->read_state == RIG_READ_NIL || (op->read_state == RIG_READ_SEEN && op->value != value))
        return false;
    memmove(state->data + at, state->data + at + sizeof value, state->size - at - sizeof value);
    state->size -= sizeof value;
    return true;
}

static bool apply_to_queue(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state)
{
    (void)model;
    if (op->kind == RIG_OP_DEQUEUE)
        return take(op, 0, state);
    rig_buf_add(state, (const char *)&op->value, sizeof op->value);
    return true;
}

static bool apply_to_stack(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state)
{
    (void)model;
    if (op->kind == RIG_OP_POP)
        return take(op, state->size == 0 ? 0 : state->size - sizeof op->value, state);
    rig_buf_add(state, (const char *)&op->value, sizeof op->value);
    return true;
}

static bool apply_to_lock(const struct rig_object_model *model, const struct rig_txn_op *op, struct rig_buf *state)
{
    (void)model;
    return rig_object_lock_apply(op, state);
}

static apply_op *const specifications[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_CAS_REGISTER] = apply_to_register,
    [RIG_WORKLOAD_MUTEX] = apply_to_register,
    [RIG_WORKLOAD_APPEND_REGISTER] = apply_to_string,
    [RIG_WORKLOAD_QUEUE] = apply_to_queue,
    [RIG_WORKLOAD_STACK] = apply_to_stack,
    [RIG_WORKLOAD_LOCK] = apply_to_lock,
};

/* ---- states and classes ---- */

bool rig_object_model_init(struct rig_object_model *model, enum rig_workload workload, size_t limit_bytes)
{
    RIG_REQUIRE(rig_workload_is_object(workload));
    *model = (struct rig_object_model){.workload = workload,
                                       .vague = RIG_OBJECT_NONE,
                                       .initial = RIG_OBJECT_INITIAL,
                                       .is_register = specifications[workload] == apply_to_register};
    rig_table_init(&model->state_of);
    rig_table_init(&model->class_of);
    rig_table_init(&model->next);
    rig_arena_init(&model->arena, limit_bytes);
    rig_buf_init(&model->scratch, 0);
    const int64_t nil = rig_object_nil(workload);
    const uint32_t initial = rig_object_state_of(model, &nil, model->is_register ? sizeof nil : 0);
    RIG_INVARIANT(initial == RIG_OBJECT_INITIAL || initial == RIG_OBJECT_NONE);
    return initial == RIG_OBJECT_INITIAL;
}

void rig_object_model_done(struct rig_object_model *model)
{
    rig_object_states_done(&model->states);
    rig_object_classes_done(&model->classes);
    rig_table_done(&model->state_of);
    rig_table_done(&model->class_of);
    rig_table_done(&model->next);
    rig_arena_done(&model->arena);
    rig_buf_done(&model->scratch);
}

/* The state that the micro-operations of a register need at first, and the one that they leave. */
static bool summarise(struct rig_object_model *model, struct rig_object_class *class)
{
    class->needs = class->leaves = RIG_OBJECT_NONE;
    for (uint32_t i = 0; i < class->op_count; i++) {
        const struct rig_txn_op *op = &class->ops[i];
        const bool writes = op->kind == RIG_OP_WRITE;
        const int64_t value = rig_op_reads(op->kind) ? value_read(model, op) : op->value;
        if (rig_op_reads(op->kind) && op->read_state == RIG_READ_UNKNOWN)
            continue;
        const uint32_t state = rig_object_state_of(model, &value, sizeof value);
        if (state == RIG_OBJECT_NONE)
            return false;
        if (writes)
            class->leaves = state;
        else if (class->leaves == RIG_OBJECT_NONE && class->needs == RIG_OBJECT_NONE)
            class->needs = state;
        else if ((class->leaves == RIG_OBJECT_NONE ? class->needs : class->leaves) != state)
            class->needs = RIG_OBJECT_NONE - 1; /* no state has this number: the operation contradicts itself */
    }
    RIG_INVARIANT(class->leaves == RIG_OBJECT_NONE || class->leaves < model->states.count);
    return true;
}

/* Micro-operations of a class: of a call, or of an acquisition with a lease. A drain has more, each of which is a class
 * of its own. */
enum { MOST_OPS = RIG_CALL_OPS, LEASE_OPS = 4 };

static bool observes(const struct rig_object_class *class)
{
    for (uint32_t i = 0; i < class->op_count; i++) {
        const unsigned kind = class->ops[i].kind;
        const bool finds_nothing = class->ops[i].read_state == RIG_READ_NIL;
        const bool is_unknown_work = kind == RIG_OP_TOKEN && class->ops[i].read_state == RIG_READ_UNKNOWN;
        if (kind != RIG_OP_READ_REGISTER && kind != RIG_OP_EXPECT && !finds_nothing && !is_unknown_work)
            return false;
    }
    return true;
}

static bool is_any(const struct rig_object_class *class)
{
    for (uint32_t i = 0; i < class->op_count; i++) {
        if (class->ops[i].kind == RIG_OP_EXPECT || class->ops[i].read_state != RIG_READ_UNKNOWN)
            return false;
    }
    return class->observes;
}

static uint32_t add_class(struct rig_object_model *model, const struct rig_txn_op *ops, uint32_t count)
{
    struct rig_object_class class = {.op_count = count};
    class.ops = rig_arena_array(&model->arena, (size_t)count + 1, sizeof *class.ops);
    if (class.ops == NULL)
        return RIG_OBJECT_NONE;
    memcpy(class.ops, ops, count * sizeof *ops);
    if (model->specification == NULL) {
        class.observes = observes(&class);
        class.any = is_any(&class);
    } else {
        /* Where the object may be in several states, the result of an operation that changes none rules some out. */
        class.observes = !model->specification->is_nondeterministic &&
                         rig_specification_observes(model->specification, class.ops, count);
    }
    if (model->is_register && !summarise(model, &class))
        return RIG_OBJECT_NONE;
    /* A write of the value that the operation needs changes nothing. */
    class.observes |= model->is_register && class.needs != RIG_OBJECT_NONE && class.needs == class.leaves;
    return rig_object_classes_add(&model->classes, class) ? (uint32_t)model->classes.count - 1 : RIG_OBJECT_NONE;
}

uint32_t rig_object_class_of(struct rig_object_model *model, const struct rig_txn_op *ops, uint32_t count)
{
    struct rig_txn_op clean[MOST_OPS];
    uint64_t hash = count;
    RIG_REQUIRE(count <= MOST_OPS);
    for (uint32_t i = 0; i < count; i++) {
        clean[i] = (struct rig_txn_op){.kind = ops[i].kind, .read_state = ops[i].read_state};
        const bool has_no_value = rig_op_reads(ops[i].kind) && ops[i].read_state != RIG_READ_SEEN;
        clean[i].value = has_no_value ? 0 : ops[i].value;
    }
    hash = XXH3_64bits_withSeed(clean, count * sizeof *clean, hash);
    for (;; hash++) {
        uint32_t *number = rig_table_put(&model->class_of, hash);
        if (number == NULL)
            return RIG_OBJECT_NONE;
        if (*number == RIG_TABLE_NONE)
            return *number = add_class(model, clean, count);
        RIG_INVARIANT(*number < model->classes.count);
        const struct rig_object_class *known = &model->classes.at[*number];
        if (known->op_count == count && memcmp(known->ops, clean, count * sizeof *clean) == 0)
            return *number;
    }
}

static bool is_dead(const struct rig_object_model *model, const struct rig_buf *state)
{
    RIG_REQUIRE(model->rows != NULL && state->size % sizeof(int64_t) == 0);
    /* The buffer is an allocation of its own, so its start is aligned. */
    const int64_t *values = (const int64_t *)(const void *)rig_buf_text(state);
    return rig_object_rows_is_dead(model->rows, model->workload == RIG_WORKLOAD_QUEUE, values,
                                   state->size / sizeof *values);
}

/* The same for the objects of a model. */
static bool compute_call(struct rig_object_model *model, uint32_t state, uint32_t class, uint32_t *next)
{
    struct rig_model_numbers after = {0};
    const struct rig_object_class *of = &model->classes.at[class];
    const struct rig_object_state *from = &model->states.at[state];
    /* Copies in the arena are aligned to 16 bytes. */
    const enum rig_model_answer answer = rig_specification_step(model->specification, of->ops, of->op_count,
                                                                from->bytes, from->size / sizeof(int64_t), &after);
    *next = answer == RIG_MODEL_POSSIBLE ? rig_object_state_of(model, after.at, after.count * sizeof *after.at)
                                         : RIG_OBJECT_NONE;
    rig_model_numbers_done(&after);
    return answer == RIG_MODEL_IMPOSSIBLE || (answer == RIG_MODEL_POSSIBLE && *next != RIG_OBJECT_NONE);
}

static bool compute(struct rig_object_model *model, uint32_t state, uint32_t class, uint32_t *next)
{
    RIG_REQUIRE(state < model->states.count && class < model->classes.count);
    const struct rig_object_class *of = &model->classes.at[class];
    struct rig_buf *scratch = &model->scratch;
    bool possible = true;
    if (model->specification != NULL)
        return compute_call(model, state, class, next);
    RIG_REQUIRE(specifications[model->workload] != NULL);
    rig_buf_clear(scratch);
    rig_buf_add(scratch, model->states.at[state].bytes, model->states.at[state].size);
    for (uint32_t i = 0; possible && i < of->op_count; i++)
        possible = specifications[model->workload](model, &of->ops[i], scratch);
    if (scratch->failed)
        return false;
    if (possible && model->rows != NULL && !rig_op_reads(of->ops[0].kind))
        possible = !is_dead(model, scratch);
    *next = possible ? rig_object_state_of(model, rig_buf_text(scratch), scratch->size) : RIG_OBJECT_NONE;
    return !possible || *next != RIG_OBJECT_NONE;
}

bool rig_object_step_slowly(struct rig_object_model *model, uint32_t state, uint32_t class, uint32_t *next)
{
    uint32_t *known = rig_table_put(&model->next, (uint64_t)state << 32 | class);
    if (known == NULL)
        return false;
    if (*known == RIG_TABLE_NONE) {
        if (!compute(model, state, class, next))
            return false;
        *known = *next == RIG_OBJECT_NONE ? 0 : *next + 1;
        return true;
    }
    *next = *known == 0 ? RIG_OBJECT_NONE : *known - 1;
    RIG_INVARIANT(*next == RIG_OBJECT_NONE || *next < model->states.count);
    return true;
}

bool rig_object_age(struct rig_object_model *model, uint32_t *state, uint32_t txn)
{
    struct rig_buf *scratch = &model->scratch;
    const struct rig_history *history = model->history;
    if (!model->has_leases)
        return true;
    RIG_REQUIRE(*state < model->states.count && txn < history->txn_count);
    const int64_t now_ns =
        rig_txn_end(history, txn) == RIG_POSITION_NONE || history->txns[txn].complete_ns == RIG_NO_TIME
            ? INT64_MAX
            : history->txns[txn].complete_ns;
    rig_buf_clear(scratch);
    rig_buf_add(scratch, model->states.at[*state].bytes, model->states.at[*state].size);
    if (rig_object_lock_age(scratch, now_ns) && !scratch->failed)
        *state = rig_object_state_of(model, rig_buf_text(scratch), scratch->size);
    return !scratch->failed && *state != RIG_OBJECT_NONE;
}

void rig_object_state_text(const struct rig_object_model *model, uint32_t state, struct rig_buf *text)
{
    RIG_REQUIRE(state < model->states.count);
    if (model->specification != NULL) {
        rig_specification_state_text(model->specification, model->states.at[state].bytes,
                                     model->states.at[state].size / sizeof(int64_t), text);
        return;
    }
    rig_object_words_state(model->workload, model->states.at[state].bytes, model->states.at[state].size, text);
}

static bool is_drain(const struct rig_txn_op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!rig_object_takes(ops[i].kind))
            return false;
    }
    return true;
}

/* Whether the limits of an acquisition have a meaning: a lease is of a lock with one permit. */
static bool has_limits(const struct rig_txn_op *ops, uint32_t count)
{
    const bool has_lease = count == LEASE_OPS;
    return count < 3 ||
           (ops[1].value != 0 && ops[1].value != INT64_MIN && (!has_lease || (ops[1].value == 1 && ops[2].value > 0)));
}

/* One micro-operation, compare-and-set, or a drain, on one key; or an operation on a lock, or of a model. */
static bool is_operation(const struct rig_history *history, const struct rig_txn_op *ops, uint32_t count)
{
    const enum rig_workload workload = history->workload;
    for (uint32_t i = 1; i < count; i++) {
        if (ops[i].key != ops[0].key)
            return false;
    }
    if (workload == RIG_WORKLOAD_LOCK)
        return rig_object_is_lock_operation(ops, count) && has_limits(ops, count);
    if (workload == RIG_WORKLOAD_MODEL)
        return rig_specification_called(history->specification, ops, count) != NULL;
    return (count == 1 && ops[0].kind != RIG_OP_EXPECT) ||
           (count == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE) || is_drain(ops, count);
}

enum rig_rc rig_object_ops_check(const struct rig_history *history, struct rig_err *err)
{
    RIG_REQUIRE(rig_workload_is_object(history->workload));
    const char *type = rig_data_types[history->workload].name;
    const bool has_model = history->workload == RIG_WORKLOAD_MODEL;
    if (has_model && history->specification == NULL)
        return rig_fail(err, RIG_E_INPUT,
                        "the history has operations of a model, and not the model; give --model FILE");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t count = rig_txn_op_count(history, txn);
        const bool has_rows = history->workload == RIG_WORKLOAD_QUEUE || history->workload == RIG_WORKLOAD_STACK;
        if (has_rows && count == 0 && history->txns[txn].outcome == RIG_OUTCOME_INFO)
            return rig_fail(err, RIG_E_INPUT,
                            "T%" PRIu32
                            " has an unknown outcome and no operation: nothing tells which object it took values "
                            "of; give it its operations",
                            rig_txn_name(history, txn));
        const bool is_one = count == 0 || is_operation(history, rig_txn_ops(history, txn), count);
        if (!is_one && has_model)
            return rig_fail(err, RIG_E_INPUT,
                            "T%" PRIu32 " is no call of an operation of the model %s with its arguments; name another "
                            "model",
                            rig_txn_name(history, txn), history->specification->name);
        if (!is_one)
            return rig_fail(err, RIG_E_INPUT,
                            "T%" PRIu32 " is no single operation on one object, as those of a %s are; name another "
                            "workload",
                            rig_txn_name(history, txn), type);
    }
    return RIG_OK;
}

struct build {
    const struct rig_history *history;
    uint32_t only;
    struct rig_object_model *model;
    struct rig_object_ops *ops;
    uint32_t *next; /* per key */
    uint32_t *left; /* per key: values that were added and that no acknowledged take shows; NULL: not counted */
};

/* Whether the operation can matter: it happened, or may have happened and has an effect. */
static bool is_kept(const struct rig_object_class *class, enum rig_outcome outcome)
{
    return outcome == RIG_OUTCOME_OK ? !class->any : outcome == RIG_OUTCOME_INFO && !class->observes;
}

static void put(const struct build *build, uint32_t txn, uint32_t key, uint32_t class)
{
    const struct rig_txn *t = &build->history->txns[txn];
    const uint32_t invoke = t->invoke_at == RIG_POSITION_NONE ? 0 : t->invoke_at;
    RIG_INVARIANT(build->next[key] < build->ops->first[key + 1]); /* the first pass counted the operation */
    build->ops->at[build->next[key]++] = (struct rig_object_op){txn, class, invoke, rig_txn_end(build->history, txn)};
}

/* The class of an operation. One with a lease tells when the lease ends. */
static uint32_t class_of(const struct build *build, uint32_t txn, const struct rig_txn_op *ops, uint32_t count)
{
    struct rig_txn_op own[MOST_OPS];
    struct rig_object_model *model = build->model;
    const int64_t invoke_ns = build->history->txns[txn].invoke_ns;
    if (count != LEASE_OPS || ops[count - 2].kind != RIG_OP_LEASE)
        return rig_object_class_of(model, ops, count);
    memcpy(own, ops, count * sizeof *own);
    const bool is_known = !model->timeless && invoke_ns != RIG_NO_TIME && own[count - 2].value < INT64_MAX - invoke_ns;
    own[count - 2].value = is_known ? invoke_ns + own[count - 2].value : RIG_LOCK_LEASE_OVER;
    model->has_leases = true;
    return rig_object_class_of(model, own, count);
}

/* Calls put() for each operation, or only counts them in `next`. */
static bool take_txn(const struct build *build, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(build->history, txn);
    const uint32_t count = rig_txn_op_count(build->history, txn);
    if (count > 0 && build->only != UINT32_MAX && ops->key != build->only)
        return true;
    const enum rig_outcome outcome = (enum rig_outcome)build->history->txns[txn].outcome;
    const bool open_drain = rig_object_is_open_drain(outcome, ops, count);
    const uint32_t step = count > 0 && is_drain(ops, count) ? 1 : count;
    const uint32_t most = open_drain && build->left != NULL ? build->left[ops->key] : count;
    RIG_INVARIANT(step > 0 || most == 0);
    for (uint32_t i = 0; i < most; i += step) {
        const uint32_t class = class_of(build, txn, open_drain ? ops : ops + i, step);
        if (class == RIG_OBJECT_NONE)
            return false;
        if (!is_kept(&build->model->classes.at[class], outcome))
            continue;
        if (build->ops->at == NULL)
            build->next[ops->key]++;
        else
            put(build, txn, ops->key, class);
    }
    return true;
}

static bool has_open_drain(const struct rig_history *history)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (rig_object_is_open_drain((enum rig_outcome)history->txns[txn].outcome, rig_txn_ops(history, txn),
                                     rig_txn_op_count(history, txn)))
            return true;
    }
    return false;
}

/* Acknowledged takes of the operation's value, less the additions that were counted. NULL when memory runs out. */
static uint32_t *taken_of(struct rig_table *taken, const struct rig_txn_op *op)
{
    uint32_t *count = rig_table_put(taken, (uint64_t)op->value * UINT64_C(0x9e3779b97f4a7c15) + op->key);
    if (count != NULL && *count == RIG_TABLE_NONE)
        *count = 0;
    return count;
}

/* First the takes, then the additions that none of them shows. */
static bool count_left_of(struct build *build, struct rig_table *taken, bool additions)
{
    const struct rig_history *history = build->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        const struct rig_txn_op *op = rig_txn_ops(history, txn), *end = op + rig_txn_op_count(history, txn);
        for (; op < end && outcome != RIG_OUTCOME_FAIL; op++) {
            const bool takes = outcome == RIG_OUTCOME_OK && op->read_state == RIG_READ_SEEN;
            if (rig_op_reads(op->kind) ? additions || !takes : !additions)
                continue;
            RIG_INVARIANT(op->key < history->key_count);
            uint32_t *count = taken_of(taken, op);
            if (count == NULL)
                return false;
            build->left[op->key] += additions && *count == 0;
            *count = additions ? *count - (*count > 0) : *count + 1;
        }
    }
    return true;
}

/* A drain of unknown outcome may have taken each value that was added and that no acknowledged take shows. */
static bool count_left(struct build *build, struct rig_arena *arena)
{
    struct rig_table taken;
    if (!has_open_drain(build->history))
        return true;
    build->left = rig_arena_array(arena, (size_t)build->history->key_count + 1, sizeof *build->left);
    rig_table_init(&taken);
    const bool counted =
        build->left != NULL && count_left_of(build, &taken, false) && count_left_of(build, &taken, true);
    rig_table_done(&taken);
    return counted;
}

static bool take_txns(const struct build *build)
{
    for (uint32_t txn = 0; txn < build->history->txn_count; txn++) {
        if (!take_txn(build, txn))
            return false;
    }
    return true;
}

static int compare_invocations(const void *left, const void *right)
{
    const struct rig_object_op *a = left, *b = right;
    return a->invoke != b->invoke ? (a->invoke > b->invoke) - (a->invoke < b->invoke)
                                  : (a->end > b->end) - (a->end < b->end);
}

/* The take of a drain that found nothing comes after its others. */
static void end_drains(const struct rig_object_model *model, struct rig_object_op *ops, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct rig_txn_op *op = &model->classes.at[ops[i - 1].class].ops[0];
        if (ops[i].txn != ops[i - 1].txn || !rig_object_takes(op->kind) || op->read_state != RIG_READ_NIL)
            continue;
        const struct rig_object_op nothing = ops[i - 1];
        ops[i - 1] = ops[i];
        ops[i] = nothing;
    }
}

bool rig_object_ops_build(const struct rig_history *history, uint32_t only, struct rig_object_model *model,
                          struct rig_arena *arena, struct rig_object_ops *ops)
{
    RIG_REQUIRE(only == UINT32_MAX || only < history->key_count);
    RIG_REQUIRE(model->workload == history->workload);
    const uint32_t key_count = history->key_count;
    uint32_t total = 0;
    model->history = history;
    model->specification = history->workload == RIG_WORKLOAD_MODEL ? history->specification : NULL;
    *ops = (struct rig_object_ops){.key_count = key_count};
    struct build build = {history, only, model, ops, rig_arena_array(arena, (size_t)key_count + 1, sizeof *build.next),
                          NULL};
    ops->first = rig_arena_array(arena, (size_t)key_count + 1, sizeof *ops->first);
    if (build.next == NULL || ops->first == NULL || !count_left(&build, arena) || !take_txns(&build))
        return false;
    for (uint32_t key = 0; key < key_count; key++) {
        ops->first[key] = total;
        total += build.next[key];
        build.next[key] = ops->first[key];
    }
    ops->first[key_count] = total;
    ops->at = rig_arena_room(arena, (size_t)total + 1, sizeof *ops->at);
    if (ops->at == NULL || !take_txns(&build))
        return false;
    for (uint32_t key = 0; key < key_count; key++) {
        RIG_INVARIANT(build.next[key] == ops->first[key + 1]);
        qsort(ops->at + ops->first[key], ops->first[key + 1] - ops->first[key], sizeof *ops->at, compare_invocations);
        end_drains(model, ops->at + ops->first[key], ops->first[key + 1] - ops->first[key]);
    }
    return true;
}
