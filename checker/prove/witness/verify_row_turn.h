/*
 * Proves the steps by a predicate that rest on a certificate again: a transaction changed whether a row meets the
 * condition of a read, and the snapshot of this read shows the change (wr), or does not (rw). The row's versions are
 * read again from the certificate, and the snapshot is asked about each. Time: linear in the certificate.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_ROW_TURN_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_ROW_TURN_H

#include "checker/prove/witness/verify_type.h"

/* The proof that the step lacks; NULL when it holds. */
const char *rig_verify_row_turn(const struct rig_history *history, const struct rig_step *step);
/* Marks the transactions of unknown fate of which the certificate has a change. False when memory runs out. */
bool rig_verify_row_certified(struct rig_proof *proof);

#endif
