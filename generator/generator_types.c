#include "generator/generator_types.h"

#include "generator/fork_ops.h"
#include "generator/group_ops.h"
#include "generator/object_transactions.h"
#include "generator/row_transactions.h"
#include "generator/sum_ops.h"
#include "generator/unique_ops.h"

#define OBJECTS(how, most)                                                                                             \
    .draw_transaction = (how), .most_operations = (most), .most_keys = 1, .writes = rig_object_writes

#define GROUPS(how, share)                                                                                             \
    .draw_transaction = (how), .writes = (share), .most_operations = RIG_GROUP_OPERATIONS, .keys = rig_group_keys,     \
    .leaves_at = rig_group_leaves_at, .key_bound = rig_group_key_bound

const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {.draw = rig_unique_op, .draw_on = rig_unique_on, .has_rows = true},
    [RIG_WORKLOAD_RW_REGISTER] = {.draw = rig_unique_op, .draw_on = rig_unique_on, .has_rows = true},
    [RIG_WORKLOAD_SET] = {.draw = rig_unique_op, .draw_on = rig_unique_on},
    [RIG_WORKLOAD_CAS_REGISTER] = {OBJECTS(rig_register_transaction, 2)},
    [RIG_WORKLOAD_MUTEX] = {OBJECTS(rig_lock_transaction, 2), .no_final_reads = true},
    [RIG_WORKLOAD_QUEUE] = {OBJECTS(rig_row_transaction, 1), .drains = true},
    [RIG_WORKLOAD_STACK] = {OBJECTS(rig_row_transaction, 1), .drains = true},
    [RIG_WORKLOAD_APPEND_REGISTER] = {OBJECTS(rig_string_transaction, 1)},
    [RIG_WORKLOAD_COUNTER] = {.draw = rig_counter_op, .draw_on = rig_counter_on},
    [RIG_WORKLOAD_BANK] = {.draw_transaction = rig_bank_transaction,
                           .draw_on = rig_bank_on,
                           .most_operations = RIG_TRANSFER_OPERATIONS,
                           .keys = rig_bank_keys,
                           .stays = true},
    [RIG_WORKLOAD_LONG_FORK] = {.draw_transaction = rig_fork_transaction,
                                .most_operations = 1,
                                .keys = rig_fork_keys,
                                .leaves_at = rig_fork_leaves_at,
                                .key_bound = rig_fork_key_bound},
    [RIG_WORKLOAD_MONOTONIC] = {GROUPS(rig_monotonic_transaction, rig_monotonic_writes)},
    [RIG_WORKLOAD_MULTI_KEY] = {GROUPS(rig_multi_key_transaction, rig_multi_key_writes)},
    [RIG_WORKLOAD_DIRTY_READS] = {GROUPS(rig_whole_group_transaction, rig_whole_group_writes)},
    [RIG_WORKLOAD_UNIQUE_IDS] = {.draw_transaction = rig_claim_transaction,
                                 .most_operations = 2,
                                 .most_keys = 1,
                                 .leaves_at = rig_claim_leaves_at,
                                 .key_bound = rig_claim_key_bound},
    [RIG_WORKLOAD_PREDICATE] = {.draw_transaction = rig_rows_transaction,
                                .writes = rig_rows_writes,
                                .keys = rig_rows_operations},
    [RIG_WORKLOAD_SEQUENTIAL] = {.draw_transaction = rig_sequence_transaction,
                                 .most_operations = 1,
                                 .most_keys = 1,
                                 .leaves_at = rig_sequence_leaves_at,
                                 .key_bound = rig_sequence_key_bound},
};
