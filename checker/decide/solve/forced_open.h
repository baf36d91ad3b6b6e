/*
 * Counts the pairs of writers of a key whose order forcing (forced.h) left open, for the report of a level that stays
 * undecided, and names one of them.
 *
 * Time: writers of each key times its chains times log n; up to 2^18 pairs, each by itself. Space: a byte a key, and a
 * table of these pairs. Threads: any number of readers.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FORCED_OPEN_H
#define RIG_CHECKER_DECIDE_SOLVE_FORCED_OPEN_H

#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/solve.h"

/* After rig_forced_run(). All 0 when memory runs out. Where there are more than 2^18 pairs for keys with different
 * writers, a pair counts for each of these sets of keys. */
struct rig_open_pairs rig_forced_open(const struct rig_forced *forced);

#endif
