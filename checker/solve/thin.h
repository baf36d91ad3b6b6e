/*
 * Fewer keys: those of a problem without an explanation that it needs to have none.
 */
#ifndef RIG_CHECKER_SOLVE_THIN_H
#define RIG_CHECKER_SOLVE_THIN_H

#include "checker/solve/solve.h"

/*
 * Makes `thin`, with the transactions of `problem` but without the reads and writes of keys that are not needed: halves of
 * the keys go, then quarters, and so on, while the rest has no explanation. A budget that is spent leaves more keys.
 * Released with rig_problem_done(). RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_thin(const struct rig_problem *problem, const struct rig_rule *rule,
                     const struct rig_solve_budget *budget, struct rig_problem *thin, struct rig_err *err);

#endif
