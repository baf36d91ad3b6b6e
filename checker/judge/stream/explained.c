#include "checker/judge/stream/explained.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/type_inference.h"
#include "history/model/window_view.h"

/* ---- explaining ---- */

/* The nodes that no judgement has seen before, ascending. */
static uint32_t *find_fresh(const struct rig_problem *problem, const struct rig_history *history, uint32_t *count)
{
    uint32_t *nodes = malloc(((size_t)problem->txn_count + 1) * sizeof *nodes);
    *count = 0;
    for (uint32_t node = 0; nodes != NULL && node < problem->txn_count; node++) {
        nodes[*count] = node;
        *count += !rig_txn_is_settled(&history->txns[problem->txns.at[node].txn]);
    }
    return nodes;
}

/* The question of the transactions that were not judged before. */
static enum rig_rc build_rest(const struct rig_inference *inference, bool items, struct rig_problem *rest,
                              struct rig_err *err)
{
    struct rig_problem whole = {0};
    uint32_t count = 0;
    enum rig_rc rc =
        rig_type_inference(inference->history->workload)->build_problem(inference, NULL, items, &whole, err);
    uint32_t *nodes = rc == RIG_OK ? find_fresh(&whole, inference->history, &count) : NULL;
    if (rc == RIG_OK && nodes == NULL)
        rc = rig_memory_limit(err, "the question that the levels ask");
    if (rc == RIG_OK && count == whole.txn_count) {
        *rest = whole;
        whole = (struct rig_problem){0};
    } else if (rc == RIG_OK && !rig_problem_rest(&whole, nodes, count, rest)) {
        rc = rig_memory_limit(err, "the question that the levels ask");
    }
    free(nodes);
    rig_problem_done(&whole);
    return rc;
}

/* The levels below the explained ones. */
static uint64_t covered_by(const struct rig_explanations *orders)
{
    uint64_t covered = 0;
    for (uint32_t i = 0; i < orders->count; i++)
        covered |= rig_level_info(orders->at[i].level)->below;
    return covered;
}

/* Makes the problem of a question, of all levels or of those of items. */
typedef enum rig_rc build_problem(const struct rig_inference *inference, bool items, struct rig_problem *problem,
                                  struct rig_err *err);

/* Explains levels of items apart from the others, where a read found no row. The problem without that read has the same
 * transactions and writes, so its orders are orders of the first one. */
static enum rig_rc explain(const struct rig_inference *inference, uint64_t levels, build_problem *build,
                           const struct rig_solve_budget *budget, struct rig_explained *explained, struct rig_err *err)
{
    const struct rig_history *history = inference->history;
    struct rig_problem items = {0};
    struct rig_explanations of_items = {0};
    *explained = (struct rig_explained){0};
    enum rig_rc rc = build(inference, false, &explained->problem, err);
    if (rc != RIG_OK)
        return rc;
    const uint64_t apart = rig_type_has_phantoms(inference, &explained->problem) ? levels & rig_levels_of_items() : 0;
    rc = rig_explanations_find(&explained->problem, history, levels & ~apart, budget, &explained->orders, err);
    const uint64_t covered = apart & covered_by(&explained->orders);
    explained->orders.explained |= covered;
    if (rc != RIG_OK || covered == apart)
        return rc;
    rc = build(inference, true, &items, err);
    if (rc == RIG_OK)
        rc = rig_explanations_find(&items, history, apart & ~covered, budget, &of_items, err);
    rig_explanations_move(&explained->orders, &of_items);
    rig_explanations_done(&of_items);
    rig_problem_done(&items);
    return rc;
}

enum rig_rc rig_explained_find(const struct rig_inference *inference, uint64_t levels,
                               const struct rig_solve_budget *budget, struct rig_explained *explained,
                               struct rig_err *err)
{
    return explain(inference, levels, build_rest, budget, explained, err);
}

static enum rig_rc build_whole(const struct rig_inference *inference, bool items, struct rig_problem *problem,
                               struct rig_err *err)
{
    return rig_type_inference(inference->history->workload)->build_problem(inference, NULL, items, problem, err);
}

enum rig_rc rig_explained_find_whole(const struct rig_inference *inference, uint64_t levels,
                                     const struct rig_solve_budget *budget, struct rig_explained *explained,
                                     struct rig_err *err)
{
    return explain(inference, levels, build_whole, budget, explained, err);
}

void rig_explained_done(struct rig_explained *explained)
{
    rig_problem_done(&explained->problem);
    rig_explanations_done(&explained->orders);
}

/* ---- closing along explanations ---- */

/* The versions of each key in the order of one explanation. */
struct version_order {
    bool by_reads;   /* the level looks at rw edges */
    uint32_t *next;  /* per write: the node that wrote the next version, or RIG_PROBLEM_NONE */
    uint32_t *first; /* per key: the node that wrote the first version, or RIG_PROBLEM_NONE */
};

struct extension {
    const struct rig_problem *problem;
    const struct rig_inference *inference;
    struct version_order orders[RIG_LEVEL_COUNT];
    uint32_t order_count;
    uint8_t *waits;         /* per transaction */
    uint32_t *node_of;      /* per transaction, or RIG_PROBLEM_NONE */
    uint32_t *stack, depth; /* nodes that wait and whose successors have not been visited */
    bool more;
};

