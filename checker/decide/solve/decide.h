/*
 * Decides levels on one problem. Where the order of all versions is known, the search for a forbidden cycle decides
 * each (breach.h), weaker levels first, because a refuted level refutes those above it. Else the solver does (solve.h),
 * stronger levels first, because an explanation explains those below it; and the transactions of each proof, and of the
 * cycles in a guess, are tried by themselves at each open level. In rounds, so that one hard question leaves time for
 * the others: a 64th of the time for each question, an eighth, and what is left in equal parts. A proof may take half
 * of what is left.
 *
 * Threads: one. Memory: the heap, and the arena for proofs.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_DECIDE_H
#define RIG_CHECKER_DECIDE_SOLVE_DECIDE_H

#include "base/arena.h"
#include "checker/decide/solve/breach.h"
#include "checker/decide/solve/proof.h"
#include "checker/decide/solve/solve.h"
#include "history/model/history.h"

struct rig_decided_cycle {
    enum rig_level level;          /* its rule forbids the cycle */
    uint32_t first_arc, arc_count; /* with transactions and keys of the history */
};

RIG_VEC(struct rig_decided_cycle, rig_decided_cycles)

RIG_VEC(struct rig_case_proof, rig_case_proofs)

struct rig_decisions {
    uint64_t held, refuted, spent; /* bits of the levels asked about; together they are all of them */
    uint64_t unproven;  /* those of `spent` that no order explains, without a proof small enough to be checked */
    uint64_t too_large; /* those of `spent` whose search takes more memory than the budget has */
    struct rig_level_effort effort[RIG_LEVEL_COUNT];
    struct rig_arcs arcs;
    struct rig_decided_cycles cycles; /* for a refuted level: a cycle of that level or of one below it */
    struct rig_case_proofs proofs;    /* for the other refuted levels: of the solver's answer; from the arena */
};

void rig_decisions_done(struct rig_decisions *decisions);

/* `levels`: bits. Release with rig_decisions_done(), also after a failure. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_decide(const struct rig_problem *problem, const struct rig_history *history, uint64_t levels,
                       const struct rig_solve_budget *budget, struct rig_arena *arena, struct rig_decisions *decisions,
                       struct rig_err *err);

#endif
