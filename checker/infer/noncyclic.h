/*
 * Non-cyclic anomalies as the inference finds them: it counts all and keeps a few of each.
 */
#ifndef RIG_CHECKER_INFER_NONCYCLIC_H
#define RIG_CHECKER_INFER_NONCYCLIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/infer/counter_halves.h"
#include "checker/model/anomaly.h"

/* The sentence of an anomaly shows which members it uses: checker/explain/sentence.c. */
struct rig_noncyclic {
    enum rig_anomaly anomaly;
    uint32_t key;
    uint32_t txn;      /* the committed transaction that shows it */
    uint32_t op;       /* its operation */
    uint32_t other;    /* the other transaction, or UINT32_MAX */
    uint32_t other_op; /* its operation, or UINT32_MAX */
    int64_t value;     /* the element in question */
    int64_t other_value;
    bool unsettled;           /* `txn` is of unknown fate */
    struct rig_halves halves; /* transfers that explain a wrong total */
};

RIG_VEC(struct rig_noncyclic, rig_noncyclic_list)

struct rig_noncyclic_findings {
    uint64_t count[RIG_ANOMALY_COUNT];
    uint64_t settled[RIG_ANOMALY_COUNT]; /* those of them that acknowledged transactions show */
    uint32_t most_kept;                  /* of each anomaly, settled and unsettled ones apart */
    struct rig_noncyclic_list kept;
};

/* Counts it; true when it is among the first of its kind, which are kept. */
static inline bool rig_noncyclic_count(struct rig_noncyclic_findings *noncyclic, const struct rig_noncyclic *found)
{
    uint64_t *count = &noncyclic->count[found->anomaly], *settled = &noncyclic->settled[found->anomaly];
    const uint64_t before = found->unsettled ? *count - *settled : *settled;
    *count += 1;
    *settled += !found->unsettled;
    return before < noncyclic->most_kept;
}

/* False when memory runs out. */
static inline bool rig_noncyclic_note(struct rig_noncyclic_findings *noncyclic, const struct rig_noncyclic *found)
{
    return !rig_noncyclic_count(noncyclic, found) || rig_noncyclic_list_add(&noncyclic->kept, *found);
}

#endif
