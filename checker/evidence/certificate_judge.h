/*
 * Compares the transactions of a history with the commits of its certificate, by content: values are unique per key, so
 * a value names its writer. Transaction numbers of the database are never used for this: a crash reuses them.
 *
 * - an acknowledged transaction is the commit that has exactly its writes, in its order (else lost-commit,
 *   torn-commit);
 * - a failed one has no value in any commit (else resurrected-abort);
 * - one of unknown outcome committed if a commit has exactly its writes, and did not if a complete certificate has none
 *   of them; else it stays unknown;
 * - an acknowledged read shows a state of its key's chain (else certificate-mismatch).
 *
 * A certificate that is not complete claims nothing about commits that it does not have.
 */
#ifndef RIG_CHECKER_EVIDENCE_CERTIFICATE_JUDGE_H
#define RIG_CHECKER_EVIDENCE_CERTIFICATE_JUDGE_H

#include "checker/evidence/certificate_chains.h"
#include "checker/evidence/comparison.h"

/* `never` (a byte a transaction, zeroed): set to 1 for those that certainly did not commit. `writers`: gets per commit
 * the transaction that made exactly it, else UINT32_MAX. False when memory runs out. */
bool rig_certificate_judge(struct rig_comparison *comparison, const struct rig_certificate_chains *chains,
                           uint8_t *never, uint32_t *writers);
/* The elements of the spine that the chain of the key shares. */
uint32_t rig_certificate_common(const struct rig_history *history, const struct rig_certificate_chains *chains,
                                uint32_t key);

#endif
