#include "checker/infer/object_inference.h"

#include "checker/objects/object_ops.h"

static bool shows_anything(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_EXPECT || ops[i].read_state != RIG_READ_UNKNOWN)
            return true;
    }
    return false;
}

static uint64_t count_unknown(const struct rig_history *history, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    uint64_t count = 0;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
        count += rig_op_reads(ops[i].kind) && ops[i].read_state == RIG_READ_UNKNOWN;
    return count;
}

enum rig_rc rig_infer_objects(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                              struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err)
{
    *inference = (struct rig_inference){
        .history = history, .initial = assumptions.initial, .noncyclic = {.most_kept = most_kept}};
    const enum rig_rc rc = rig_object_ops_check(history, err);
    if (rc != RIG_OK)
        return rc;
    uint8_t *committed = rig_arena_array(arena, (size_t)history->txn_count + 1, 1);
    if (committed == NULL || !rig_links_init(&inference->links, arena, history->txn_count, 0, 0))
        return rig_memory_limit(err, "the operations");
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const enum rig_outcome outcome = (enum rig_outcome)history->txns[txn].outcome;
        inference->fail_count += outcome == RIG_OUTCOME_FAIL;
        if (outcome != RIG_OUTCOME_OK)
            continue;
        committed[txn] = 1;
        inference->ok_count++;
        inference->observations += shows_anything(history, txn);
        inference->unknown_reads += count_unknown(history, txn);
    }
    inference->committed = committed;
    inference->committed_count = inference->ok_count;
    return RIG_OK;
}
