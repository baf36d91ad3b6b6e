/*
 * Rules for the order of a few transactions' statements, as the history shows them: one step comes before another one.
 * Each rule is of a kind that an order may obey or not; interleaving.h says which orders there are.
 *
 * The steps of a transaction are its begin, its operations and its end; those of the history are numbered transaction
 * by transaction.
 *
 * Time and space: quadratic in the operations. For histories in which values name their writers.
 */
#ifndef RIG_JOBS_SHRINK_STATEMENT_RULES_H
#define RIG_JOBS_SHRINK_STATEMENT_RULES_H

#include "base/vec.h"
#include "checker/model/verdict.h"
#include "jobs/shrink/value_writers.h"

/* Step `from` comes before step `to`, as far as the rule is obeyed. */
enum rig_before_rule {
    RIG_BEFORE_ALWAYS,          /* the order within a transaction, and real time */
    RIG_BEFORE_SHOWN,           /* a read comes after the write that it shows */
    RIG_BEFORE_WRITTEN,         /* a write comes after that of the version before */
    RIG_BEFORE_UNSEEN,          /* a read comes before the end of a writer that it did not see */
    RIG_BEFORE_UNSEEN_SNAPSHOT, /* the first read of a reader comes before the end of a writer that it did not see */
    /* A write comes after the end of each transaction that wrote the key before, and so after that of the writer of the
     * version before. */
    RIG_BEFORE_LOCKED,
    RIG_BEFORE_SHOWN_COMMITTED, /* a read comes after the end of the writer that it shows */
    RIG_BEFORE_SHOWN_ABORTED,   /* a read comes before the end of a failed writer that it shows */
    RIG_BEFORE_MAYBE_UNSEEN     /* as RIG_BEFORE_UNSEEN, of a version whose place is not known */
};

struct rig_before {
    uint32_t from, to;
    enum rig_before_rule rule;
};

RIG_VEC(struct rig_before, rig_before_vec)

struct rig_statement_rules {
    const struct rig_history *history;
    struct rig_value_writers writers;
    struct rig_before_vec befores;
    bool plain_rows; /* of the workload predicate: rows have no contents but their class */
    bool full;       /* memory ran out */
};

static inline uint32_t rig_statement_begin_of(const struct rig_history *history, uint32_t txn)
{
    return history->txns[txn].first_op + 2 * txn;
}

static inline uint32_t rig_statement_end_of(const struct rig_history *history, uint32_t txn)
{
    return rig_statement_begin_of(history, txn) + rig_txn_op_count(history, txn) + 1;
}

/* Borrows the history; no rule yet. RIG_E_LIMIT when memory runs out; rig_statement_rules_done() in any case. */
enum rig_rc rig_statement_rules_init(struct rig_statement_rules *rules, const struct rig_history *history,
                                     struct rig_err *err);
/* Adds all rules; the witnesses of `verdict`, the history's, order versions that reads do not order. Sets `full` where
 * memory ran out. */
void rig_statement_rules_add(struct rig_statement_rules *rules, const struct rig_verdict *verdict);
/* Takes a zeroed one, too. */
void rig_statement_rules_done(struct rig_statement_rules *rules);

#endif
