/*
 * Waits of operations, by the times that clients stamped (rig_history_times()).
 *
 * A span that is much longer than the shortest one beside it is a wait. It was a wait for another transaction where
 * that is known: exactly one of the given transactions began an operation on the same key before, one of the two writes
 * the key, and that transaction ended while the operation was under way.
 *
 * Time: the operations of the given transactions, for each question. Threads: any.
 */
#ifndef RIG_CHECKER_EXPLAIN_WAITS_H
#define RIG_CHECKER_EXPLAIN_WAITS_H

#include "history/model/history.h"

struct rig_timed {
    const struct rig_history *history;
    const uint32_t *txns;
    uint32_t txn_count;
    int64_t shortest_ns; /* of all spans */
};

struct rig_wait {
    int64_t ns;    /* 0: none */
    uint32_t from; /* the transaction that it waited for; UINT32_MAX: not known */
};

/* `txns` is borrowed. False when one of them lacks the time of an operation, or their times are on several clocks. */
bool rig_timed_init(struct rig_timed *timed, const struct rig_history *history, const uint32_t *txns,
                    uint32_t txn_count);
/* The start of operation `op` of a transaction, and of its end (its last operation was answered, so that it sends
 * COMMIT), on the clock of the history. */
int64_t rig_timed_start_ns(const struct rig_timed *timed, uint32_t txn, uint32_t op);
int64_t rig_timed_ending_ns(const struct rig_timed *timed, uint32_t txn);
struct rig_wait rig_timed_wait(const struct rig_timed *timed, uint32_t txn, uint32_t op);

#endif
