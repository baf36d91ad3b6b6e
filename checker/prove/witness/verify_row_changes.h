/*
 * The changes of rows that a certificate has, one after the other, and what a snapshot shows of them: for what proves
 * witnesses over rows again (history/types/row_ops.h). Shares no code with the comparison and the inference.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_ROW_CHANGES_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_ROW_CHANGES_H

#include "base/vec.h"
#include "history/model/certificate.h"
#include "history/model/history.h"
#include "history/types/row_ops.h"

struct rig_row_changed {
    int64_t id, version; /* version 0: removed */
    uint32_t commit;
};

RIG_VEC(struct rig_row_changed, rig_row_changes)

/* Appends the changes of the table's rows, without marks, by the key's number in the history, in the order of the
 * certificate; of one row unless `id` is 0. False when memory runs out. */
bool rig_row_changes_find(const struct rig_history *history, uint32_t key, int64_t id, struct rig_row_changes *changes);
/* Appends the marks of deletes, of one with this number unless it is 0, in the same way. */
bool rig_row_marks_find(const struct rig_history *history, uint32_t key, int64_t number, struct rig_row_changes *marks);
/* Whether the commit, or with UINT32_MAX any, has the mark of that delete. False also when memory runs out. */
bool rig_row_is_marked(const struct rig_history *history, uint32_t key, int64_t number, uint32_t commit);
/* The snapshot that the operation read at a server that takes writes; RIG_SNAPSHOT_NONE. */
uint32_t rig_row_snapshot_of(const struct rig_history *history, uint32_t txn, uint32_t op);

/* The condition of the read at `op`. */
struct rig_row_where rig_row_condition_before(const struct rig_txn_op *ops, uint32_t op);
/* How the last statement of the transaction before `op` left the row: 0: none touched it; else the statement's number.
 * -1: an answer does not say which rows it changed. */
int64_t rig_row_left(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key, int64_t id);
/* Whether the statement at `op` changed the row, by its answer; its number is `*number`. */
bool rig_row_changed_by(const struct rig_history *history, uint32_t txn, uint32_t op, int64_t id, int64_t *number);

#endif
