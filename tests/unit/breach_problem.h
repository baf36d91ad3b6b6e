/*
 * Problems of any size from a simulated database whose reads lag behind, and the check of a cycle that was found.
 */
#ifndef RIG_TESTS_UNIT_BREACH_PROBLEM_H
#define RIG_TESTS_UNIT_BREACH_PROBLEM_H

#include "base/rng.h"
#include "checker/decide/solve/breach.h"

struct breach_shape {
    uint32_t txns, ops, keys, sessions;
    uint32_t reads_percent;
    uint32_t lag;         /* reads are as of a time up to this many commits before their transaction's */
    bool one_snapshot;    /* all reads of a transaction are as of one time; else of times that may go back */
    bool first_committer; /* a write does not happen if the snapshot is older than the key's last version */
    bool realtime;
    uint32_t swaps; /* places that differ from the order of commits */
};

/* Fills `problem`, and `place` per node. */
void breach_problem(struct rig_rng *rng, const struct breach_shape *shape, struct rig_problem *problem,
                    uint32_t *place);

/* Whether the edge is one of the problem, by its definition (checker/model/verdict.h). */
bool breach_arc_holds(const struct rig_problem *problem, const uint32_t *place, const struct rig_arc *arc);
/* Asserts that the edges form a cycle of distinct transactions that the rule forbids. */
void breach_check_cycle(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                        const struct rig_arc *arcs, uint32_t count);

#endif
