/*
 * The forbidden cycles of two transactions, one of whose edges is rw: all that CURSOR, MONOTONIC_ATOMIC, READ_ATOMIC and
 * UPDATE_ATOMIC forbid beside FLOW.
 *
 * A reader is compared with each transaction that it read from, by the writes of the one or the reads of the other,
 * whichever are fewer (AWDIT, PLDI 2025). For UPDATE_ATOMIC, an update is compared with the writers of
 * later versions than it read, or with those of earlier versions than it wrote, whichever are fewer.
 *
 * Time: O(n^1.5) in the operations, and linear where transactions are short. UPDATE_ATOMIC adds the versions between
 * those that an update read and its own, which are few unless its reads are very old. Space: 8 bytes a key, 4 a node, 4
 * a read.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_PAIRS_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_PAIRS_H

#include "checker/decide/solve/breach_order.h"
#include "checker/decide/solve/breach_sink.h"

/* The cycles go to the sink, until it is full. There must be no cycle without rw edges. False when memory runs out. */
bool rig_breach_find_pairs(const struct rig_ordered *ordered, struct rig_breach_sink *sink, struct rig_arena *arena);

#endif
