#include "checker/judge/stream/type_windows.h"

#include "base/bug.h"
#include "checker/judge/stream/closing_private.h"
#include "checker/judge/stream/retired_private.h"

#define OBJECT                                                                                                         \
    {                                                                                                                  \
        .wait_for_unknown = rig_object_wait_for_unknown, .retired = &rig_object_retired, .load_percent = 300           \
    }
#define REGISTER                                                                                                       \
    {                                                                                                                  \
        .wait_for_unknown = rig_register_wait_for_unknown, .retired = &rig_register_retired, .load_percent = 700,      \
        .arena_only = true, .solver_bytes = 150                                                                        \
    }
/* These are only judged as a whole. */
#define WHOLE                                                                                                          \
    {                                                                                                                  \
        .retired = &rig_set_retired, .load_percent = 400, .arena_only = true                                           \
    }

static const struct rig_type_windows types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {.wait_for_unknown = rig_list_wait_for_unknown,
                                  .retired = &rig_list_retired,
                                  .load_percent = 250},
    [RIG_WORKLOAD_RW_REGISTER] = REGISTER,
    [RIG_WORKLOAD_LONG_FORK] = REGISTER,
    [RIG_WORKLOAD_MONOTONIC] = REGISTER,
    [RIG_WORKLOAD_UNIQUE_IDS] = REGISTER,
    [RIG_WORKLOAD_DIRTY_READS] = REGISTER,
    [RIG_WORKLOAD_SEQUENTIAL] = REGISTER,
    [RIG_WORKLOAD_MULTI_KEY] = REGISTER,
    [RIG_WORKLOAD_COUNTER] = WHOLE,
    [RIG_WORKLOAD_BANK] = WHOLE,
    [RIG_WORKLOAD_SET] = {.wait_for_unknown = rig_set_wait_for_unknown,
                          .retired = &rig_set_retired,
                          .load_percent = 2000,
                          .arena_only = true},
    [RIG_WORKLOAD_PREDICATE] = WHOLE,
    [RIG_WORKLOAD_SQL] = WHOLE,
    [RIG_WORKLOAD_LOG] = WHOLE,
    [RIG_WORKLOAD_CAS_REGISTER] = OBJECT,
    [RIG_WORKLOAD_MUTEX] = OBJECT,
    [RIG_WORKLOAD_LOCK] = OBJECT,
    [RIG_WORKLOAD_MODEL] = OBJECT,
    [RIG_WORKLOAD_QUEUE] = OBJECT,
    [RIG_WORKLOAD_STACK] = OBJECT,
    [RIG_WORKLOAD_APPEND_REGISTER] = OBJECT,
};

const struct rig_type_windows *rig_type_windows(enum rig_workload workload)
{
    RIG_REQUIRE((unsigned)workload < RIG_WORKLOAD_COUNT && types[workload].retired != NULL);
    return &types[workload];
}
