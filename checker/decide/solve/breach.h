/*
 * Whether a level allows an execution in which the versions of each key follow a given order of the transactions: the
 * search for a cycle that the level's rule forbids, exact and nearly linear. This judges lists with known orders, each
 * guess of the solver, and replays each explanation.
 *
 * Threads: one. Memory: the heap, released before it returns, except the cycles.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_H

#include "checker/decide/rule.h"
#include "checker/model/problem.h"

RIG_VEC(struct rig_arc, rig_arcs)
RIG_VEC(uint32_t, rig_arc_ends)

/* Cycles one after the other. */
struct rig_breaches {
    struct rig_arcs arcs;     /* from and to are nodes of the problem, keys those of the problem */
    struct rig_arc_ends ends; /* per cycle: where it ends in arcs */
    bool spent;               /* the deadline came first: there may be others */
};

/*
 * Adds up to `most` (above 0) short cycles of distinct transactions that the rule forbids, no two over the same
 * transactions. Adds none exactly if the level allows the order, unless the deadline (rig_clock_now_ns(); INT64_MAX:
 * none) comes first. The forms that count (breach_single.h) or compare two
 * transactions (breach.h) add no cycles with rw edges if there is one without.
 *
 * `place`, per node: a permutation of the nodes; only the order among the writers of each key matters. False when
 * memory runs out; `found` then holds some cycles or none.
 */
bool rig_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     uint32_t most, int64_t deadline_ns, struct rig_breaches *found);
/* *explains: the level allows the order, as far as the deadline lets it be known. False when memory runs out. */
bool rig_breach_none(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                     int64_t deadline_ns, bool *explains);

#endif
