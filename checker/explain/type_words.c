#include "checker/explain/type_words.h"

#include <stddef.h>

#include "base/bug.h"

static const struct rig_type_words *const types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = &rig_list_words,
    [RIG_WORKLOAD_RW_REGISTER] = &rig_register_words,
    [RIG_WORKLOAD_LONG_FORK] = &rig_register_words,
    [RIG_WORKLOAD_MONOTONIC] = &rig_register_words,
    [RIG_WORKLOAD_UNIQUE_IDS] = &rig_register_words,
    [RIG_WORKLOAD_DIRTY_READS] = &rig_register_words,
    [RIG_WORKLOAD_SEQUENTIAL] = &rig_register_words,
    [RIG_WORKLOAD_MULTI_KEY] = &rig_register_words,
    [RIG_WORKLOAD_COUNTER] = &rig_counter_words,
    [RIG_WORKLOAD_BANK] = &rig_counter_words,
    [RIG_WORKLOAD_SET] = &rig_set_words,
    [RIG_WORKLOAD_PREDICATE] = &rig_row_words,
    [RIG_WORKLOAD_SQL] = &rig_row_words,
    [RIG_WORKLOAD_LOG] = &rig_log_words,
    [RIG_WORKLOAD_CAS_REGISTER] = &rig_object_words,
    [RIG_WORKLOAD_MUTEX] = &rig_object_words,
    [RIG_WORKLOAD_LOCK] = &rig_object_words,
    [RIG_WORKLOAD_MODEL] = &rig_object_words,
    [RIG_WORKLOAD_QUEUE] = &rig_object_words,
    [RIG_WORKLOAD_STACK] = &rig_object_words,
    [RIG_WORKLOAD_APPEND_REGISTER] = &rig_object_words,
};

const struct rig_type_words *rig_type_words(enum rig_workload workload)
{
    RIG_REQUIRE((unsigned)workload < RIG_WORKLOAD_COUNT && types[workload] != NULL);
    return types[workload];
}
