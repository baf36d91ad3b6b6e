/*
 * Explains forced pairs (forced.h) and their conflict by few transactions: each pair has the reason that forced it, a
 * path in the frame's graph; a breadth-first search finds a short one, along pairs older than the one it explains. So
 * no explanation goes in circles, and the transactions that come out are refuted by themselves.
 *
 * Time: a search a pair in the explanation, each linear in the edges between commits that reach its end. Space: 17
 * bytes a node, 1 a pair, released before it returns. Threads: any number of readers.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FORCED_EXPLAIN_H
#define RIG_CHECKER_DECIDE_SOLVE_FORCED_EXPLAIN_H

#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/solve.h"

/* A question to explain: why `before` comes before `after`; both NONE: why nothing explains the problem. */
struct rig_forced_fact {
    uint32_t before, after;
};

RIG_VEC(struct rig_forced_fact, rig_forced_facts)

/* Adds the transactions that the facts rest on, some more than once. False when memory runs out. */
bool rig_forced_explain(const struct rig_forced *forced, const struct rig_forced_facts *facts,
                        struct rig_forced_nodes *txns);

/*
 * Counts the pairs of writers of a key whose order forcing (forced.h) left open, for the report of a level that stays
 * undecided, and names one of them.
 *
 * Time: writers of each key times its chains times log n; up to 2^18 pairs, each by itself. Space: a byte a key, and a
 * table of these pairs. Threads: any number of readers.
 */

/* After rig_forced_run(). All 0 when memory runs out. Where there are more than 2^18 pairs for keys with different
 * writers, a pair counts for each of these sets of keys. */
struct rig_open_pairs rig_forced_open(const struct rig_forced *forced);

#endif
