/*
 * The order in which the statements of a few transactions must have run for the clients to see what they saw.
 *
 * Each transaction begins, runs its operations in their order, and ends. A transaction that completed before another
 * one began stays before it. The first of these orders that exists is taken:
 *
 * 1. That of a proof of strong snapshot isolation (proved_order.h): a transaction runs all of its operations where its
 *    snapshot is, and ends later. So it gives the results on a database whose transactions have a snapshot each, and on
 *    one whose statements have.
 * 2. Where the clients stamped their operations (rig_history_times()) and one waited for the end of another
 *    transaction: the order in which the clients sent them, if that gives the results. None of the other orders has the
 *    wait. A statement may have to wait, and the ones of other transactions go on meanwhile.
 * 3. That of a proof of strong monotonic snapshot read: each operation runs where its snapshot is.
 * 4. One by rules, which are the usual ones of databases. They are given up from the last one on where no order obeys
 *    all of them, because an anomaly breaks some of them:
 *      a read comes before the end of the writer of the next version, which it did not see;
 *      a write comes after the end of each transaction that wrote the key before, as a lock of the row makes it wait;
 *      a read comes after the write that it shows, after the end of a writer that commits, and before that of one that
 *      fails;
 *      a read comes before the end of any other writer that ended after the reader began.
 *    Two transactions thus hold uncommitted writes of one key only where no order without this gives the results. Of
 *    rows, a read that misses a row that meets its condition comes before the statement that made the row so.
 *
 * Levels say nothing of constraints: a part that breaks one has an order of the kinds 2 and 4.
 *
 * Time: that of the proofs, and quadratic in the operations for each attempt by rules; which transaction takes a key
 * first is searched with a bound.
 * Space: quadratic as well. For histories in which values name their writers.
 */
#ifndef RIG_JOBS_SHRINK_INTERLEAVING_H
#define RIG_JOBS_SHRINK_INTERLEAVING_H

#include "base/err.h"
#include "checker/model/verdict.h"
#include "history/model/history.h"

enum { RIG_INTERLEAVING_STEPS_MOST = 4096 };

enum rig_statement { RIG_STATEMENT_BEGIN, RIG_STATEMENT_OPERATION, RIG_STATEMENT_END };

struct rig_interleaved {
    uint32_t txn;
    enum rig_statement statement;
    uint32_t op; /* RIG_STATEMENT_OPERATION: into the history's operations; else UINT32_MAX */
};

struct rig_interleaving {
    struct rig_interleaved *steps;
    uint32_t step_count;
    bool explains_reads; /* each read comes before the end of the writer that it did not see, and after the writes that
                          * it saw */
    bool by_times;       /* the order in which the clients sent them; it has a wait */
    bool by_snapshots;   /* instead, the first read of its transaction comes before that end */
};

/* `verdict`: of the history; its witnesses order versions that reads do not order. RIG_E_LIMIT for more than
 * RIG_INTERLEAVING_STEPS_MOST steps, or when memory runs out. */
enum rig_rc rig_interleaving_init(struct rig_interleaving *interleaving, const struct rig_history *history,
                                  const struct rig_verdict *verdict, struct rig_err *err);
/* Takes a zeroed one, too. */
void rig_interleaving_done(struct rig_interleaving *interleaving);

#endif
