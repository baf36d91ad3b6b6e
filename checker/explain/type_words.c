#include "checker/explain/type_words.h"

#include "base/bug.h"
#include "checker/explain/case_explain.h"
#include "checker/explain/explain.h"
#include "checker/explain/sentence.h"

#define OBJECT                                                                                                         \
    {                                                                                                                  \
        rig_object_explain_step, NULL, &rig_object_sentences                                                           \
    }
#define REGISTER                                                                                                       \
    {                                                                                                                  \
        rig_register_explain_step, NULL, &rig_register_sentences                                                       \
    }
#define COUNTER                                                                                                        \
    {                                                                                                                  \
        rig_counter_explain_step, NULL, &rig_counter_sentences                                                         \
    }

static const struct rig_type_words types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {rig_list_explain_step, rig_list_explain_order, &rig_list_sentences,
                                  rig_list_version_read},
    [RIG_WORKLOAD_RW_REGISTER] = REGISTER,
    [RIG_WORKLOAD_LONG_FORK] = REGISTER,
    [RIG_WORKLOAD_MONOTONIC] = REGISTER,
    [RIG_WORKLOAD_UNIQUE_IDS] = REGISTER,
    [RIG_WORKLOAD_DIRTY_READS] = REGISTER,
    [RIG_WORKLOAD_SEQUENTIAL] = REGISTER,
    [RIG_WORKLOAD_MULTI_KEY] = REGISTER,
    [RIG_WORKLOAD_COUNTER] = COUNTER,
    [RIG_WORKLOAD_BANK] = COUNTER,
    [RIG_WORKLOAD_SET] = {rig_set_explain_step, NULL, &rig_set_sentences, NULL},
    [RIG_WORKLOAD_PREDICATE] = {rig_row_explain_step, NULL, &rig_row_sentences, NULL},
    [RIG_WORKLOAD_CAS_REGISTER] = OBJECT,
    [RIG_WORKLOAD_MUTEX] = OBJECT,
    [RIG_WORKLOAD_QUEUE] = OBJECT,
    [RIG_WORKLOAD_STACK] = OBJECT,
    [RIG_WORKLOAD_APPEND_REGISTER] = OBJECT,
};

const struct rig_type_words *rig_type_words(enum rig_workload workload)
{
    RIG_REQUIRE((unsigned)workload < RIG_WORKLOAD_COUNT && types[workload].sentences != NULL);
    return &types[workload];
}
