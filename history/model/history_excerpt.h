/*
 * An excerpt of a history: some of its transactions, with everything known about them, as a separate history. Excerpts
 * serve code that shrinks histories, solves parts of them, or shows a few transactions of a large one.
 *
 * Time: linear in the operations that are kept and the elements that they show. Space: that of a history.
 */
#ifndef RIG_HISTORY_MODEL_HISTORY_EXCERPT_H
#define RIG_HISTORY_MODEL_HISTORY_EXCERPT_H

#include "base/err.h"
#include "history/model/history.h"

/*
 * Gives a history with the transactions for which `keep` is not 0, in their order, under the positions, times,
 * processes, errors and side columns that they have in `history`, and what is known of the history as a whole (what is
 * missing from it, its metadata). Keys have new ids; those of transactions that are not kept are left out, and so are
 * the faults. Times shown count from the first invocation of `history`, which is not needed afterwards.
 *
 * RIG_E_LIMIT when memory runs out; *excerpt is written on success only. Freed with rig_history_free().
 */
enum rig_rc rig_history_excerpt(const struct rig_history *history, const uint8_t *keep, struct rig_history **excerpt,
                                struct rig_err *err);

/* Whether operation `op`, which is not the first one of its transaction, belongs to the statement of the one before
 * it. */
typedef bool rig_statement_continues(const struct rig_txn_op *ops, uint32_t op);

/* The parts of a history that an excerpt keeps. */
struct rig_history_choice {
    const uint8_t *txns; /* a byte a transaction; not 0: keep */
    const uint8_t *ops;  /* a byte an operation of the history; NULL: all of a kept transaction are kept */
    /* Whether reads leave this element of the key out; NULL: they show all. It is asked of sequences only. */
    bool (*hides)(const void *context, uint32_t key, int64_t element);
    const void *context;
    /* A byte a transaction; not 0: the transaction is taken apart, into one transaction for each of its operations (for
     * each of its keys, with `apart_by_key`; for each statement, with `continues`). These come last, each with a
     * process of its own, and last from the beginning of the history to its end, so that nothing but their reads and
     * writes orders them. NULL: none is. */
    const uint8_t *apart;
    bool apart_by_key;
    rig_statement_continues *continues; /* NULL: each operation is a statement */
};

/* The same with some operations of the kept transactions, and reads of sequences without hidden elements. RIG_E_LIMIT
 * also where there is no number left for the position or the process of what is taken apart. */
enum rig_rc rig_history_excerpt_of(const struct rig_history *history, const struct rig_history_choice *choice,
                                   struct rig_history **excerpt, struct rig_err *err);

#endif
