/*
 * The cycles of rules that allow one of a kind: CONSISTENT, CAUSAL and MONOTONIC_VIEW forbid those with one rw edge,
 * UPDATES those with one transaction that writes nothing. The others edges have no cycle of their own; then each edge,
 * or each of these transactions, is a question of reachability.
 *
 * Time: that of the sweep (breach_sweep.h), and of walks to show the cycles, as many steps as breach_closed.h. Along
 * real-time order, which no level of these forms has, a walk for each question.
 */
#ifndef RIG_CHECKER_SOLVE_BREACH_SINGLE_H
#define RIG_CHECKER_SOLVE_BREACH_SINGLE_H

#include "checker/solve/breach_sink.h"
#include "checker/solve/breach_states.h"

/* `rank`, per node below `rank_count`: all edges but rw edges lead to higher ranks. False when memory runs out. */
bool rig_breach_find_single(const struct rig_ordered *ordered, const uint32_t *rank, uint32_t rank_count,
                            struct rig_breach_sink *sink, struct rig_arena *arena);

/* For UPDATES. Adds the cycles of updates alone, too; where there are some, no others. False when memory runs out. */
bool rig_breach_find_of_updates(const struct rig_ordered *ordered, struct rig_breach_sink *sink,
                                struct rig_arena *arena);

#endif
