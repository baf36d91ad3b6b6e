/*
 * The sequential specification of locks with owners (object_model.h): mutexes, reentrant locks, semaphores, locks with
 * leases and fenced locks are one object with different limits.
 *
 * An acquisition by an owner is possible if the lock has a permit left: of a number of them for all owners (a limit
 * above 0), or because no other owner holds the lock and this one does not hold it too often (a limit below 0). The
 * token that it gives is larger than those before; an owner that acquires again what it holds gets its token again. A
 * release is possible for an owner that holds the lock. Work under a token is possible unless work was done under a
 * larger one.
 *
 * A hold with a lease may end when the lease is over, which is at the earliest its length after the acquisition was
 * invoked: then an acquisition that finds no permit takes the lock away. Leases are of locks with one permit, so there
 * is one hold to take. The search tells the time (rig_object_lock_age()): operations take effect when one of them
 * completes.
 *
 * Source: the models of Jepsen's tests of Hazelcast (reentrant, fenced, semaphore); Kleppmann 2016, "How to do
 * distributed locking", for work under tokens. Time: the owners that hold the lock. Threads: any.
 */
#ifndef RIG_CHECKER_OBJECTS_OBJECT_LOCKS_H
#define RIG_CHECKER_OBJECTS_OBJECT_LOCKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "checker/objects/object_model.h"

/* In place of the end of a lease that is over, or may be. */
#define RIG_LOCK_LEASE_OVER INT64_C(-1)

/* False: the micro-operation is impossible in the state. Else the state becomes the next one. The value of a lease is
 * the time of its end. */
bool rig_object_lock_apply(const struct rig_txn_op *op, struct rig_buf *state);

/* The state at the time: leases that end then or before are over. False: it is the same. */
bool rig_object_lock_age(struct rig_buf *state, int64_t now_ns);

/* Marks the operations that matter (rig_object_needed()). An acquisition of unknown outcome matters if its owner
 * releases the lock afterwards: else it only keeps others out. It can take effect as late as just before that release.
 * False when memory runs out. */
bool rig_object_lock_needed(const struct rig_object_model *model, const struct rig_object_op *ops, uint32_t count,
                            uint8_t *needed);

#endif
