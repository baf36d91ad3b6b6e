#include "drivers/sql/sql_ops.h"

#include <stdio.h>

#include "history/types/row_ops.h"

/* The word of the workload in the names of its tables: "list" in rig_list_0. */
static const char *table_kind(enum rig_workload workload)
{
    if (workload == RIG_WORKLOAD_SET)
        return "set";
    if (workload == RIG_WORKLOAD_MUTEX)
        return "lock";
    if (workload == RIG_WORKLOAD_PREDICATE || workload == RIG_WORKLOAD_SQL)
        return "table";
    if (rig_sql_is_row(workload))
        return "row";
    if (rig_sql_is_sum(workload))
        return workload == RIG_WORKLOAD_BANK ? "account" : "counter";
    if (workload == RIG_WORKLOAD_APPEND_REGISTER)
        return "string";
    return workload == RIG_WORKLOAD_LIST_APPEND ? "list" : "register";
}

void rig_sql_table_stem(const struct rig_run_env *env, bool own, char *stem, size_t size)
{
    if (env->rows != NULL)
        (void)snprintf(stem, size, "%s%s", own ? "" : env->run_name, own ? "" : "_");
    else
        (void)snprintf(stem, size, "%s_%s_", own ? "rig" : env->run_name, table_kind(env->workload));
}

bool rig_sql_compares(const struct rig_transaction *transaction, uint32_t op)
{
    return transaction->ops[op].kind == RIG_OP_EXTEND || (op > 0 && transaction->ops[op - 1].kind == RIG_OP_EXPECT);
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
    const struct rig_rollback *rollback = &transaction->rollback;
    int64_t sum = transaction->reads[read].value;
    for (uint32_t i = read + 1; i <= op; i++) {
        const bool is_gone = op >= rollback->to && rig_rollback_undoes(rollback, transaction->ops, i);
        if (transaction->ops[i].key == transaction->ops[op].key && !is_gone)
            sum += transaction->ops[i].value;
    }
    return sum;
}

/*
 * Whether a read locks: at random, but a function of the transaction alone, so that a seed gives the same requests.
 * Its writes make it unlike all others (the mixing is that of splitmix64).
 */
static bool locks(double share, const struct rig_transaction *transaction, uint32_t op)
{
    uint64_t mixed = op;
    for (uint32_t i = 0; i < transaction->op_count && share > 0 && share < 1; i++) {
        mixed += (uint64_t)transaction->ops[i].key * 31 + (uint64_t)transaction->ops[i].value + 0x9E3779B97F4A7C15U;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
        mixed ^= mixed >> 31;
    }
    return !transaction->read_only && (share >= 1 || (double)(mixed >> 11) * 0x1.0p-53 < share);
}

enum rig_sql_action rig_sql_action_of(enum rig_workload workload, double lock_reads,
                                      const struct rig_transaction *transaction, uint32_t op,
                                      struct rig_sql_numbers *numbers)
{
    const struct rig_op *of = &transaction->ops[op];
    *numbers = (struct rig_sql_numbers){.key = of->key, .value = of->value};
    if (of->kind == RIG_OP_EXPECT)
        return RIG_SQL_NOTHING;
    if (workload == RIG_WORKLOAD_MUTEX) {
        numbers->value = 1 + (int64_t)transaction->client;
        return of->value == 1 ? RIG_SQL_PUT : RIG_SQL_COMPARE;
    }
    if (of->kind == RIG_OP_EXTEND)
        return RIG_SQL_EXTEND;
    if (rig_sql_compares(transaction, op)) {
        numbers->expected = transaction->ops[op - 1].value;
        return RIG_SQL_COMPARE;
    }
    if (of->kind == RIG_OP_DEQUEUE || of->kind == RIG_OP_POP)
        return RIG_SQL_TAKE;
    const uint32_t read = rig_sql_builds_on(transaction, op);
    if (read != UINT32_MAX && transaction->reads[read].state == RIG_READ_SEEN) {
        numbers->value = rig_sql_sum_since(transaction, read, op);
        return RIG_SQL_REPLACE;
    }
    if (!rig_op_reads(of->kind))
        return RIG_SQL_PUT;
    return locks(lock_reads, transaction, op) ? RIG_SQL_READ_LOCKED : RIG_SQL_READ;
}

bool rig_sql_affords(const struct rig_accounts *accounts, const struct rig_transaction *transaction, uint32_t op)
{
    const uint32_t read = rig_sql_builds_on(transaction, op);
    if (accounts->count == 0 || accounts->negative || read == UINT32_MAX || transaction->ops[op].value >= 0)
        return true;
    return transaction->reads[read].state == RIG_READ_SEEN && rig_sql_sum_since(transaction, read, op) >= 0;
}

/* ---- predicates ---- */

int64_t rig_sql_number_behind(const struct rig_transaction *transaction, uint32_t op)
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
    numbers->further = rig_sql_number_behind(transaction, op);
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
