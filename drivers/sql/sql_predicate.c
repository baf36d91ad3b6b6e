#include "drivers/sql/sql_predicate.h"

#include "history/types/row_ops.h"

/* The number of the update or delete that the read at `op` belongs to; 0: it only reads. */
static int64_t number_behind(const struct rig_transaction *transaction, uint32_t op)
{
    const struct rig_op *ops = transaction->ops;
    const bool writes = op + 1 < transaction->op_count && ops[op + 1].kind == RIG_OP_ROW &&
                        ops[op + 1].key == ops[op].key && ops[op + 1].value > 0 && !rig_row_inserts(ops[op + 1].value);
    return writes ? ops[op + 1].value : 0;
}

enum rig_sql_predicate rig_sql_predicate_of(const struct rig_transaction *transaction, uint32_t op,
                                            struct rig_sql_numbers *numbers)
{
    const struct rig_op *of = &transaction->ops[op];
    struct rig_row_where condition = rig_row_all();
    *numbers = (struct rig_sql_numbers){.key = of->key, .value = of->value};
    if (rig_sql_is_silent(transaction, op))
        return RIG_SQL_PREDICATE_COUNT;
    if (of->kind == RIG_OP_ROW)
        return RIG_SQL_INSERT;
    if (op > 0 && of[-1].kind == RIG_OP_ROW && of[-1].key == of->key)
        (void)rig_row_condition_of(of[-1].value, &condition);
    const bool by_id = condition.column == RIG_ROW_BY_ID, endless = condition.most == INT64_MAX;
    numbers->value = by_id ? condition.least * RIG_ROW_SERIAL : condition.least;
    numbers->expected = by_id && !endless ? condition.most * RIG_ROW_SERIAL + RIG_ROW_SERIAL - 1 : condition.most;
    numbers->further = number_behind(transaction, op);
    if (condition.form == RIG_ROW_SUMMED)
        return by_id ? RIG_SQL_SUM_BY_ID : RIG_SQL_SUM_BY_CLASS;
    if (condition.form == RIG_ROW_COUNTED)
        return by_id ? RIG_SQL_COUNT_BY_ID : RIG_SQL_COUNT_BY_CLASS;
    if (numbers->further == 0)
        return by_id ? RIG_SQL_LIST_BY_ID : RIG_SQL_LIST_BY_CLASS;
    if (rig_row_action(numbers->further) == RIG_ROWS_UPDATE)
        return by_id ? RIG_SQL_UPDATE_BY_ID : RIG_SQL_UPDATE_BY_CLASS;
    return by_id ? RIG_SQL_DELETE_BY_ID : RIG_SQL_DELETE_BY_CLASS;
}
