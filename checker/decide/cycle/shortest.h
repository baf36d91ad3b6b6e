/*
 * Shortens witnesses: searches, for each kind of cycle that was found, for one with fewer transactions.
 *
 * For each transaction of the core in turn it searches for the shortest cycle of the kind through it that is shorter
 * than the shortest so far, until the kind's budget is spent. The budget suffices for small cores, where the first
 * witness of each kind is then a shortest one; in large cores the first witness is short.
 *
 * Time: at most RIG_SHORTEST_BUDGET states a kind that has no cycle of two transactions.
 */
#ifndef RIG_CHECKER_DECIDE_CYCLE_SHORTEST_H
#define RIG_CHECKER_DECIDE_CYCLE_SHORTEST_H

#include "base/err.h"
#include "checker/decide/cycle/collect.h"
#include "checker/decide/cycle/search.h"

enum { RIG_SHORTEST_BUDGET = 30000 };

/* `graph`: the core. `writes`: for cycles of ww edges alone; NULL: `search`. False when memory runs out. */
bool rig_cycles_shorten(const struct rig_graph *graph, struct rig_search *search, struct rig_search *writes,
                        struct rig_collector *collector);

#endif
