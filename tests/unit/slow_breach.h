/*
 * Whether a level allows an order of the versions, by definition: all cycles of distinct transactions are tried
 * (decide/rule.h). Exponential; for a few transactions.
 */
#ifndef RIG_TESTS_UNIT_SLOW_BREACH_H
#define RIG_TESTS_UNIT_SLOW_BREACH_H

#include "checker/decide/rule.h"
#include "checker/model/problem.h"

enum { SLOW_TXNS = 8 };

/* The number of arcs of a shortest cycle that the rule forbids, or 0; its arcs go to `cycle`. */
uint32_t slow_breach_find(const struct rig_problem *problem, const struct rig_rule *rule, const uint32_t *place,
                          struct rig_arc cycle[SLOW_TXNS]);

/* Whether some order of all transactions, which keeps the problem's pairs, has no such cycle. */
bool slow_breach_explains(const struct rig_problem *problem, const struct rig_rule *rule);

#endif
