/*
 * The load: which transaction a client issues next, and when.
 *
 * The plan's total is a stock that clients claim in batches; with simulated time it is divided beforehand, so that
 * nothing depends on which thread comes first. Under a rate each client has a schedule of its own: its k-th transaction
 * is meant to start at start + (k + client / client_count) * interval, late or not (open loop, wrk2's way).
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_LOAD_H
#define RIG_RUN_RUN_LOAD_H

#include "run/run_state.h"

/* Before the clients start. */
void rig_run_load_init(struct rig_run_state *run);
/* At the start barrier, with the time at which it opens. */
void rig_run_load_start(struct rig_run_state *run, int64_t now_ns);
/* Writes the next transaction's question into the client's transaction; waits for its time. False: no more. */
bool rig_run_load_next(struct rig_run_client *client);
/* A client that lost its session returns what it had claimed, so that others may issue it. */
void rig_run_load_release(struct rig_run_client *client);
/* True while a client without a session has reason to get one. */
bool rig_run_load_has_work(struct rig_run_client *client);

#endif
