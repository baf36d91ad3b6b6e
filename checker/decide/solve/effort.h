/*
 * The solver's work on each level, for reports of what a spent budget left open.
 *
 * Threads: one.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_EFFORT_H
#define RIG_CHECKER_DECIDE_SOLVE_EFFORT_H

#include "checker/decide/solve/solve.h"

/* Adds the time since `start_ns` and, of a search that left the level open, what was left: the largest such question is
 * kept. `problem` is a question of `history`. */
void rig_effort_add(struct rig_level_effort *effort, int64_t start_ns, const struct rig_solution *solution,
                    const struct rig_problem *problem, const struct rig_history *history);
/* Adds the work on all levels. */
void rig_efforts_add(struct rig_level_effort *to, const struct rig_level_effort *from);

#endif
