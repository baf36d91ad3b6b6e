/*
 * The cycles of a rule about reachability: in each component of its states, a short one from each edge that leads back
 * in the order of the transactions, within a number of steps.
 *
 * Time: linear, for the components and one cycle in each of them; the steps for further cycles are linear in the
 * problem.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_CLOSED_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_CLOSED_H

#include "checker/decide/solve/breach_sink.h"
#include "checker/decide/solve/breach_states.h"

/* Which edges closed walks of the form have; for a form with one rw edge, those of the walks that have at least one. */
struct rig_moves rig_breach_moves(enum rig_rule_form form);

/* The steps that searches for further cycles may take. */
uint64_t rig_breach_most_steps(const struct rig_problem *problem);

/* Finds the components without the transactions of `left_out` (NULL: none; ordered->lead leaves out the same), and a cycle
 * in each of them at least. False when memory runs out. */
bool rig_breach_find_closed(const struct rig_ordered *ordered, struct rig_moves moves, const uint8_t *left_out,
                            struct rig_breach_sink *sink, struct rig_states *states, struct rig_arena *arena);

#endif
