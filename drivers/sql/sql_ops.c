#include "drivers/sql/sql_ops.h"

bool rig_sql_compares(const struct rig_transaction *transaction, uint32_t op)
{
    return op > 0 && transaction->ops[op - 1].kind == RIG_OP_EXPECT;
}

uint32_t rig_sql_builds_on(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_op *ops = transaction->ops;
    uint32_t at = ops[op].kind == RIG_OP_INCREMENT ? op : 0;
    while (at > 0 && (ops[at - 1].key != ops[op].key || !rig_op_reads(ops[at - 1].kind)))
        at--;
    return at - 1; /* UINT32_MAX below 0 */
}

int64_t rig_sql_sum_since(const struct rig_transaction *transaction, uint32_t read, uint32_t op)
{
    int64_t sum = transaction->reads[read].value;
    for (uint32_t i = read + 1; i <= op; i++) {
        if (transaction->ops[i].key == transaction->ops[op].key)
            sum += transaction->ops[i].value;
    }
    return sum;
}
