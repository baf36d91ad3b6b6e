#include "checker/infer/set_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "checker/model/orders.h"

struct build {
    const struct rig_history *history;
    const struct rig_sets *sets;
    struct rig_problem *problem;
    bool items;           /* without reads that found no row */
    uint32_t *node;       /* per transaction: its node, or RIG_PROBLEM_NONE */
    uint32_t *before;     /* per transaction, in its process (model/orders.h) */
    uint32_t *problem_of; /* per element: its key in the problem, or RIG_PROBLEM_NONE */
    struct rig_set_marks marks;
    struct rig_table sessions;
};

static void number_nodes(const struct build *b, const uint8_t *selected)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < b->history->txn_count; txn++) {
        const bool counts = b->sets->committed[txn] && (selected == NULL || selected[txn]);
        b->node[txn] = counts ? count++ : RIG_PROBLEM_NONE;
    }
}

/* Elements whose writer is not in the question restrict nothing. */
static void number_elements(struct build *b)
{
    for (uint32_t i = 0; i < b->sets->element_count; i++) {
        const bool counts = b->node[b->sets->elements[i].writer] != RIG_PROBLEM_NONE;
        b->problem_of[i] = counts ? b->problem->key_count++ : RIG_PROBLEM_NONE;
    }
}

static bool add_txn(struct build *b, uint32_t txn)
{
    const struct rig_txn *t = &b->history->txns[txn];
    const bool timed = b->history->has_invocations;
    uint32_t *session = rig_table_put(&b->sessions, (uint32_t)t->process);
    uint32_t before = b->before[txn];
    if (session == NULL)
        return false;
    if (*session == RIG_TABLE_NONE)
        *session = b->problem->session_count;
    while (before != RIG_NODE_NONE && b->node[before] == RIG_PROBLEM_NONE)
        before = b->before[before];
    const struct rig_problem_txn added = {
        .txn = txn,
        .session = *session,
        .before = before == RIG_NODE_NONE ? RIG_PROBLEM_NONE : b->node[before],
        .invoked = timed && t->invoke_at != RIG_POSITION_NONE ? t->invoke_at : 0,
        .ended = timed ? rig_txn_end(b->history, txn) : UINT32_MAX,
    };
    return rig_problem_add_txn(b->problem, &added);
}

/* The read shows, or misses, each element of its key. */
static bool add_read(struct build *b, uint32_t txn, const struct rig_txn_op *read, uint32_t place)
{
    const struct rig_sets *sets = b->sets;
    bool done = true;
    rig_set_marks_take(&b->marks, sets, read);
    for (uint32_t i = sets->key_first[read->key]; done && i < sets->key_first[read->key + 1]; i++) {
        const uint32_t writer = sets->elements[i].writer;
        if (b->problem_of[i] == RIG_PROBLEM_NONE || writer == txn)
            continue;
        const bool shows = rig_set_is_marked(&b->marks, i);
        if (!shows && b->items)
            continue;
        done = rig_problem_add_read(
            b->problem, &(struct rig_problem_read){.op = place,
                                                   .key = b->problem_of[i],
                                                   .writer = shows ? b->node[writer] : RIG_PROBLEM_INITIAL});
    }
    return done;
}

static bool add_ops(struct build *b, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(b->history, txn);
    bool done = true;
    for (uint32_t i = 0; done && i < rig_txn_op_count(b->history, txn); i++) {
        if (ops[i].kind == RIG_OP_ADD)
            done =
                rig_problem_add_write(b->problem, b->problem_of[rig_sets_find(b->sets, ops[i].key, ops[i].value)], i);
        else if (rig_set_is_read(&ops[i]))
            done = add_read(b, txn, &ops[i], i);
    }
    return done;
}

static bool build(struct build *b, const struct rig_inference *inference, const uint8_t *selected)
{
    const struct rig_history *history = b->history;
    struct rig_arena *arena = inference->links.arena;
    const size_t txns = (size_t)history->txn_count + 1;
    b->node = rig_arena_room(arena, txns, sizeof *b->node);
    b->before = rig_arena_room(arena, txns, sizeof *b->before);
    b->problem_of = rig_arena_room(arena, (size_t)b->sets->element_count + 1, sizeof *b->problem_of);
    if (b->node == NULL || b->before == NULL || b->problem_of == NULL ||
        !rig_set_marks_init(&b->marks, b->sets, arena) ||
        !rig_process_order(history, inference->committed, arena, b->before))
        return false;
    number_nodes(b, selected);
    number_elements(b);
    b->problem->has_realtime = history->has_invocations;
    bool done = true;
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++)
        done = b->node[txn] == RIG_PROBLEM_NONE || (add_txn(b, txn) && add_ops(b, txn));
    return done && rig_problem_finish(b->problem);
}

enum rig_rc rig_set_problem(const struct rig_inference *inference, const uint8_t *selected, bool items,
                            struct rig_problem *problem, struct rig_err *err)
{
    struct build b = {.history = inference->history, .sets = &inference->sets, .problem = problem, .items = items};
    *problem = (struct rig_problem){0};
    rig_table_init(&b.sessions);
    const bool done = build(&b, inference, selected);
    rig_table_done(&b.sessions);
    return done ? RIG_OK : rig_memory_limit(err, "the question that the levels ask");
}
