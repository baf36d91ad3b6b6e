/*
 * Non-cyclic anomalies as the inference finds them: counted all, kept a few of each.
 */
#ifndef RIG_CHECKER_INFER_ODDITY_H
#define RIG_CHECKER_INFER_ODDITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "checker/model/anomaly.h"

/* Which members an anomaly uses stands in checker/witness/explain.c, beside its sentence. */
struct rig_oddity {
    enum rig_anomaly anomaly;
    uint32_t key;
    uint32_t txn;      /* the committed transaction that shows it */
    uint32_t op;       /* its operation */
    uint32_t other;    /* the other transaction, or UINT32_MAX */
    uint32_t other_op; /* its operation, or UINT32_MAX */
    int64_t value;     /* the element in question */
    int64_t other_value;
};

RIG_VEC(struct rig_oddity, rig_oddity_list)

struct rig_oddities {
    uint64_t count[RIG_ANOMALY_COUNT];
    uint32_t most_kept; /* of each anomaly */
    struct rig_oddity_list kept;
};

/* False when memory runs out. */
static inline bool rig_oddities_note(struct rig_oddities *oddities, const struct rig_oddity *oddity)
{
    if (oddities->count[oddity->anomaly]++ >= oddities->most_kept)
        return true;
    return rig_oddity_list_add(&oddities->kept, *oddity);
}

#endif
