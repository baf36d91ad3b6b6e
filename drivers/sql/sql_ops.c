#include "drivers/sql/sql_ops.h"

#include <stdio.h>

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
    return rig_sql_ops_compare(transaction->ops, op);
}

uint32_t rig_sql_builds_on(const struct rig_transaction *transaction, uint32_t op)
{
    return rig_sql_ops_build_on(transaction->ops, op);
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
    const uint32_t read = rig_sql_builds_on(transaction, op);
    const bool has_read = read != UINT32_MAX && transaction->reads[read].state == RIG_READ_SEEN;
    const enum rig_sql_action action =
        rig_sql_ops_action(workload, transaction->ops, op, transaction->client, has_read, numbers);
    if (action == RIG_SQL_REPLACE)
        numbers->value = rig_sql_sum_since(transaction, read, op);
    return action == RIG_SQL_READ && locks(lock_reads, transaction, op) ? RIG_SQL_READ_LOCKED : action;
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
    return rig_sql_ops_behind(transaction->ops, transaction->op_count, op);
}

enum rig_sql_predicate rig_sql_predicate_of(const struct rig_transaction *transaction, uint32_t op,
                                            struct rig_sql_numbers *numbers)
{
    return rig_sql_ops_predicate(transaction->ops, transaction->op_count, op, numbers);
}
