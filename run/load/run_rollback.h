/*
 * Transactions that roll back to a savepoint, as they are recorded.
 *
 * The writes that a transaction rolls back are a transaction of their own, which failed: rig records it just before
 * the rest, under the same process, with the side column `savepoint`. So a read of such a write is an aborted read
 * wherever it is, and the record has the writer before any read could show its value. It is certain that these writes
 * never commit, whatever comes of the rest: the driver sends no COMMIT without the rollback. A read among them stays
 * with the rest: none of them has written its key before it.
 *
 * Private to run/load/. Threads: the client's.
 */
#ifndef RIG_RUN_LOAD_RUN_ROLLBACK_H
#define RIG_RUN_LOAD_RUN_ROLLBACK_H

#include <stdbool.h>
#include <stdint.h>

struct rig_plan;
struct rig_run_client;
struct rig_transaction;

/* Whether some transactions of the plan roll back. */
bool rig_run_rolls_back(const struct rig_plan *plan);

/* Records the writes that the client's transaction rolls back, and then the invocation of the other operations. */
void rig_run_rollback_invoke(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns);

/* Drops the places of the writes that were rolled back from the answer, and numbers a hold by the other operations. */
void rig_run_rollback_answer(struct rig_transaction *transaction);

#endif
