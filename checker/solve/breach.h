/*
 * Whether a level allows an execution in which the versions of each key follow a given order of the transactions: the
 * search for a cycle that the level's rule forbids, exact and nearly linear. This judges lists with known orders, each
 * guess of the solver, and replays each explanation.
 */
#ifndef RIG_CHECKER_SOLVE_BREACH_H
#define RIG_CHECKER_SOLVE_BREACH_H

#include "checker/levels/rule.h"
#include "checker/solve/problem.h"

RIG_VEC(struct rig_arc, rig_arcs)
RIG_VEC(uint32_t, rig_arc_ends)

/* Cycles one after the other. */
struct rig_breaches {
    struct rig_arcs arcs;     /* from and to are nodes of the problem, keys those of the problem */
    struct rig_arc_ends ends; /* per cycle: where it ends in arcs */
};

/*
 * Adds up to `most` cycles that the rule forbids, short ones, with no two over the same transactions where that is
 * cheap. None exactly if the level allows the order. `place`: per node; only the order among the writers of a key
 * matters. False when memory runs out.
 */
bool rig_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     uint32_t most, struct rig_breaches *found);

#endif
