#include "run/run_rollback.h"

#include <string.h>

#include "base/bug.h"
#include "run/run_state.h"

bool rig_run_rolls_back(const struct rig_plan *plan)
{
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        if (rig_plan_workload(plan, i)->rollback_share > 0)
            return true;
    }
    return false;
}

void rig_run_rollback_invoke(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns)
{
    const struct rig_transaction *transaction = &client->transaction;
    const uint32_t from = transaction->rollback.from, to = transaction->rollback.to;
    struct rig_column_row columns = {0};
    RIG_REQUIRE(from < to && to < transaction->op_count);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, transaction->ops + from,
                       to - from);
    rig_column_give(&columns, RIG_COLUMN_SAVEPOINT, from);
    rig_channel_columns(client->channel, &columns);
    rig_channel_complete(client->channel, start_ns, RIG_OUTCOME_FAIL, transaction->reads, NULL,
                         "savepoint: the process's next transaction rolled these operations back");
    memcpy(client->kept_ops, transaction->ops, from * sizeof *client->kept_ops);
    memcpy(client->kept_ops + from, transaction->ops + to, (transaction->op_count - to) * sizeof *client->kept_ops);
    rig_channel_invoke(client->channel, client->session.process, start_ns, intended_ns, client->kept_ops,
                       transaction->op_count - (to - from));
}

void rig_run_rollback_answer(struct rig_transaction *transaction)
{
    const uint32_t from = transaction->rollback.from, to = transaction->rollback.to;
    int64_t *before = &transaction->columns.at[RIG_COLUMN_HELD_BEFORE];
    memmove(transaction->reads + from, transaction->reads + to,
            (transaction->op_count - to) * sizeof *transaction->reads);
    if ((transaction->columns.given & RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE)) != 0 && *before > from)
        *before -= to - from;
}
