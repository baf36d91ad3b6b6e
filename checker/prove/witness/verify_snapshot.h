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
/* Whether the snapshot is one of the transaction, at a server that takes writes. */
bool rig_snapshot_is_of(const struct rig_history *history, uint32_t snapshot, uint32_t txn);
/* The writer that row `at` of the operation names in the transaction's view; 0: none. */
#define RIG_VIEW_LAST UINT32_MAX
uint64_t rig_view_writer(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t at);
/* Whether the transaction's view has a number, and that is not the commit's. */
bool rig_view_has_other_number(const struct rig_history *history, uint32_t txn, uint32_t commit);
/* Whether some commit of the certificate has the number. */
bool rig_number_is_known(const struct rig_history *history, uint64_t number);
/* The proof that the discrepancy lacks; NULL when it holds. Kinds of snapshots and numbers only. */
const char *rig_verify_snapshot(const struct rig_history *history, const struct rig_discrepancy *found);

#endif
