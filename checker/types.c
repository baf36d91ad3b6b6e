#include "checker/types.h"

#include "checker/witness/explain.h"
#include "checker/witness/sentence.h"
#include "checker/witness/verify_type.h"

static const struct rig_type_inference types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] =
        {
            .explain_step = rig_list_explain_step,
            .sentences = &rig_list_sentences,
            .verifier = &rig_verify_list,
        },
    [RIG_WORKLOAD_RW_REGISTER] =
        {
            .explain_step = rig_register_explain_step,
            .sentences = &rig_register_sentences,
            .verifier = &rig_verify_register,
        },
};

const struct rig_type_inference *rig_type_inference(enum rig_workload workload)
{
    return (unsigned)workload < RIG_WORKLOAD_COUNT && types[workload].verifier != NULL ? &types[workload] : NULL;
}
