#include "generator/generator_types.h"

#include "generator/fork_ops.h"
#include "generator/object_transactions.h"
#include "generator/sum_ops.h"
#include "generator/unique_ops.h"

#define OBJECTS(how, most)                                                                                             \
    .draw_transaction = (how), .most_operations = (most), .most_keys = 1, .writes = rig_object_writes

const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {.draw = rig_unique_op, .has_rows = true},
    [RIG_WORKLOAD_RW_REGISTER] = {.draw = rig_unique_op, .has_rows = true},
    [RIG_WORKLOAD_SET] = {.draw = rig_unique_op},
    [RIG_WORKLOAD_CAS_REGISTER] = {OBJECTS(rig_register_transaction, 2)},
    [RIG_WORKLOAD_MUTEX] = {OBJECTS(rig_lock_transaction, 2), .no_final_reads = true},
    [RIG_WORKLOAD_QUEUE] = {OBJECTS(rig_row_transaction, 1), .no_final_reads = true},
    [RIG_WORKLOAD_STACK] = {OBJECTS(rig_row_transaction, 1), .no_final_reads = true},
    [RIG_WORKLOAD_COUNTER] = {.draw = rig_counter_op},
    [RIG_WORKLOAD_BANK] = {.draw_transaction = rig_bank_transaction,
                           .most_operations = RIG_TRANSFER_OPERATIONS,
                           .keys = rig_bank_keys,
                           .stays = true},
    [RIG_WORKLOAD_LONG_FORK] = {.draw_transaction = rig_fork_transaction,
                                .most_operations = 1,
                                .keys = rig_fork_keys,
                                .leaves_at = rig_fork_leaves_at,
                                .key_bound = rig_fork_key_bound},
};
