/*
 * A known anomaly, described by its shape: which witnesses of a verdict are this one and no other.
 *
 * A name alone would not do: the write skew that a server allows and the one that a race inside it lets through are
 * both G2-item. A shape also has the number of transactions, of the nodes that answered them, of the transactions that
 * committed while a client held one of them open, and the levels that the whole history must not refute.
 *
 * Time: O(witnesses kept); with `together_ns` a pass over the history for each cycle of two. Threads: any.
 */
#ifndef RIG_CHECKER_JUDGE_KNOWN_ANOMALY_H
#define RIG_CHECKER_JUDGE_KNOWN_ANOMALY_H

#include "checker/model/verdict.h"

struct rig_count_range {
    uint32_t least, most; /* most 0: any number */
};

struct rig_known_anomaly {
    rig_anomaly_set anomalies;           /* bits of rig_anomaly: one of them */
    uint64_t keeps;                      /* bits of rig_level: the verdict refutes none of them */
    struct rig_count_range transactions; /* of the witness; of a proof by cases, of each cycle */
    struct rig_count_range nodes;     /* different ones that answered; none is counted where the driver does not know */
    struct rig_count_range meanwhile; /* transactions that committed while a client held one of the witness open */
    bool acknowledged;                /* all transactions of the witness are */
    /* Each cycle has a transaction that did not see what another one wrote, which ended within this time of it, and was
     * itself not seen by a third; 0: any cycle. Between two transactions that do not see each other, that other one is
     * a third, if the whole history is there. A cycle of two on rows never counts. */
    int64_t together_ns;
};

/* Whether the verdict keeps the levels that the shape keeps. */
bool rig_known_anomaly_is_kept(const struct rig_known_anomaly *known, const struct rig_verdict *verdict);
/* Whether the witness has this shape; the levels are left to the caller. */
bool rig_known_anomaly_fits(const struct rig_known_anomaly *known, const struct rig_verdict *verdict,
                            const struct rig_witness *witness);
/* The first witness of this shape, in a verdict that keeps the shape's levels; or NULL. */
const struct rig_witness *rig_known_anomaly_find(const struct rig_known_anomaly *known,
                                                 const struct rig_verdict *verdict);

#endif
