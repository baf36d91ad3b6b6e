/*
 * Whether a witness proves its claim, decided from the small history alone.
 */
#ifndef RIG_TESTS_ORACLE_PROVE_WITNESS_H
#define RIG_TESTS_ORACLE_PROVE_WITNESS_H

#include "checker/model/verdict.h"
#include "tests/oracle/small_history.h"

/* NULL, or the fault of the witness (a static string). The history's keys, values and positions are as in `small`. */
const char *prove_witness(const struct small_history *small, const struct rig_history *history,
                          const struct rig_witness *witness);

#endif
