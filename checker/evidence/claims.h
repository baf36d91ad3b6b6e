/*
 * The order that a database itself gives to transactions, checked as a claim (docs/certificates.md): side columns with
 * a place in one total order (`order`: etcd's revisions), or with a start and a commit timestamp (`start-ts`,
 * `commit-ts`).
 *
 * - Replay (Clark et al. 2024, Enne): the writes in their claimed order make the state that each read must show. A
 *   writer reads the state before its own place; a transaction that only reads, or that has a start timestamp, the
 *   state at it. The first operation of the order that differs is named first. With timestamps, a read that shows a
 *   later commit is G-SIa, one that misses an earlier one G-SIb (Adya 1999, 4.3; Kingsbury & Alvaro 2020, 5.1); so is
 *   an overwritten commit later than the start. No cycle has to be searched: as versions are in the order of commits,
 *   each cycle with one rw edge shortens to the reader and the writer that it missed.
 * - Real time: a transaction whose place is before that of one acknowledged before it began has a stale snapshot.
 *
 * Nothing here refutes a level: another order than the claimed one may explain the reads. Keys with a writer that may
 * have committed and has no place are left out; a certificate gives places to transactions of unknown outcome. Equal
 * timestamps claim nothing about each other.
 *
 * Time: sorting the transactions and the writes, then linear in operations and in the elements of lists that differ
 * from their key's spine. Space: 40 bytes a transaction, 24 a write, 8 an element. Threads: one.
 */
#ifndef RIG_CHECKER_EVIDENCE_CLAIMS_H
#define RIG_CHECKER_EVIDENCE_CLAIMS_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/evidence/certificate_chains.h"
#include "checker/model/order_claims.h"
#include "checker/model/verdict.h"

/* Whether the column holds claims. */
#define RIG_CLAIM_COLUMNS                                                                                              \
    (RIG_COLUMN_BIT(RIG_COLUMN_ORDER) | RIG_COLUMN_BIT(RIG_COLUMN_START_TS) | RIG_COLUMN_BIT(RIG_COLUMN_COMMIT_TS))
bool rig_claims_given(const struct rig_history *history);

/*
 * Checks the claims of a whole history of lists or registers, and adds them to the verdict on it: verdict->claims, and
 * the counts of the findings. `chains`: of its certificate, and `never` as in certificate_judge.h; or NULL for both.
 * RIG_E_LIMIT where memory runs out, RIG_E_BUG for a case that cannot be proved.
 */
enum rig_rc rig_claims_judge(const struct rig_history *history, const struct rig_certificate_chains *chains,
                             const uint8_t *never, size_t limit_bytes, struct rig_verdict *verdict,
                             struct rig_err *err);
/* Claims that are given and cannot be checked, for the reason `why`. RIG_E_LIMIT where memory runs out. */
enum rig_rc rig_claims_leave(const char *why, struct rig_verdict *verdict, struct rig_err *err);
/* Places that were assumed to order versions order nothing, because of `lacks`: a valid verdict becomes undecided. */
enum rig_rc rig_claims_open(struct rig_verdict *verdict, const char *lacks, struct rig_err *err);
/* A read that is not the state at its place leaves a valid verdict open: either the order or the read is wrong. So does
 * a read by timestamps that are no snapshot's where a level with snapshots is asked for.
 * Decides requested anomalies that depend on claims, after the claims were checked or found absent. */
void rig_claims_conclude(struct rig_verdict *verdict);
/* Takes NULL. */
void rig_claims_free(struct rig_order_claims *claims);

#endif
