/*
 * Proving a proof by cases again from the raw history (verify.h).
 *
 * Each step must show this:
 *   ww                  both transactions wrote the key, and the order of their versions
 *   wr                  `to` read the version that `from` installed with its last write of the key
 *   rw                  `from` read the initial state, or another version and its order before that of `to`, which
 *                       wrote the key
 *   process, real time  `from` ended before `to` was invoked
 * The order of two versions is supposed in an open case, or is the reverse of a closed one in the same case, or is
 * proved by what reads or assumptions show. Or the writer of the later one read the earlier one: the reverse is a cycle
 * of a ww and a wr edge, which read committed and every level above it forbid. A case speaks of all keys that its two
 * transactions write: versions in one order of one key and in another of the next are a cycle of writes, which every
 * level forbids.
 *
 * Cases must nest, each cycle must be of distinct committed transactions and of a shape that the level forbids, and the
 * last line must close the proof. The levels and what they forbid are those of rig-verify (proved_levels.h).
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_CASES_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_CASES_H

#include "checker/prove/witness/verify_type.h"

/* A flaw of a witness of no-version-order, and the transaction that it is about. */
struct rig_cases_lack {
    const char *lacks; /* NULL: nothing */
    uint32_t txn;
};

/* False when memory runs out. */
bool rig_verify_cases(const struct rig_proof *proof, const struct rig_type_verifier *type,
                      const struct rig_witness *witness, struct rig_cases_lack *lack);

#endif
