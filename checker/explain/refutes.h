/*
 * Which levels a witness refutes by itself: those that forbid its anomaly by name, and, in the exact lattice, those
 * whose rule forbids its cycle (decide/rule.h).
 *
 * A rule knows edges that a step does not show as such. A read that ends with the reader's own write is no read of
 * another transaction's version: its edge is one between the writes. A wr step from the writer of an earlier version
 * than the one that was read stands for two edges, over the writer of that one. Two transactions that write several
 * keys do so in one order, so the second one follows from its first write of any of these.
 *
 * Threads: any. Time: linear in the operations of the transactions in the cycle.
 */
#ifndef RIG_CHECKER_EXPLAIN_REFUTES_H
#define RIG_CHECKER_EXPLAIN_REFUTES_H

#include "checker/model/level.h"
#include "checker/model/verdict.h"

/* Bits, closed upward. `settled`: see rig_levels_refuted_by(). False when memory runs out. */
bool rig_witness_refutes(const struct rig_history *history, enum rig_lattice lattice, const struct rig_witness *witness,
                         bool settled, uint64_t *refutes);

/* Whether the transaction has reads only. */
bool rig_witness_writes_nothing(const struct rig_history *history, uint32_t txn);

#endif