/* Orders the versions; `at` is scratch of a number a node, `last` of one a key. */
static void order_versions(const struct rig_problem *problem, const uint32_t *place, struct version_order *order,
                           uint32_t *at, uint32_t *last)
{
    memset(order->next, 0xff, (problem->writes.count + 1) * sizeof order->next[0]);
    memset(order->first, 0xff, ((size_t)problem->key_count + 1) * sizeof order->first[0]);
    memset(last, 0xff, ((size_t)problem->key_count + 1) * sizeof last[0]);
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        RIG_INVARIANT(place[node] < problem->txn_count);
        at[place[node]] = node;
    }
    for (uint32_t i = 0; i < problem->txn_count; i++) {
        const uint32_t node = at[i];
        for (uint32_t w = problem->txns.at[node].first_write; w < problem->txns.at[node + 1].first_write; w++) {
            const uint32_t key = problem->writes.at[w].key;
            *(last[key] == RIG_PROBLEM_NONE ? &order->first[key] : &order->next[last[key]]) = node;
            last[key] = w;
        }
    }
}

static bool make_orders(struct extension *e, const struct rig_explanations *explanations, struct rig_arena *arena)
{
    const struct rig_problem *problem = e->problem;
    uint32_t *at = rig_arena_room(arena, (size_t)problem->txn_count + 1, sizeof *at);
    uint32_t *last = rig_arena_room(arena, (size_t)problem->key_count + 1, sizeof *last);
    for (uint32_t i = 0; at != NULL && last != NULL && i < explanations->count; i++) {
        struct version_order *order = &e->orders[e->order_count];
        const enum rig_rule_form form = rig_level_rule(explanations->at[i].level)->form;
        order->by_reads = form != RIG_RULE_WRITES && form != RIG_RULE_FLOW;
        order->next = rig_arena_room(arena, problem->writes.count + 1, sizeof *order->next);
        order->first = rig_arena_room(arena, (size_t)problem->key_count + 1, sizeof *order->first);
        if (order->next == NULL || order->first == NULL)
            return false;
        order_versions(problem, explanations->at[i].place, order, at, last);
        e->order_count++;
    }
    return at != NULL && last != NULL;
}

static bool begin(struct extension *e, const struct rig_explanations *explanations, struct rig_arena *arena)
{
    const size_t txn_count = (size_t)e->inference->history->txn_count + 1;
    e->node_of = rig_arena_room(arena, txn_count, sizeof *e->node_of);
    e->stack = rig_arena_room(arena, (size_t)e->problem->txn_count + 1, sizeof *e->stack);
    if (e->node_of == NULL || e->stack == NULL)
        return false;
    memset(e->node_of, 0xff, txn_count * sizeof *e->node_of);
    for (uint32_t node = 0; node < e->problem->txn_count; node++)
        e->node_of[e->problem->txns.at[node].txn] = node;
    return make_orders(e, explanations, arena);
}

static void push(struct extension *e, uint32_t node)
{
    RIG_INVARIANT(e->depth < e->problem->txn_count);
    e->stack[e->depth++] = node;
}

static void make_wait(struct extension *e, uint32_t node)
{
    if (node == RIG_PROBLEM_NONE || e->waits[e->problem->txns.at[node].txn])
        return;
    e->waits[e->problem->txns.at[node].txn] = 1;
    e->more = true;
    push(e, node);
}

/* The next version after the one that was read, unless it is the reader's own. */
static void follow_read(struct extension *e, const struct version_order *order, const struct rig_problem_read *read)
{
    uint32_t next = order->first[read->key];
    if (read->writer != RIG_PROBLEM_INITIAL) {
        const uint32_t write = rig_problem_write_of(e->problem, read->writer, read->key);
        next = write == RIG_PROBLEM_NONE ? next : order->next[write];
    }
    make_wait(e, next);
}

/* The transactions whose versions an explanation puts directly after those that the node wrote, or read. */
static void follow(struct extension *e, uint32_t node)
{
    const struct rig_problem *problem = e->problem;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write; w++) {
        for (uint32_t o = 0; o < e->order_count; o++)
            make_wait(e, e->orders[o].next[w]);
    }
    for (uint32_t r = txn[0].first_read; r < txn[1].first_read; r++) {
        for (uint32_t o = 0; o < e->order_count; o++) {
            if (e->orders[o].by_reads)
                follow_read(e, &e->orders[o], &problem->reads.at[r]);
        }
    }
}

/* A waiting transaction of unknown fate may turn out to precede each version that may follow those it read. */
static bool follow_unknown(struct extension *e, struct rig_arena *arena)
{
    const struct rig_history *history = e->inference->history;
    uint8_t *keys = rig_arena_array(arena, (size_t)history->key_count + 1, 1);
    bool any = false;
    for (uint32_t txn = 0; keys != NULL && txn < history->txn_count; txn++) {
        if (!e->waits[txn] || e->inference->committed[txn] || history->txns[txn].outcome != RIG_OUTCOME_INFO)
            continue;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
            keys[op->key] |= rig_op_reads(op->kind);
            any |= rig_op_reads(op->kind);
        }
    }
    for (uint32_t node = 0; any && keys != NULL && node < e->problem->txn_count; node++) {
        const uint32_t txn = e->problem->txns.at[node].txn;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            const struct rig_txn_op *op = rig_txn_ops(history, txn) + i;
            if (keys[op->key] && !rig_op_reads(op->kind))
                make_wait(e, node);
        }
    }
    return keys != NULL;
}

bool rig_explained_extend(const struct rig_explained *explained, const struct rig_inference *inference,
                          struct rig_arena *arena, uint8_t *waits, bool *more)
{
    struct extension e = {.problem = &explained->problem, .inference = inference, .waits = waits};
    if (!begin(&e, &explained->orders, arena))
        return false;
    for (uint32_t node = 0; node < e.problem->txn_count; node++) {
        if (waits[e.problem->txns.at[node].txn])
            push(&e, node);
    }
    if (!follow_unknown(&e, arena))
        return false;
    while (e.depth > 0)
        follow(&e, e.stack[--e.depth]);
    *more = e.more;
    return true;
}
