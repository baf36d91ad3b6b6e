/*
 * Improves a sorted order towards a serial execution, in which each read returns the latest version of its key. It
 * moves single transactions and never searches; so it decides nothing, but mostly it finds an explanation, and where
 * there is none, the few reads that miss a version point at an anomaly.
 *
 * The edges of the graph are kept. Where a read returns an earlier version than the latest one, the reader's start is
 * moved before the first overwriter; if an edge or an earlier move forbids that, this overwriter is moved before the
 * writer of the returned version; if that is forbidden as well, the read stays as it is.
 *
 * Time: a linear pass, then passes over the keys of what was moved; moves are given up when they have taken as long as
 * 64 linear passes (16 where few reads force anything), or hold more memory than they may. Space: 28 bytes a node, 5 a
 * write, 1 a read, 5 a key, 8 a move and a version that is missed.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_NEAR_SERIAL_H
#define RIG_CHECKER_DECIDE_SOLVE_NEAR_SERIAL_H

#include "checker/decide/solve/order_graph.h"
#include "checker/decide/solve/solve.h"

/* How to go on where a read cannot be mended. */
enum rig_near_serial_effort {
    RIG_NEAR_SERIAL_STRICT, /* give up: the order is left as it is, unless it becomes serial */
    RIG_NEAR_SERIAL_BEST,   /* leave this read, and mend the others */
};

/*
 * `graph`: after a sort that found no cycle; its sequence, and `place` (per transaction), get the new order.
 * *is_serial: each read returns the latest version, and no other commit of a key comes between the start and the commit
 * of its writer where none may; without sinks (frame.h), the order then explains the form of the frame. Where reads
 * order nothing (frame.h), and after the deadline, nothing happens. `budget`: limit_bytes is what this may hold. False
 * when memory runs out.
 */
bool rig_near_serial_improve(struct rig_order_graph *graph, enum rig_near_serial_effort effort,
                             const struct rig_solve_budget *budget, uint32_t *place, bool *is_serial);

#endif
