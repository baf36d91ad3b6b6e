/*
 * The contract between a window (history/model/window.h) and the code that judges what it shows.
 *
 * A window promises of the history that rig_window_history() gives:
 *  - Transactions are in completion order. Those that the last release left come first, in the order they had.
 *  - A key that it shows has all its operations of complete transactions since the start of the source, or since the
 *    key was released last. So a transaction may have fewer operations here than in the source, but a key does not.
 *  - A spine or a branch is shown from its first element on, also after a release.
 *  - Numbers of transactions, operations, keys and branches are valid until the window changes. Positions, times and
 *    names of keys never change.
 *  - `summary`, where there is one, agrees with the operations exactly. There is none if open transactions are shown or
 *    lists of two segments contradict each other.
 *  - Times of use (rig_window_key_used_at() and the like) are estimates, for choosing what to judge. No verdict may
 *    rest on them.
 *
 * The code that judges may set, by rig_window_release() and no other way:
 *  - that a transaction is settled, and as what. A settled transaction never becomes unsettled. It stays in the window
 *    as long as it has operations on keys that stay, because others on these keys may still come.
 *  - that a key is released. Every transaction that used it must be settled, and no open one may name it. The window
 *    forgets its operations and its lists. If it occurs again it is a new key.
 *
 * Operations on objects are judged in another way: rig_window_drop() forgets any of them, and no key is released. So
 * such a window has all operations that the code that judges did not drop.
 *
 * A history that is not the view of a window has no settled transactions and no summary.
 */
#ifndef RIG_HISTORY_MODEL_WINDOW_VIEW_H
#define RIG_HISTORY_MODEL_WINDOW_VIEW_H

#include "history/model/history.h"

/* rig_txn.settled: how an earlier judgement counted the transaction. */
enum rig_settled { RIG_SETTLED_NOT, RIG_SETTLED_UNCOMMITTED, RIG_SETTLED_COMMITTED };

static inline bool rig_txn_is_settled(const struct rig_txn *txn)
{
    return txn->settled != RIG_SETTLED_NOT;
}

/* Known to have committed before anything is inferred: acknowledged, or settled so. */
static inline bool rig_txn_is_committed(const struct rig_txn *txn)
{
    return (txn->outcome == RIG_OUTCOME_OK) | (txn->settled == RIG_SETTLED_COMMITTED);
}

/* Unknown fate and not settled: a read may prove that it committed. */
static inline bool rig_txn_is_undecided(const struct rig_txn *txn)
{
    return (txn->outcome == RIG_OUTCOME_INFO) & (txn->settled == RIG_SETTLED_NOT);
}

/* An operation and its transaction. */
struct rig_owned_op {
    uint32_t op, txn;
};

/* The operations on one key. */
struct rig_key_use {
    int64_t lowest, highest; /* values of `appends`; INT64_MAX and INT64_MIN without */
    uint32_t appends;        /* operations that write, where reads are sequences */
    uint32_t longest;        /* elements of the longest prefix of the spine that a transaction read which
                                rig_txn_is_committed(), plus 1; 0: none */
    uint32_t longest_txn;    /* the first such read */
    uint32_t first_op;       /* the first operation; UINT32_MAX without any */
};

/* For a key without operations. */
static inline struct rig_key_use rig_key_use_none(void)
{
    return (struct rig_key_use){.lowest = INT64_MAX, .highest = INT64_MIN, .first_op = UINT32_MAX};
}

/* A window's summary of its operations, made while they were added, so that an inference need not scan them. */
struct rig_op_summary {
    const struct rig_key_use *keys;     /* one a key */
    const struct rig_owned_op *appends; /* all of them, in order */
    uint32_t append_count;
    bool any_branch;  /* a transaction that did not fail read a branch */
    bool any_foreign; /* there are operations of another data type than the history's */
};

/* The first operation on one of the keys for which `keys` is not 0; op_count where there is none. Linear in the keys
 * where there is a summary, else in the operations. */
uint32_t rig_history_first_op_on(const struct rig_history *history, const uint8_t *keys);

#endif
