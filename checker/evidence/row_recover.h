/*
 * Fills in what a certificate knows of updates and deletes whose answers did not come: the rows that they changed, at
 * the versions that they replaced. Without this, such a transaction, if it committed, leaves every row of its tables
 * open.
 *
 * A commit names its transaction by the numbers in it (row_commits.h), so the rows are those of a certain transaction.
 * A removal is given to the transaction's first delete of unknown rows whose condition the row met, as the database
 * would have done it. Reads, and statements of transactions without a commit, stay as they are.
 *
 * Time and space: those of row_commits.h, where there is such a statement; else a pass over the operations.
 */
#ifndef RIG_CHECKER_EVIDENCE_ROW_RECOVER_H
#define RIG_CHECKER_EVIDENCE_ROW_RECOVER_H

#include "base/arena.h"
#include "base/err.h"
#include "history/model/history.h"

/* Changes the history, whose certificate is complete, else nothing; the rows are in the arena. `*filled`: a byte an
 * operation, not 0 for the reads of statements that were filled in, `*count` of them; NULL: there are none. RIG_E_INPUT
 * as rig_rows_build(), RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_row_recover(struct rig_history *history, struct rig_arena *arena, uint8_t **filled, uint64_t *count,
                            struct rig_err *err);

#endif
