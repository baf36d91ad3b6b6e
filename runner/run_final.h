/*
 * The final reads: after the load every key that was active is read once more, a few keys a read-only transaction, so
 * that the last versions have a reader. They are transactions like any other. One that fails is tried again as a new
 * transaction; a client gives up after RIG_FINAL_ATTEMPTS failures in a row, so that a dead database cannot hold the
 * run.
 *
 * Private to runner/.
 */
#ifndef RIG_RUNNER_RUN_FINAL_H
#define RIG_RUNNER_RUN_FINAL_H

#include "runner/run_state.h"

/* After the load: finds out which keys there are. */
void rig_run_final_init(struct rig_run_state *run);
/* Writes the next transaction's question into the client's transaction. False: no more. */
bool rig_run_final_next(struct rig_run_client *client);
/* The transaction came back. */
void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome);
/* True while a client without a session has reason to get one. */
bool rig_run_final_has_work(struct rig_run_client *client);

#endif
