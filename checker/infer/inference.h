/*
 * What an inference yields, whatever the workload: version orders, non-cyclic anomalies, the dependency graph.
 */
#ifndef RIG_CHECKER_INFER_INFERENCE_H
#define RIG_CHECKER_INFER_INFERENCE_H

#include "checker/graph/graph.h"
#include "checker/infer/oddity.h"
#include "checker/infer/registers.h"
#include "checker/infer/versions.h"

struct rig_inference {
    const struct rig_history *history; /* borrowed */
    struct rig_versions versions;      /* of list-append */
    struct rig_registers registers;    /* of rw-register */
    struct rig_graph graph;
    struct rig_oddities oddities;
    uint32_t committed_count;
    uint64_t unordered_keys; /* keys to which two or more committed transactions made appends that nobody read */
    uint64_t unknown_reads;  /* reads of ok transactions whose results are not known */
};

/* Releases what does not come from the arena; also after a failure. */
static inline void rig_inference_done(struct rig_inference *inference)
{
    rig_oddity_list_done(&inference->oddities.kept);
}

#endif
