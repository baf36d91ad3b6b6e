/*
 * A serial execution in the making: which version of each key is the latest one, and which of its readers are still to
 * come. A transaction that would overwrite a version too early waits, so that most orders found need no repair.
 *
 * Time: linear in the operations of a transaction, each time it is asked for. Space: 4 bytes a read, 8 a version, 16 a
 * transaction.
 */
#ifndef RIG_CHECKER_DECIDE_SOLVE_SERIAL_PLAN_H
#define RIG_CHECKER_DECIDE_SOLVE_SERIAL_PLAN_H

#include "checker/model/problem.h"

/* Versions are writes, and from the number of writes on the initial states of the keys. */
struct rig_serial_plan {
    const struct rig_problem *problem;
    uint32_t *version;                  /* per read: the version that it returned */
    uint32_t *latest;                   /* per key */
    uint32_t *to_come;                  /* per version: reads that are not placed yet */
    uint32_t *first_waiter;             /* per version: transactions that wait for its readers, a list */
    uint32_t *next_waiter;              /* per transaction */
    uint32_t *waits_for;                /* per transaction: a version, or RIG_PROBLEM_NONE */
    uint32_t *released, released_count; /* transactions that need not wait longer for what they waited for */
};

/* Borrows the problem. False when memory runs out. */
bool rig_serial_plan_init(struct rig_serial_plan *plan, const struct rig_problem *problem);
void rig_serial_plan_done(struct rig_serial_plan *plan);
/* Nothing is placed, nothing waits. */
void rig_serial_plan_reset(struct rig_serial_plan *plan);

/* Whether the transaction must wait because readers of a version that it overwrites are still to come; then it waits. */
bool rig_serial_plan_wait(struct rig_serial_plan *plan, uint32_t txn);
/* Places it, whether it waits or not; `released` gets those that can be tried again. */
void rig_serial_plan_place(struct rig_serial_plan *plan, uint32_t txn);

#endif
