#include "checker/object/object_pair.h"

#include <stdlib.h>

#include "base/clock.h"

enum { MOST_VALUES = 4096 };

struct looking {
    struct rig_object_model *model;
    const struct rig_object_rows *rows;
    const struct rig_object_op *ops;
    uint32_t count;
    const struct rig_object_search_limits *limits;
    struct rig_object_pair *pair;
    bool failed; /* memory ran out */
};

static bool adds(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ENQUEUE || op->kind == RIG_OP_PUSH;
}

/* Keeps the operations on the values of the pair, and the take `nothing` that found nothing; UINT32_MAX: none. */
static void keep(struct looking *l, uint32_t nothing)
{
    struct rig_object_pair *pair = l->pair;
    pair->ops.count = 0;
    for (uint32_t i = 0; i < l->count && !l->failed; i++) {
        const struct rig_txn_op *op = &l->model->classes.at[l->ops[i].class].ops[0];
        struct rig_object_op kept = l->ops[i];
        const bool has_value = adds(op) || op->read_state == RIG_READ_SEEN;
        const bool has_unknown = !adds(op) && op->read_state == RIG_READ_UNKNOWN;
        if (has_unknown)
            kept.end = RIG_POSITION_NONE;
        if (has_unknown || i == nothing ||
            (has_value && (op->value == pair->values[0] || op->value == pair->values[1])))
            l->failed = !rig_object_op_list_add(&pair->ops, kept);
    }
}

/* Whether these have no order. */
static bool refutes(struct looking *l, int64_t first, int64_t second, uint32_t nothing)
{
    struct rig_object_pair *pair = l->pair;
    pair->values[0] = first;
    pair->values[1] = second;
    keep(l, nothing);
    rig_object_result_done(&pair->result);
    pair->result = (struct rig_object_result){.blocked = 0};
    if (l->failed)
        return false;
    const enum rig_object_answer answer =
        rig_object_search(l->model, pair->ops.at, (uint32_t)pair->ops.count, l->limits, &pair->result);
    l->failed = answer == RIG_OBJECT_NO_MEMORY;
    return answer == RIG_OBJECT_REFUTED;
}

/* The intervals of a value. */
struct life {
    int64_t value;
    uint32_t add_from, add_until, take_from, take_until, takes;
    bool added;
};

RIG_VEC(struct life, lives)

static bool note_lives(const struct looking *l, struct lives *lives)
{
    struct rig_table number_of;
    bool noted = true;
    rig_table_init(&number_of);
    for (uint32_t i = 0; noted && i < l->count; i++) {
        const struct rig_txn_op *op = &l->model->classes.at[l->ops[i].class].ops[0];
        if (!adds(op) && (op->read_state != RIG_READ_SEEN || l->ops[i].end == RIG_POSITION_NONE))
            continue;
        uint32_t *number = rig_table_put(&number_of, (uint64_t)op->value);
        noted = number != NULL;
        if (noted && *number == RIG_TABLE_NONE) {
            /* Takes of unknown result may take a value at any time. */
            const uint32_t never = l->rows->may_vanish ? 0 : RIG_POSITION_NONE;
            *number = (uint32_t)lives->count;
            noted = lives_add(lives, (struct life){.value = op->value,
                                                   .add_until = RIG_POSITION_NONE,
                                                   .take_from = never,
                                                   .take_until = RIG_POSITION_NONE});
        }
        struct life *life = noted ? &lives->at[*number] : NULL;
        if (noted && adds(op)) {
            life->added = true;
            life->add_from = l->ops[i].invoke;
            life->add_until = l->ops[i].end;
        } else if (noted) {
            life->takes++;
            life->take_from = l->ops[i].invoke;
            life->take_until = l->ops[i].end;
        }
    }
    rig_table_done(&number_of);
    return noted;
}

/* Whether `a` certainly leaves a queue before `b`. */
static bool goes_before(const struct life *a, const struct life *b)
{
    return a->add_until < b->add_from || a->take_until < b->take_from || a->take_until < b->add_from;
}

static bool find_one(struct looking *l, const struct lives *lives)
{
    for (size_t i = 0; i < lives->count && !l->failed; i++) {
        const struct life *life = &lives->at[i];
        const bool odd = life->takes > 1 || !life->added || life->take_until < life->add_from;
        if (odd && refutes(l, life->value, life->value, UINT32_MAX))
            return true;
    }
    return false;
}

/* A value that is there all the time in which a take found nothing. */
static bool find_nothing(struct looking *l, const struct lives *lives)
{
    for (uint32_t i = 0; i < l->count && !l->failed; i++) {
        const struct rig_object_op *op = &l->ops[i];
        const struct rig_txn_op *of = &l->model->classes.at[op->class].ops[0];
        for (size_t j = 0; !adds(of) && of->read_state == RIG_READ_NIL && j < lives->count; j++) {
            const struct life *life = &lives->at[j];
            if (life->add_until < op->invoke && life->take_from > op->end && refutes(l, life->value, life->value, i))
                return true;
        }
    }
    return false;
}

static bool find_two(struct looking *l, const struct lives *lives)
{
    const bool queue = l->model->workload == RIG_WORKLOAD_QUEUE;
    for (size_t i = 0; i < lives->count && !l->failed; i++) {
        for (size_t j = queue ? i + 1 : 0; j < lives->count && !l->failed; j++) {
            const struct life *a = &lives->at[i], *b = &lives->at[j];
            /* In a stack b is put on a and is still there when a is taken. */
            const bool odd =
                queue ? goes_before(a, b) && goes_before(b, a)
                      : a->add_until < b->add_from && b->add_until < a->take_from && a->take_until < b->take_from;
            if (odd && refutes(l, a->value, b->value, UINT32_MAX))
                return true;
        }
        if (rig_clock_now_ns() > l->limits->deadline_ns)
            return false;
    }
    return false;
}

bool rig_object_pair_find(struct rig_object_model *model, const struct rig_object_rows *rows,
                          const struct rig_object_op *ops, uint32_t count,
                          const struct rig_object_search_limits *limits, struct rig_object_pair *pair)
{
    struct looking l = {.model = model, .rows = rows, .ops = ops, .count = count, .limits = limits, .pair = pair};
    struct lives lives = {0};
    l.failed = !note_lives(&l, &lives);
    pair->found = !l.failed && (find_one(&l, &lives) ||
                                (lives.count <= MOST_VALUES && (find_nothing(&l, &lives) || find_two(&l, &lives))));
    lives_done(&lives);
    return !l.failed;
}

void rig_object_pair_done(struct rig_object_pair *pair)
{
    rig_object_op_list_done(&pair->ops);
    rig_object_result_done(&pair->result);
}
