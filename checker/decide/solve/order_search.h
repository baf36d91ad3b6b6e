/*
 * One search for an explanation: what is known, a serial execution (near_serial.h), what is forced (forced.h), a guess
 * close to a serial execution, and then guesses that keep the clauses learned from the forbidden cycles of earlier ones
 * (sat.h).
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_ORDER_SEARCH_H
#define RIG_CHECKER_DECIDE_SOLVE_ORDER_SEARCH_H

#include "checker/decide/solve/solve.h"

/*
 * As rig_solve(), for a rule that may be supposed to respect more (solve.c): the core of a no then refutes `supposed`.
 * A yes explains `rule`; it may break what is supposed. False when memory runs out.
 */
bool rig_order_search(const struct rig_problem *problem, const struct rig_rule *rule, const struct rig_rule *supposed,
                      const struct rig_solve_budget *budget, struct rig_solution *solution);

#endif
