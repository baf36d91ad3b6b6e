/*
 * The smallest history that one level allows and another one forbids: each history of lists or registers is made and
 * checked, with fewer operations first, then with fewer transactions, then with fewer pairs of transactions in the
 * order of processes or of real time.
 *
 * All transactions are acknowledged. Every key is written and read, because versions that no read shows can follow any
 * order that explains the others. Histories that some serial order explains are not checked. A history counts if the
 * checker holds the one level and refutes the other.
 *
 * Time: exponential in transactions and operations. Threads: one.
 */
#ifndef RIG_JOBS_SMALLEST_SMALLEST_H
#define RIG_JOBS_SMALLEST_SMALLEST_H

#include "checker/model/level.h"
#include "history/model/history.h"

enum { RIG_SMALL_TXNS = 4, RIG_SMALL_OPS = 8, RIG_SMALL_KEYS = 3 };

struct rig_smallest_question {
    enum rig_level allowed, forbidden;
    enum rig_workload workload; /* list-append or rw-register */
    uint32_t txn_most, op_most; /* up to RIG_SMALL_TXNS and RIG_SMALL_OPS */
};

struct rig_smallest {
    struct rig_history *history; /* NULL: there is none within the limits. Owned: rig_history_free() */
    uint64_t checked;            /* histories */
};

/* RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_smallest_find(const struct rig_smallest_question *question, struct rig_smallest *found,
                              struct rig_err *err);

#endif
