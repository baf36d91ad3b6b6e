/*
 * The common part of the writers of solver-based checkers' forms: which of a history's transactions and results such a
 * form can hold.
 *
 * These forms know committed and aborted transactions, and not those of unknown outcome. Such a transaction committed
 * if a committed one read its value; otherwise nothing depends on whether it did, and it is left out. A read whose
 * result is not known has no value. Times are lost.
 *
 * Time: O(n log n) for the values read, if a transaction did not commit; else linear. Threads: one at a time.
 */
#ifndef RIG_HISTORY_IMPORT_SESSION_WRITER_H
#define RIG_HISTORY_IMPORT_SESSION_WRITER_H

#include "base/vec.h"
#include "history/model/history.h"

struct rig_session_seen {
    int64_t value;
    uint32_t key;
};

RIG_VEC(struct rig_session_seen, rig_session_seens)

struct rig_session_export {
    const struct rig_history *history;
    bool numbers_keys;
    struct rig_session_seens seen; /* values that committed transactions read, in order; if some did not commit */
};

enum rig_session_fate { RIG_SESSION_COMMITTED, RIG_SESSION_ABORTED, RIG_SESSION_LEFT_OUT };

/* Borrows the history. `is_text`: the form writes numbers without a sign. RIG_E_INPUT for a history that such a form
 * cannot hold; `name` for errors. To be done in any case. */
enum rig_rc rig_session_export_init(struct rig_session_export *export, const struct rig_history *history, bool is_text,
                                    const char *name, struct rig_err *err);
void rig_session_export_done(struct rig_session_export *export);

enum rig_session_fate rig_session_export_fate(const struct rig_session_export *export, uint32_t txn);
/* Whether a committed transaction read what the operation wrote; only if a transaction did not commit. */
bool rig_session_export_observed(const struct rig_session_export *export, const struct rig_txn_op *op);
/* Keys that are texts are numbered, and in a text all keys where one is negative. */
int64_t rig_session_export_key(const struct rig_session_export *export, uint32_t key);

/* Whether the operation writes, or has a result. */
static inline bool rig_session_export_has(const struct rig_txn_op *op)
{
    return !rig_op_reads(op->kind) || op->read_state != RIG_READ_UNKNOWN;
}

/* The initial state is 0, and so is a result that is not known. */
static inline int64_t rig_session_export_value(const struct rig_txn_op *op)
{
    return rig_op_reads(op->kind) && op->read_state != RIG_READ_SEEN ? 0 : op->value;
}

#endif
