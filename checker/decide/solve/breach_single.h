/*
 * The cycles of rules that count: CONSISTENT, CAUSAL and MONOTONIC_VIEW forbid those with exactly one rw edge, UPDATES
 * those with at most one rw edge out of a transaction that writes nothing. The remaining edges have no cycle by
 * themselves. So each of these rw edges is a question of reachability.
 *
 * Time: that of the sweep (breach_sweep.h), and of walks that show the cycles, within the steps of breach_walk.h. Real
 * time is linear (breach_single.c).
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_SINGLE_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_SINGLE_H

#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_states.h"

/* `rank`, per node below `rank_count`: all edges but rw edges lead to higher ranks. False when memory runs out. */
bool rig_breach_find_single(const struct rig_ordered *ordered, const uint32_t *rank, uint32_t rank_count,
                            struct rig_breach_sink *sink, struct rig_arena *arena);

/* For UPDATES. Cycles of updates alone come first; if there are any, the others are not searched. False when memory
 * runs out. */
bool rig_breach_find_of_updates(const struct rig_ordered *ordered, struct rig_breach_sink *sink,
                                struct rig_arena *arena);

#endif
