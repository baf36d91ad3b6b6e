/*
 * Reads that miss a write of a transaction before the reader in its process or in real time: cycles of one rw and one
 * process or real-time edge. The forms that compare two transactions (breach.h) forbid them where their level respects
 * that order.
 *
 * Time: linear, and a look at a table for each operation. Space: 16 bytes a write for the table of processes, 8 a
 * transaction, 4 a key.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_BREACH_BEFORE_H
#define RIG_CHECKER_DECIDE_SOLVE_BREACH_BEFORE_H

#include "checker/decide/solve/breach_order.h"

/* The cycles go to the sink, until it is full. False when memory runs out. */
bool rig_breach_find_before(const struct rig_ordered *ordered, struct rig_breach_sink *sink, struct rig_arena *arena);

#endif
