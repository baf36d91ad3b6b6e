/*
 * Which pairs of writers a proof by cases of many transactions needs to ask about: first those that reads force, in the
 * order in which they follow from each other (forced.h), so that one pass over them concludes each; then those on which
 * a forbidden cycle rests in an order that all pairs so far allow.
 *
 * Threads: one. Memory: the heap, released before they return, except the pairs.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_CASE_PAIRS_H
#define RIG_CHECKER_DECIDE_SOLVE_CASE_PAIRS_H

#include "checker/decide/solve/case_graph.h"

/* Adds the pairs that reads force; all of them where these alone leave no order. Fewer when the deadline comes first.
 * False when memory runs out. */
bool rig_case_pairs_forced(const struct rig_problem *problem, const struct rig_rule *rule, int64_t deadline_ns,
                           struct rig_case_pairs *pairs);

enum rig_case_pairs_answer {
    RIG_CASE_PAIRS_EXPLAINED, /* no forbidden cycle: the order explains the problem */
    RIG_CASE_PAIRS_FOUND,     /* forbidden cycles, whose pairs were added */
    RIG_CASE_PAIRS_SPENT,     /* the deadline came before a cycle was found */
};

/*
 * `model`, per pair of the graph: an order that makes no forbidden cycle. Completes it to an order of all versions, and
 * adds the pairs on which forbidden cycles in that rest. When it finds some and adds nothing, all the cycles rest on
 * the pairs of the graph. False when memory runs out.
 */
bool rig_case_pairs_missing(const struct rig_case_graph *graph, const uint8_t *model, int64_t deadline_ns,
                            struct rig_case_pairs *pairs, enum rig_case_pairs_answer *answer);

#endif
