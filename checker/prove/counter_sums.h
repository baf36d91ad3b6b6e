/*
 * Single reads of counters and of the accounts of a bank that no order of the increments explains. Counters begin at 0;
 * accounts begin with any balance.
 */
#ifndef RIG_CHECKER_PROVE_COUNTER_SUMS_H
#define RIG_CHECKER_PROVE_COUNTER_SUMS_H

#include "checker/prove/contradiction.h"

/* Gives the levels, bits, that the read refutes. RIG_E_INPUT: the history does not show it, or it is no such claim. */
enum rig_rc rig_impossible_sum(const struct rig_facts *facts, const struct rig_witness_line *line, uint32_t *levels,
                               struct rig_err *err);

#endif
