/*
 * Finds all cycles of two transactions over the edges of the core, of every class, in one pass (distant.h finds those
 * over versions that are not adjacent). So the witnesses that are easiest to understand are never missed.
 *
 * Time: sum over edges of the lower of the degrees of their ends: at most E^1.5, a small constant per edge in practice.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_PAIRS_H
#define RIG_CHECKER_DECIDE_CYCLE_PAIRS_H

#include "checker/decide/cycle/collect.h"

/* False when memory runs out. */
bool rig_cycle_pairs(const struct rig_history *history, const struct rig_graph *graph, struct rig_collector *collector);

#endif
