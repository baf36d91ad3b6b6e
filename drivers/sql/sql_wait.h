/*
 * Waits of a session for its server: bounded by a deadline, and ended when the session is interrupted.
 *
 * Threads: one a waiter; its wake may be raised from any.
 */
#ifndef RIG_DRIVERS_SQL_SQL_WAIT_H
#define RIG_DRIVERS_SQL_SQL_WAIT_H

#include "base/thread.h"
#include "drivers/driver.h"

/* The codes of the events that end a wait, in the place of a server's error. */
#define RIG_SQL_TIMEOUT     "timeout"     /* the deadline has passed */
#define RIG_SQL_INTERRUPTED "interrupted" /* rig's interrupt hook */

/* The events that end a wait besides the server. Zeroed, it can already be interrupted. */
struct rig_sql_waiter {
    const struct rig_core *core;
    struct rig_wake wake; /* a session's; without a descriptor core->stopping() is polled every 100 ms */
    bool to_the_end;      /* do not poll it: for cleaning up after a run that is stopping */
};

/*
 * Waits until `fd` is ready for `events`, which are then in `ready`. Returns NULL, or RIG_SQL_TIMEOUT or
 * RIG_SQL_INTERRUPTED.
 */
const char *rig_sql_waiter_wait(struct rig_sql_waiter *waiter, int fd, short events, int64_t deadline_ns, short *ready);

/* When a request of rig's own, such as one that makes the run's tables, is too late. The time limit of transactions may
 * be so short that a busy machine exceeds it. */
static inline int64_t rig_sql_own_deadline_ns(const struct rig_core *core, int64_t transaction_timeout_ns)
{
    static const int64_t least_ns = INT64_C(10000000000);
    return core->now_ns() + (transaction_timeout_ns > least_ns ? transaction_timeout_ns : least_ns);
}

#endif
