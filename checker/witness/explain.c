#include "checker/witness/explain.h"

#include <string.h>

#include "base/bug.h"
#include "checker/checker_types.h"

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the witnesses");
}

/* Finds the operations that prove the edge. */
static void prove_step(const struct rig_inference *inference, struct rig_step *step)
{
    const bool dependency = step->kind != RIG_EDGE_PROCESS && step->kind != RIG_EDGE_REALTIME;
    step->key = UINT32_MAX;
    step->from_op = step->to_op = step->order_txn = step->order_op = step->order_other = UINT32_MAX;
    RIG_INVARIANT(!dependency || rig_type_inference(inference->history->workload)->explain_step(inference, step));
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
    uint32_t count = (uint32_t)cycle->count;
    RIG_REQUIRE(count >= 2);
    struct rig_witness result = {.anomaly = rig_cycle_anomaly(inference->history, &inference->versions, cycle),
                                 .key = UINT32_MAX,
                                 .op = UINT32_MAX,
                                 .other_op = UINT32_MAX,
                                 .txn_count = count,
                                 .step_count = count};
    result.refutes = rig_levels_refuted_by(result.anomaly, true);
    result.txns = rig_arena_array(arena, count, sizeof *result.txns);
    result.steps = rig_arena_array(arena, count, sizeof *result.steps);
    if (result.txns == NULL || result.steps == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        struct rig_step *step = &result.steps[i];
        result.txns[i] = cycle->at[i].txn;
        step->from = cycle->at[i].txn;
        step->to = cycle->at[(i + 1) % count].txn;
        step->kind = cycle->at[i].kind;
        prove_step(inference, step);
        RIG_INVARIANT(is_step(inference, step));
    }
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
    result.refutes = rig_levels_refuted_by(found->anomaly, !found->unsettled);
    result.txns = rig_arena_array(arena, 2, sizeof *result.txns);
    if (result.txns == NULL)
        return no_memory(err);
    result.txns[0] = found->txn;
    if (found->other != UINT32_MAX && found->other != found->txn)
        result.txns[result.txn_count++] = found->other;
    *witness = result;
    return RIG_OK;
}
