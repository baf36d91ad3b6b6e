/*
 * An order of the commits that explains all reads of rows, by the solver (infer/row_problem.h, decide/solve/solve.h):
 * complete within a budget, except for counts and sums.
 *
 * Time and space: those of the problem and of the solver.
 */
#ifndef RIG_CHECKER_JUDGE_PROOF_ROW_SEARCH_H
#define RIG_CHECKER_JUDGE_PROOF_ROW_SEARCH_H

#include "base/arena.h"
#include "checker/decide/solve/solve.h"
#include "checker/infer/inference.h"
#include "checker/infer/row_problem.h"
#include "checker/judge/proof/prove_order.h"

/* `inference`: of the history without a guess; a guess at what counts and sums saw is part of the question. YES: fills
 * in the events, of an order of the kind `serial`, or `snapshot` (`split`). NO: no order explains the rows that reads
 * show and miss. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_row_search(const struct rig_inference *inference, const struct rig_row_question *question,
                           const struct rig_solve_budget *budget, struct rig_prove_events *events,
                           enum rig_answer *answer, struct rig_err *err);

/* A witness that no order explains the rows that reads show and miss at the level. *found is false where there is an
 * order, the budget is spent, or an edge has no witness. The witness has no texts yet; it is allocated from `arena`. */
enum rig_rc rig_row_refute(const struct rig_inference *inference, enum rig_level level,
                           const struct rig_solve_budget *budget, struct rig_arena *arena, struct rig_witness *witness,
                           bool *found, struct rig_err *err);

#endif
