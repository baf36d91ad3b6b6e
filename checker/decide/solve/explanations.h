/*
 * Explanations of one problem at several levels: a total order of its transactions for each of the strongest levels
 * that have one. Unlike decide.h it proves no refusal: a check in windows (stream/explained.h) asks for orders to go on
 * from.
 *
 * Threads: one. Memory: the heap, 4 bytes a transaction for each explanation.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_EXPLANATIONS_H
#define RIG_CHECKER_DECIDE_SOLVE_EXPLANATIONS_H

#include "checker/decide/solve/solve.h"

struct rig_explanation {
    enum rig_level level; /* it explains the levels below this one, too */
    uint32_t *place;      /* per node, as in struct rig_solution; owned */
};

struct rig_explanations {
    struct rig_explanation at[RIG_LEVEL_COUNT];
    uint32_t count;
    uint64_t explained, denied, spent; /* bits of the levels asked about; together they are all of them */
    uint64_t too_large;                /* those of `spent` whose search takes more memory than the budget has */
    struct rig_level_effort effort[RIG_LEVEL_COUNT];
};

void rig_explanations_done(struct rig_explanations *explanations);

/* Moves the orders and answers of `from`, which is about other levels, to `to`. */
void rig_explanations_move(struct rig_explanations *to, struct rig_explanations *from);

/* `levels`: bits; `history`: that of the problem, for names. Release with rig_explanations_done(), also after a
 * failure. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_explanations_find(const struct rig_problem *problem, const struct rig_history *history, uint64_t levels,
                                  const struct rig_solve_budget *budget, struct rig_explanations *explanations,
                                  struct rig_err *err);

#endif
