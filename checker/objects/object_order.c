#include "checker/objects/object_order.h"

#include <stdlib.h>

#include "base/bug.h"
#include "checker/objects/object_key.h"
#include "checker/objects/object_sessions.h"

/* When an operation takes effect, and its place among those of all objects, which ascends in each object's order. */
struct moment {
    uint32_t at, place, txn;
};

RIG_VEC(struct moment, moments)

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : (a->place > b->place) - (a->place < b->place);
}

/* Adds the operations of one object. False when memory runs out. */
static bool add_object(struct rig_object_model *model, const struct rig_object_ops *ops, uint32_t number,
                       const struct rig_objects_limits *limits, struct moments *moments, bool *found)
{
    RIG_REQUIRE(number < ops->key_count && model->initial < model->states.count);
    const struct rig_object_key key = {.model = model,
                                       .ops = ops->at + ops->first[number],
                                       .count = ops->first[number + 1] - ops->first[number],
                                       .open = {RIG_POSITION_NONE, UINT32_MAX},
                                       .until = RIG_POSITION_NONE};
    const struct rig_object_search_limits own = {.deadline_ns = limits->deadline_ns, .bytes = limits->bytes};
    struct rig_object_decided decided;
    uint32_t at = 0;
    if (key.count == 0)
        return true;
    rig_object_key_decide(&key, &own, &decided);
    bool fits = decided.answer != RIG_OBJECT_NO_MEMORY;
    const struct rig_object_op *of = decided.ops;
    *found = decided.answer == RIG_OBJECT_LINEARIZABLE && of != NULL;
    for (size_t i = 0; fits && *found && i < decided.result.order.count; i++) {
        const struct rig_object_op *op = &of[decided.result.order.at[i]];
        at = op->invoke > at ? op->invoke : at;
        RIG_INVARIANT(op->end >= at && "the order keeps real time");
        fits = moments_add(moments, (struct moment){at, (uint32_t)moments->count, op->txn});
    }
    rig_object_decided_done(&decided);
    return fits;
}

/* The states that registers begin with; NULL when memory runs out. */
static const uint32_t *find_initial(const struct rig_history *history, struct rig_known_initial initial,
                                    struct rig_object_model *model, struct rig_arena *arena)
{
    const struct rig_begin *begins = rig_object_begins_find(history, initial, false, arena);
    return begins == NULL ? NULL : rig_object_begins_states(begins, history->key_count, model, arena);
}

bool rig_objects_order_find(const struct rig_history *history, struct rig_known_initial initial,
                            const struct rig_objects_limits *limits, struct rig_objects_order *order, bool *found)
{
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_arena arena;
    struct moments moments = {0};
    rig_arena_init(&arena, 0);
    bool fits = rig_object_model_init(&model, history->workload, limits->bytes) &&
                rig_object_ops_build(history, UINT32_MAX, &model, &arena, &ops);
    const uint32_t *states = fits ? find_initial(history, initial, &model, &arena) : NULL;
    *found = true;
    fits = states != NULL;
    for (uint32_t key = 0; fits && *found && key < ops.key_count; key++) {
        model.initial = states[key];
        fits = add_object(&model, &ops, key, limits, &moments, found);
    }
    if (fits && *found && moments.count > 0)
        qsort(moments.at, moments.count, sizeof *moments.at, compare_moments);
    for (size_t i = 0; fits && *found && i < moments.count; i++)
        fits = rig_objects_order_add(order, moments.at[i].txn);
    moments_done(&moments);
    rig_object_model_done(&model);
    rig_arena_done(&arena);
    return fits;
}

bool rig_objects_order_of_sessions(const struct rig_history *history, struct rig_known_initial initial,
                                   const struct rig_objects_limits *limits, struct rig_objects_order *order,
                                   bool *found)
{
    const struct rig_object_search_limits own = {.deadline_ns = limits->deadline_ns, .bytes = limits->bytes};
    struct rig_object_sessions sessions;
    struct rig_object_order places = {0};
    struct rig_object_model model;
    struct rig_object_ops ops;
    struct rig_arena arena;
    rig_arena_init(&arena, limits->bytes);
    bool fits = rig_object_model_init(&model, history->workload, limits->bytes);
    model.timeless = true;
    fits = fits && rig_object_ops_build(history, UINT32_MAX, &model, &arena, &ops) &&
           rig_object_sessions_build(history, &ops, UINT32_MAX, NULL, &arena, &sessions);
    sessions.initial = fits ? find_initial(history, initial, &model, &arena) : NULL;
    fits = sessions.initial != NULL;
    const enum rig_object_answer answer =
        fits ? rig_object_sessions_search(&model, &sessions, &own, &places) : RIG_OBJECT_NO_MEMORY;
    *found = answer == RIG_OBJECT_LINEARIZABLE;
    fits = answer != RIG_OBJECT_NO_MEMORY;
    for (size_t i = 0; fits && *found && i < places.count; i++) {
        RIG_INVARIANT(places.at[i] < sessions.count);
        fits = rig_objects_order_add(order, sessions.at[places.at[i]].txn);
    }
    rig_object_order_done(&places);
    rig_object_model_done(&model);
    rig_arena_done(&arena);
    return fits;
}
