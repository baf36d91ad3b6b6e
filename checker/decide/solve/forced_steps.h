/*
 * The edges out of a node of a frame's graph (frame.h) that the problem and the forced pairs give: what forcing walks
 * along (forced.h), and what explains a forced pair (forced_explain.h).
 *
 * Time: the edges. Space: the caller's list. Threads: any number of readers.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_FORCED_STEPS_H
#define RIG_CHECKER_DECIDE_SOLVE_FORCED_STEPS_H

#include "checker/decide/solve/forced.h"
#include "checker/decide/solve/frame.h"

/* Fills `steps` with the edges out of the node that rest on no pair, or on one below `limit`. False when memory runs
 * out. */
bool rig_forced_find_steps(const struct rig_forced *forced, uint32_t node, uint32_t limit,
                           struct rig_forced_steps *steps);

/*
 * Pairs that single reads force where a transaction sees all writes of those that it reads from (read atomic), or its
 * later operations do (monotonic atomic view): v's version of a key comes before the one that a reader of v returned.
 * With the order of the reads themselves these are all that such a rule asks for, so an order that keeps them explains.
 *
 * Time: for each reader and each transaction that it read from, the fewer of the one's reads and the other's writes
 * (times log n); so n^1.5 for n operations (Liu et al., "AWDIT", PLDI 2025, section 4). Space: 4 bytes a read, 8 a key
 * and 4 a transaction.
 */

/* `write` comes before the version that `read` returned; no order does that where this is the initial state. A pair may
 * come several times. Ends the search when it gives false. */
typedef bool rig_forced_shown_take(void *context, uint32_t read, uint32_t write);

/* For a frame with `shown`. *ended: `take` gave false. False when memory runs out. */
bool rig_forced_shown(const struct rig_problem *problem, const struct rig_rule_frame *frame,
                      rig_forced_shown_take *take, void *context, bool *ended);

#endif
