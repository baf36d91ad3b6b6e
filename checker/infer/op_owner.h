/*
 * Whose operation is this? For passes over all operations without a loop a transaction: transactions have one to five
 * operations as they like, so that the end of such a loop would be mispredicted nearly every time.
 *
 * Space: 1 byte an operation.
 */
#ifndef RIG_CHECKER_INFER_OP_OWNER_H
#define RIG_CHECKER_INFER_OP_OWNER_H

#include <stdint.h>

#include "history/history.h"

enum { RIG_MOST_BEGINS = 255 };

/* Notes that the transaction begins; `begins`, one byte an operation and one more, was zero. */
static inline void rig_op_owner_note(uint8_t *begins, const struct rig_txn *txn)
{
    uint8_t *at = &begins[txn->first_op];
    *at = (uint8_t)(*at + (*at < RIG_MOST_BEGINS));
}

/* So many transactions that have no operations that a byte does not hold their number. */
static inline uint32_t rig_op_owner_search(const struct rig_history *history, uint32_t op, uint32_t txn)
{
    while (txn + 1 < history->txn_count && history->txns[txn + 1].first_op <= op)
        txn++;
    return txn;
}

/* The transaction of operation `op`, where `txn` is that of the one before it; UINT32_MAX before the first. */
static inline uint32_t rig_op_owner_next(const struct rig_history *history, const uint8_t *begins, uint32_t op,
                                         uint32_t txn)
{
    uint32_t next = txn + begins[op];
    return begins[op] == RIG_MOST_BEGINS ? rig_op_owner_search(history, op, txn) : next;
}

#endif
