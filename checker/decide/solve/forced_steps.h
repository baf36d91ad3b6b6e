/*
 * The edges out of a node of a frame's graph (frame.h) that the problem and the forced pairs give: what forcing walks
 * along (forced.h), and what explains a forced pair (forced_explain.h).
 *
 * Time: the edges. Space: the caller's list. Threads: any number of readers.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FORCED_STEPS_H
#define RIG_CHECKER_DECIDE_SOLVE_FORCED_STEPS_H

#include "checker/decide/solve/forced.h"

/* Fills `steps` with the edges out of the node that rest on no pair, or on one below `limit`. False when memory runs
 * out. */
bool rig_forced_find_steps(const struct rig_forced *forced, uint32_t node, uint32_t limit,
                           struct rig_forced_steps *steps);

#endif
