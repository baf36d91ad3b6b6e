/*
 * From a proof that no choice of the versions that reads of rows missed explains some transactions
 * (infer/row_problem.h, decide/solve/case_search.h) to a witness by cases.
 *
 * A case supposes that a transaction reads before another one commits, or after it. A read that does not show a row
 * comes before the first version of a stretch that meets its condition, or after the version that ended the stretch.
 */
#ifndef RIG_CHECKER_EXPLAIN_ROW_CASES_H
#define RIG_CHECKER_EXPLAIN_ROW_CASES_H

#include "base/arena.h"
#include "checker/decide/solve/solve.h"
#include "checker/infer/row_problem.h"
#include "checker/model/verdict.h"

/* The solver's no to a problem of rows. */
struct rig_row_refutation {
    const struct rig_inference *inference;
    const struct rig_row_problem *made; /* without the order of time */
    const struct rig_solution *refuted; /* its core: nodes of the problem without an order */
    enum rig_level level;               /* whose rule was asked */
};

/*
 * *found is false where no proof was found in time, or an edge has no witness of its own. The witness has no texts yet;
 * everything in it is allocated from `arena`. RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_explain_row_cases(const struct rig_row_refutation *no, const struct rig_solve_budget *budget,
                                  struct rig_arena *arena, struct rig_witness *witness, bool *found,
                                  struct rig_err *err);

#endif
