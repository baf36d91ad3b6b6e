/*
 * Compares what transactions read with the snapshots that the database gave them (checker/evidence/visibility.h):
 *
 * - the snapshots of one server form a chain (else snapshot-fork), show no version of a key without the one before it
 *   (else version-inversion), and show what was acknowledged before their transaction began (else missed-commit);
 * - an acknowledged read shows the state of its key at its snapshot, or after the transaction's own last write (else
 *   snapshot-mismatch); at a standby, all reads of a transaction fit one prefix of the stream;
 * - a row that was read names the commit that wrote its value as its writer (else version-mismatch, or unknown-version
 *   where no commit has this number); an own number is that of the own commit (else number-mismatch);
 * - where one snapshot serves a transaction (else unsteady-snapshot), it shows each version that the transaction
 *   overwrites (else unseen-overwrite).
 *
 * Without any of these, and with one snapshot for each acknowledged transaction, the history is snapshot isolated: the
 * order of visibility is the order of commits, and no search is needed.
 *
 * A certificate that is not complete claims only what its commits show. Time: O(n log n). Space: 4 bytes an element.
 */
#ifndef RIG_CHECKER_EVIDENCE_SNAPSHOT_JUDGE_H
#define RIG_CHECKER_EVIDENCE_SNAPSHOT_JUDGE_H

#include "checker/evidence/certificate_chains.h"
#include "checker/evidence/comparison.h"

/* `writers`: per commit the transaction that made exactly it, or RIG_VIEW_NONE. After the other comparisons, whose
 * discrepancies comparison->into has, and which may have found the visibility. False when memory runs out. */
bool rig_snapshot_judge(struct rig_comparison *comparison, const struct rig_certificate_chains *chains,
                        const uint32_t *writers);

#endif
