#include "checker/objects/object_ops.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bug.h"
#include "history/types/object_kinds.h"
#include "history/types/types.h"

static bool is_drain(const struct rig_txn_op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!rig_object_takes(ops[i].kind))
            return false;
    }
    return true;
}

/* One micro-operation, compare-and-set, or a drain, on one key. */
static bool is_operation(const struct rig_txn_op *ops, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (ops[i].key != ops[0].key)
            return false;
    }
    return (count == 1 && ops[0].kind != RIG_OP_EXPECT) ||
           (count == 2 && ops[0].kind == RIG_OP_EXPECT && ops[1].kind == RIG_OP_WRITE) || is_drain(ops, count);
}

enum rig_rc rig_object_ops_check(const struct rig_history *history, struct rig_err *err)
{
    const char *type = rig_data_types[history->workload].name;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t count = rig_txn_op_count(history, txn);
        const bool has_rows = history->workload == RIG_WORKLOAD_QUEUE || history->workload == RIG_WORKLOAD_STACK;
        if (has_rows && count == 0 && history->txns[txn].outcome == RIG_OUTCOME_INFO)
            return rig_fail(err, RIG_E_INPUT,
                            "T%" PRIu32
                            " has an unknown outcome and no operation: nothing tells which object it took values "
                            "of; give it its operations",
                            rig_txn_name(history, txn));
        if (count > 0 && !is_operation(rig_txn_ops(history, txn), count))
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
    build->ops->at[build->next[key]++] = (struct rig_object_op){txn, class, invoke, rig_txn_end(build->history, txn)};
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
    for (uint32_t i = 0; i < most; i += step) {
        const uint32_t class = rig_object_class_of(build->model, open_drain ? ops : ops + i, step);
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
    const uint32_t key_count = history->key_count;
    uint32_t total = 0;
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
