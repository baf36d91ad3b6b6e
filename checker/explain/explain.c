#include "checker/explain/explain.h"

#include <string.h>

#include "base/bug.h"
#include "checker/explain/type_words.h"
#include "checker/infer/type_inference.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the witnesses");
}

static bool is_dependency(enum rig_edge_kind kind)
{
    return kind != RIG_EDGE_PROCESS && kind != RIG_EDGE_REALTIME;
}

/* A step of which only the kind is known. */
static struct rig_step open_step(uint32_t from, uint32_t to, enum rig_edge_kind kind)
{
    return (struct rig_step){.from = from,
                             .to = to,
                             .kind = kind,
                             .key = UINT32_MAX,
                             .from_op = UINT32_MAX,
                             .to_op = UINT32_MAX,
                             .order_txn = UINT32_MAX,
                             .order_op = UINT32_MAX,
                             .order_other = UINT32_MAX};
}

/* Finds the operations that prove the edge. */
static bool prove_step(const struct rig_inference *inference, struct rig_step *step)
{
    const struct rig_history *history = inference->history;
    const struct rig_type_words *type = rig_type_words(history->workload);
    const bool proved =
        !is_dependency(step->kind) || (type->explain_step != NULL && type->explain_step(inference, step));
    if (proved && step->kind == RIG_EDGE_RW)
        step->by_predicate |= rig_type_found_no_row(history, inference->prefilled, step->from, step->from_op);
    return proved;
}

/* Whether the transaction has a read that may give rw edges by a predicate. */
static bool may_miss_rows(const struct rig_inference *inference, uint32_t txn)
{
    const struct rig_type_inference *type = rig_type_inference(inference->history->workload);
    const struct rig_txn_op *ops = rig_txn_ops(inference->history, txn);
    bool may = type->found_no_row == NULL;
    for (uint32_t i = 0; !may && i < rig_txn_op_count(inference->history, txn); i++)
        may = rig_op_reads(ops[i].kind) && ops[i].read_state != RIG_READ_UNKNOWN &&
              type->found_no_row(inference->history, &ops[i]);
    return may;
}

bool rig_cycle_is_by_predicate(const struct rig_inference *inference, const struct rig_cycle *cycle)
{
    for (size_t i = 0; i < cycle->count; i++) {
        const uint32_t from = cycle->at[i].txn, to = cycle->at[(i + 1) % cycle->count].txn;
        struct rig_step step = open_step(from, to, cycle->at[i].kind);
        if (step.kind == RIG_EDGE_RW && may_miss_rows(inference, from) && prove_step(inference, &step) &&
            step.by_predicate)
            return true;
    }
    return false;
}

/* The name of the cycle of the steps. */
static enum rig_anomaly name_of(const struct rig_inference *inference, const struct rig_cycle *cycle,
                                const struct rig_step *steps)
{
    const enum rig_anomaly anomaly = rig_cycle_anomaly(inference->history, &inference->versions, cycle);
    bool by_predicate = false;
    for (size_t i = 0; i < cycle->count; i++)
        by_predicate |= steps[i].by_predicate;
    return by_predicate ? rig_anomaly_by_predicate(anomaly) : anomaly;
}

static bool make_room(uint32_t count, struct rig_arena *arena, struct rig_witness *witness)
{
    *witness = (struct rig_witness){
        .key = UINT32_MAX, .op = UINT32_MAX, .other_op = UINT32_MAX, .txn_count = count, .step_count = count};
    witness->txns = rig_arena_array(arena, count, sizeof *witness->txns);
    witness->steps = rig_arena_array(arena, count, sizeof *witness->steps);
    return witness->txns != NULL && witness->steps != NULL;
}

static bool is_op_on(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    return op == UINT32_MAX || (op < rig_txn_op_count(history, txn) && rig_txn_ops(history, txn)[op].key == key);
}

