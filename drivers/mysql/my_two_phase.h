/*
 * Two-phase commit of a share of the transactions: XA START, XA END and XA PREPARE, then XA COMMIT.
 *
 * Each has an identifier that no other transaction of the run has: the run's name, the client and a number, with a format
 * of rig's own. A request that arrives late so concerns its own transaction only. An XA PREPARE without an answer is a
 * fail: nothing sends its XA COMMIT. Whatever an XA COMMIT is answered other than success is an info.
 *
 * A transaction that stays prepared keeps its locks, also over a restart of the server. So the next session of its client
 * rolls it back, and `teardown` those that are left on a server that rig did not start. Nothing but transactions of this
 * run, by format and name, is ever rolled back.
 *
 * Threads: the numbers from any; all else from the session's.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_TWO_PHASE_H
#define RIG_DRIVERS_MYSQL_MY_TWO_PHASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"
#include "drivers/mysql/my_connection.h"

enum {
    RIG_MY_XID_BYTES = 128,
    RIG_MY_XID_FORMAT = 0x726967, /* "rig" */
};

/* The run's numbers of two-phase commits. */
struct rig_my_two_phase {
    _Atomic uint64_t begun, prepared, committed, rolled_back;
};

/* An identifier for a transaction of the client, as SQL: 'run','client.number',format. */
void rig_my_two_phase_name(struct rig_my_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                           char xid[static RIG_MY_XID_BYTES]);
/*
 * Rolls back what the client left prepared, or all clients (UINT32_MAX). Outside of a transaction. A transaction belongs to
 * its session until the server notices that it ended, so this tries again for `patience_ns`. `*left`, 0 before: the number
 * that stay. RIG_E_CLUSTER: the server gives no list.
 */
enum rig_rc rig_my_two_phase_settle(struct rig_my_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                                    struct rig_my_connection *connection, int64_t patience_ns, int64_t deadline_ns,
                                    uint32_t *left, struct rig_err *err);
/* The server must be able to, and list its prepared transactions. RIG_E_CLUSTER. */
enum rig_rc rig_my_two_phase_check(struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err);

#endif
