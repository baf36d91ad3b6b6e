/*
 * Random small histories of every type that rig generates, for proofs: by turns
 * - those of the oracles (tests/oracle/small_wild.h, small_execution.h): lists, which also serve as sets, and
 *   registers;
 * - rows whose reads saw any versions (wild_rows.h);
 * - runs of the simulated database (tests/model/sim_history.h), right and wrong at each isolation level, some with
 *   results and outcomes changed afterwards.
 *
 * The same arguments give the same history.
 */
#ifndef RIG_TESTS_PROOF_PROOF_HISTORIES_H
#define RIG_TESTS_PROOF_PROOF_HISTORIES_H

#include "checker/judge/check.h"

/* Whether there are any of the type with proofs: rig generates it, and rig-verify replays its proofs. */
bool proof_histories_have(enum rig_workload workload);
/* The caller owns it. NULL: there is none of this number. */
struct rig_history *proof_history(enum rig_workload workload, uint64_t seed, uint64_t number);
/* The options of its check, which a proof may repeat as assumptions. */
struct rig_check_options proof_history_options(enum rig_workload workload, uint64_t number);

#endif
