/*
 * Proves a case of a claim that does not hold (checker/model/order_claims.h) again, from the operations, the side
 * columns and the certificate of the raw history alone. Shares no code with what found it.
 *
 * Time: linear in the history and in its certificate; for an order-mismatch also in the square of the key's writes.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_CLAIMS_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_CLAIMS_H

#include "checker/model/order_claims.h"
#include "history/model/history.h"

/* NULL where the case holds; else what the transaction lacks. */
const char *rig_verify_claim(const struct rig_history *history, const struct rig_claim_case *found, bool is_order);

#endif
