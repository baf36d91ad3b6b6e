/*
 * Compares a history of rows (history/types/row_ops.h) with its certificate, by content:
 *
 * - an acknowledged transaction is the commit that has exactly its changes, each on top of the version that it showed
 *   (else lost-commit, torn-commit); a failed one has no change in any commit (else resurrected-abort); one of unknown
 *   outcome committed if a commit has its changes, and did not if a complete certificate has none of them;
 * - each version that an acknowledged read shows is in a complete certificate (else certificate-mismatch);
 * - an acknowledged read shows exactly the rows that meet its condition at its snapshot, each at the version that it
 *   has there, or as the transaction itself left it before; a count has their number and sum (else snapshot-mismatch).
 *   At read committed an update or a delete follows newer versions, and is not compared;
 * - a row that was read names the commit of its version as its writer (else version-mismatch, unknown-version), an own
 *   number is that of the own commit (else number-mismatch), and no snapshot shows a version of a row without the one
 *   before it (else version-inversion).
 *
 * Time: sorting commits and snapshots, and that of row_states.h; for each read that does not show its state the rows of
 * its table times their versions. Space: 4 bytes an
 * operation, a transaction, and what row_commits.h and visibility.h have.
 */
#ifndef RIG_CHECKER_EVIDENCE_ROW_JUDGE_H
#define RIG_CHECKER_EVIDENCE_ROW_JUDGE_H

#include "checker/evidence/comparison.h"

/*
 * Fills in the rows of statements whose answers did not come (row_recover.h). `never` and `writers`: as in
 * certificate_judge.h. `places`: what the certificate says of each transaction and read; arrays are in the arena of
 * `certified`. `*lacks`: why it does not decide, or NULL. RIG_E_INPUT where a change is none of a row, RIG_E_LIMIT when
 * memory runs out.
 */
enum rig_rc rig_row_judge(struct rig_comparison *comparison, struct rig_history *history, uint8_t *never,
                          uint32_t *writers, struct rig_read_places *places, const char **lacks, struct rig_err *err);

#endif
