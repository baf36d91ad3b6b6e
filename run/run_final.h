/*
 * The final reads: after the load every key that was active, or of which there was no closing read (run_closing.h), is
 * read once more, a few keys a read-only transaction, so that the last versions have a reader. They are transactions
 * like any other. One that fails is tried again as a new transaction; a client gives up after RIG_FINAL_ATTEMPTS
 * failures in a row, so that a dead database cannot hold the run. In a run with faults each node is asked for all of
 * them, where the driver can choose (RIG_DRIVER_NODES).
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_FINAL_H
#define RIG_RUN_RUN_FINAL_H

#include "run/run_state.h"

/* After the load: finds out which keys there are. Undone by rig_run_final_done(). */
enum rig_rc rig_run_final_init(struct rig_run_state *run, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed state. */
void rig_run_final_done(struct rig_run_state *run);
/* Writes the next transaction's question into the client's transaction. False: no more. */
bool rig_run_final_next(struct rig_run_client *client);
/* The transaction came back. */
void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome, const char *error);
/* True while a client without a session has reason to get one. */
bool rig_run_final_has_work(struct rig_run_client *client);

/* What reads a key in this run's workload. */
enum rig_op_kind rig_run_read_kind(const struct rig_run_state *run);
/* Makes the first `count` final_ops of the client its transaction's question. */
void rig_run_ask_reads(struct rig_run_client *client, uint32_t count);

#endif
