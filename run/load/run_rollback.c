#include "run/load/run_rollback.h"

#include <string.h>

#include "base/bug.h"
#include "run/load/run_state.h"

bool rig_run_rolls_back(const struct rig_plan *plan)
{
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        if (rig_plan_workload(plan, i)->rollback_share > 0)
            return true;
    }
    return false;
}

/* Copies the operations that the transaction undoes, or the others; returns their number. */
static uint32_t pick(const struct rig_transaction *transaction, bool undone, struct rig_op *to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (rig_rollback_undoes(&transaction->rollback, transaction->ops, i) == undone)
            to[count++] = transaction->ops[i];
    }
    return count;
}

void rig_run_rollback_invoke(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    struct rig_column_row columns = {0};
    RIG_REQUIRE(rig_rollback_wanted(&transaction->rollback) && transaction->rollback.to < transaction->op_count);
    uint32_t count = pick(transaction, true, client->kept_ops);
    RIG_REQUIRE(count > 0);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, client->kept_ops, count);
    rig_column_give(&columns, RIG_COLUMN_SAVEPOINT, transaction->rollback.from);
    rig_channel_columns(client->channel, &columns);
    rig_channel_complete(client->channel, start_ns, RIG_OUTCOME_FAIL, transaction->reads, NULL,
                         "savepoint: the process's next transaction rolled these operations back");
    count = pick(transaction, false, client->kept_ops);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, client->kept_ops, count);
}

void rig_run_rollback_answer(struct rig_transaction *transaction)
{
    const struct rig_rollback *rollback = &transaction->rollback;
    int64_t *before = &transaction->columns.at[RIG_COLUMN_HELD_BEFORE];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        if (!rig_rollback_undoes(rollback, transaction->ops, i))
            transaction->reads[kept++] = transaction->reads[i];
    }
    if ((transaction->columns.given & RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE)) != 0)
        *before = rig_rollback_number(rollback, transaction->ops, (uint32_t)*before);
}
