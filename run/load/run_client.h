/*
 * One client: a thread with a session, in an explicit state machine (the states and their ways stand in run_client.c).
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_CLIENT_H
#define RIG_RUN_LOAD_RUN_CLIENT_H

#include <stdint.h>

#include "base/err.h"

struct rig_run_client;
struct rig_run_state;

/* Allocates what the client needs; safe for rig_run_client_done() when it fails. */
enum rig_rc rig_run_client_init(struct rig_run_client *client, struct rig_run_state *run, uint32_t index,
                                struct rig_err *err);
void rig_run_client_done(struct rig_run_client *client);

/* The thread: takes the client through the run's present phase. `client` is a struct rig_run_client. */
void *rig_run_client_main(void *client);

#endif
