/*
 * Proves a discrepancy between a history and its certificate again, from both as they were recorded.
 *
 * Shares no code with the comparison: it searches the changes one after the other, and builds the state of a key again.
 * Time: linear in the certificate. Space: the longest state of a key.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_CERTIFICATE_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_CERTIFICATE_H

#include "checker/model/certified.h"

/* The proof that the discrepancy lacks; NULL when it holds. */
const char *rig_verify_discrepancy(const struct rig_history *history, const struct rig_discrepancy *found);

#endif
