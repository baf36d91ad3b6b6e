/*
 * The claims of a proof file (docs/proof-format.md), replayed as they are read.
 *
 * Time and space: those of the replays (replay.h, contradiction.h), and the file in memory. Threads: one.
 */
#ifndef RIG_CHECKER_PROVE_PROOF_CLAIMS_H
#define RIG_CHECKER_PROVE_PROOF_CLAIMS_H

#include "checker/prove/facts.h"

#define RIG_PROOF_VERSION 2 /* the newest one; version 1 has no lines of choices */

struct rig_proved {
    uint64_t held, refuted; /* proved levels, as bits, with those that follow from them */
    uint32_t count;         /* claims that were proved */
    unsigned assumed;       /* RIG_ASSUMES() of what the proof assumes (contradiction.h) */
};

/*
 * RIG_OK: the file is whole, about this history, and each claim of it is proved. RIG_E_INPUT: it is not; the text names
 * the line. RIG_E_LIMIT: it cannot be told. `claims` has what was proved before a failure.
 */
enum rig_rc rig_claims_prove(struct rig_facts *facts, const char *text, size_t size, struct rig_proved *claims,
                             struct rig_err *err);

#endif
