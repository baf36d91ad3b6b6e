/*
 * Proves a discrepancy between a history and the snapshots of its certificate again, from both as they were recorded.
 *
 * Shares no code with the comparison: it asks each snapshot about each number, and builds the state of a key again.
 * Time: linear in the certificate. Space: none.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_SNAPSHOT_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_SNAPSHOT_H

#include "checker/model/certified.h"

/* Whether the snapshot shows the commit, by what the database said; its own number is in no snapshot of a
 * transaction. */
bool rig_snapshot_shows(const struct rig_history *history, uint32_t snapshot, uint32_t commit);
/* The proof that the discrepancy lacks; NULL when it holds. Kinds of snapshots and numbers only. */
const char *rig_verify_snapshot(const struct rig_history *history, const struct rig_discrepancy *found);

#endif
