/*
 * Single reads of counters and of the accounts of a bank that no order of the increments explains. Counters begin at 0;
 * accounts begin with any balance.
 */
#ifndef RIG_CHECKER_PROVE_COUNTER_SUMS_H
#define RIG_CHECKER_PROVE_COUNTER_SUMS_H

#include "checker/prove/contradiction.h"

/* Gives the levels, bits, that the read refutes. RIG_E_INPUT: the history does not show it, or it is no such claim. */
enum rig_rc rig_impossible_sum(const struct rig_facts *facts, const struct rig_witness_line *line, uint64_t *levels,
                               struct rig_err *err);

/* Whether increments of the key may sum up to the value: it is within all that may have been added and taken, and a
 * multiple of what all amounts are multiples of. True also beyond 64 bits. */
bool rig_sums_reach(const struct rig_history *history, uint32_t key, int64_t value);
/*
 * The least and the most that the increments sum up to by the time of a read of the key, operation `at` of the history.
 * Transactions that ended before the reader began count; others count as they help, if they began before it ended.
 * False: the reader has no time, or the sums are beyond 64 bits.
 */
bool rig_sums_by(const struct rig_history *history, uint32_t reader_txn, uint32_t at, int64_t *least, int64_t *most);
/* The total of a transaction that reads each of its accounts once, and changes none. False: it is another one. */
bool rig_sums_total(const struct rig_history *history, uint32_t txn, int64_t *total);

#endif
