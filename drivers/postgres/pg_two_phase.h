/*
 * Two-phase commit of a share of the transactions: PREPARE TRANSACTION, then COMMIT PREPARED.
 *
 * Each has an identifier that no other transaction of the run has, so that a request that arrives late concerns its own
 * transaction only. A PREPARE without an answer is a fail: nothing sends its COMMIT PREPARED. A COMMIT PREPARED without an
 * answer is an info.
 *
 * A transaction that stays prepared keeps its locks, also over a restart of the server. So the next session of its client
 * rolls it back, and `teardown` those that are left on a server that rig did not start.
 *
 * Threads: the numbers from any; all else from the session's.
 */
#ifndef RIG_DRIVERS_POSTGRES_PG_TWO_PHASE_H
#define RIG_DRIVERS_POSTGRES_PG_TWO_PHASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"
#include "drivers/postgres/pg_connection.h"

enum { RIG_PG_GID_BYTES = 80 };

/* The run's numbers of two-phase commits. */
struct rig_pg_two_phase {
    _Atomic uint64_t begun, prepared, committed, rolled_back;
};

/* An identifier for a transaction of the client. */
void rig_pg_two_phase_name(struct rig_pg_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                           char gid[static RIG_PG_GID_BYTES]);
/* Rolls back what the client left prepared, or all clients (UINT32_MAX). Outside of a transaction and of pipeline mode.
 * RIG_E_CLUSTER. */
enum rig_rc rig_pg_two_phase_resolve(struct rig_pg_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                                     struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);
/* The server must allow it. RIG_E_CLUSTER. */
enum rig_rc rig_pg_two_phase_check(struct rig_pg_connection *connection, int64_t deadline_ns, struct rig_err *err);

#endif