/* The operations named belong to the step's transactions and to its key; evidence comes from committed ones. */
static bool is_step(const struct rig_inference *inference, const struct rig_step *step)
{
    const uint8_t *committed = inference->committed;
    return step->from != step->to && committed[step->from] && committed[step->to] &&
           is_op_on(inference->history, step->from, step->from_op, step->key) &&
           is_op_on(inference->history, step->to, step->to_op, step->key) &&
           (step->order_txn == UINT32_MAX || committed[step->order_txn]);
}

enum rig_rc rig_explain_cycle(const struct rig_inference *inference, const struct rig_cycle *cycle,
                              struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err)
{
    const uint32_t count = (uint32_t)cycle->count;
    struct rig_witness result;
    RIG_REQUIRE(count >= 2);
    if (!make_room(count, arena, &result))
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        result.txns[i] = cycle->at[i].txn;
        result.steps[i] = open_step(cycle->at[i].txn, cycle->at[(i + 1) % count].txn, cycle->at[i].kind);
        const bool proved = prove_step(inference, &result.steps[i]);
        RIG_INVARIANT(proved && is_step(inference, &result.steps[i]));
    }
    result.anomaly = name_of(inference, cycle, result.steps);
    *witness = result;
    return RIG_OK;
}

/*
 * The key and the reading operation of an arc are given. A transaction that wrote the key between the version that it
 * read and the next one comes before that one by its write. Two transactions that write several keys do so in one
 * order, which another of the keys may show.
 */
static struct rig_step step_of(const struct rig_inference *inference, const struct rig_arc *arc)
{
    struct rig_step step = open_step(arc->from, arc->to, arc->kind);
    if (!is_dependency(arc->kind))
        return step;
    step.key = arc->key;
    step.from_op = arc->kind == RIG_EDGE_RW ? arc->from_op : UINT32_MAX;
    step.to_op = arc->kind == RIG_EDGE_WR ? arc->to_op : UINT32_MAX;
    bool proved = prove_step(inference, &step);
    if (!proved && arc->kind != RIG_EDGE_WR) {
        step = open_step(arc->from, arc->to, RIG_EDGE_WW);
        proved = prove_step(inference, &step);
    }
    RIG_INVARIANT(proved && is_step(inference, &step));
    return step;
}

enum rig_rc rig_explain_arcs(const struct rig_inference *inference, const struct rig_arc *arcs, uint32_t count,
                             struct rig_arena *arena, struct rig_witness *witness, struct rig_err *err)
{
    struct rig_witness result;
    struct rig_cycle cycle = {0};
    uint32_t first = 0;
    if (!make_room(count, arena, &result) || !rig_cycle_reserve(&cycle, count))
        return no_memory(err);
    for (uint32_t i = 1; i < count; i++)
        first = arcs[i].from < arcs[first].from ? i : first;
    for (uint32_t i = 0; i < count; i++) {
        const struct rig_step step = step_of(inference, &arcs[(first + i) % count]);
        result.steps[i] = step;
        result.txns[i] = step.from;
        cycle.at[cycle.count++] = (struct rig_hop){step.from, step.kind};
    }
    result.anomaly = name_of(inference, &cycle, result.steps);
    rig_cycle_done(&cycle);
    *witness = result;
    return RIG_OK;
}

enum rig_rc rig_explain_noncyclic(const struct rig_noncyclic *found, struct rig_arena *arena,
                                  struct rig_witness *witness, struct rig_err *err)
{
    struct rig_witness result = {.anomaly = found->anomaly,
                                 .key = found->key,
                                 .op = found->op,
                                 .other_op = found->other_op,
                                 .value = found->value,
                                 .other_value = found->other_value,
                                 .txn_count = 1};
    result.txns = rig_arena_array(arena, 2 + RIG_HALVES_MOST, sizeof *result.txns);
    if (result.txns == NULL)
        return no_memory(err);
    result.txns[0] = found->txn;
    if (found->other != UINT32_MAX && found->other != found->txn)
        result.txns[result.txn_count++] = found->other;
    for (uint32_t i = 0; i < found->halves.count; i++)
        result.txns[result.txn_count++] = found->halves.txns[i];
    *witness = result;
    return RIG_OK;
}
