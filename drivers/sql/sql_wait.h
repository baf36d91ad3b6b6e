/*
 * Waits of a session for its server, bounded by a deadline and ended when the session is interrupted; and for the
 * addresses of a host's name, within a deadline, which a client library's own look-up lacks.
 *
 * A thread of its own calls the resolver. When the deadline passes first, that thread ends with the resolver's own
 * time-out (seconds), and frees the request.
 *
 * Threads: one a waiter; its wake may be raised from any.
 */
#ifndef RIG_DRIVERS_SQL_SQL_WAIT_H
#define RIG_DRIVERS_SQL_SQL_WAIT_H

#include "base/thread.h"
#include "drivers/driver.h"
#include "drivers/sql/sql_wait.h"

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

enum { RIG_SQL_ADDRESSES_MOST = 8, RIG_SQL_ADDRESS_BYTES = 80 };

struct rig_sql_addresses {
    char at[RIG_SQL_ADDRESSES_MOST][RIG_SQL_ADDRESS_BYTES]; /* in numbers, in the resolver's order */
    size_t count; /* 0: the host needs none: it is an address, the folder of a socket, or left to the library */
};

/* `product`: in messages. RIG_E_CLUSTER: there is no such host, or no answer in time; RIG_E_LIMIT: no thread or
 * descriptor. */
enum rig_rc rig_sql_resolve(const char *product, const char *host, struct rig_sql_waiter *waiter, int64_t deadline_ns,
                            struct rig_sql_addresses *addresses, struct rig_err *err);

#endif
