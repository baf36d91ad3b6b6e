#include "checker/object/object_ops.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bug.h"
#include "history/types.h"

static bool is_drain(const struct rig_txn_op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].kind != RIG_OP_DEQUEUE && ops[i].kind != RIG_OP_POP)
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
        if (count == 0 && history->txns[txn].outcome == RIG_OUTCOME_INFO)
            return rig_fail(err, RIG_E_INPUT,
                            "T%" PRIu32 " is a drain of unknown outcome: nothing tells how many values it took; remove "
                            "what follows it, or use dequeues of single values",
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
    const uint32_t step = count > 0 && is_drain(ops, count) ? 1 : count;
    for (uint32_t i = 0; i < count; i += step) {
        const uint32_t class = rig_object_class_of(build->model, ops + i, step);
        if (class == RIG_OBJECT_NONE)
            return false;
        if (!is_kept(&build->model->classes.at[class], (enum rig_outcome)build->history->txns[txn].outcome))
            continue;
        if (build->ops->at == NULL)
            build->next[ops->key]++;
        else
            put(build, txn, ops->key, class);
    }
    return true;
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

bool rig_object_ops_build(const struct rig_history *history, uint32_t only, struct rig_object_model *model,
                          struct rig_arena *arena, struct rig_object_ops *ops)
{
    const uint32_t key_count = history->key_count;
    uint32_t total = 0;
    *ops = (struct rig_object_ops){.key_count = key_count};
    struct build build = {history, only, model, ops, rig_arena_array(arena, (size_t)key_count + 1, sizeof *build.next)};
    ops->first = rig_arena_array(arena, (size_t)key_count + 1, sizeof *ops->first);
    if (build.next == NULL || ops->first == NULL || !take_txns(&build))
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
    }
    return true;
}
