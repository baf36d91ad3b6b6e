/*
 * Fewer transactions that no order of the versions explains: those of a core that cannot be left out.
 *
 * The solver's cores first, while they get smaller; then parts of half the size, a quarter, and so on to single
 * transactions are left out where the rest still has no explanation (Zeller & Hildebrandt, TSE 2002). While more than a
 * few remain, this is tried again with parts chosen at random, from all transactions where these are not too many; the
 * fewest transactions are kept. The choice is the same each time.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_SHRINK_H
#define RIG_CHECKER_DECIDE_SOLVE_SHRINK_H

#include "checker/decide/solve/solve.h"

struct rig_shrunk {
    uint32_t *nodes; /* ascending; owned */
    uint32_t count;
    bool minimal; /* what remains has an explanation without any one of them; else the time was spent */
};

void rig_shrunk_done(struct rig_shrunk *shrunk);

/* `core`: ascending nodes without an explanation. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_shrink(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *core,
                       uint32_t core_count, const struct rig_solve_budget *budget, struct rig_shrunk *shrunk,
                       struct rig_err *err);

#endif
