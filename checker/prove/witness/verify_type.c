#include "checker/prove/witness/verify_type.h"

#include "base/bug.h"

static const struct rig_type_verifier *const types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = &rig_verify_list,
    [RIG_WORKLOAD_RW_REGISTER] = &rig_verify_register,
    [RIG_WORKLOAD_LONG_FORK] = &rig_verify_register,
    [RIG_WORKLOAD_MONOTONIC] = &rig_verify_register,
    [RIG_WORKLOAD_UNIQUE_IDS] = &rig_verify_register,
    [RIG_WORKLOAD_DIRTY_READS] = &rig_verify_register,
    [RIG_WORKLOAD_SEQUENTIAL] = &rig_verify_register,
    [RIG_WORKLOAD_MULTI_KEY] = &rig_verify_register,
    [RIG_WORKLOAD_COUNTER] = &rig_verify_counter,
    [RIG_WORKLOAD_BANK] = &rig_verify_counter,
    [RIG_WORKLOAD_SET] = &rig_verify_set,
    [RIG_WORKLOAD_PREDICATE] = &rig_verify_row,
    [RIG_WORKLOAD_SQL] = &rig_verify_row,
    [RIG_WORKLOAD_LOG] = &rig_verify_log,
    [RIG_WORKLOAD_CAS_REGISTER] = &rig_verify_object,
    [RIG_WORKLOAD_MUTEX] = &rig_verify_object,
    [RIG_WORKLOAD_LOCK] = &rig_verify_object,
    [RIG_WORKLOAD_MODEL] = &rig_verify_object,
    [RIG_WORKLOAD_QUEUE] = &rig_verify_object,
    [RIG_WORKLOAD_STACK] = &rig_verify_object,
    [RIG_WORKLOAD_APPEND_REGISTER] = &rig_verify_object,
};

const struct rig_type_verifier *rig_type_verifier(enum rig_workload workload)
{
    RIG_REQUIRE((unsigned)workload < RIG_WORKLOAD_COUNT && types[workload] != NULL);
    return types[workload];
}
