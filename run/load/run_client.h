/*
 * One client: a thread with a session, in an explicit state machine (the states and their ways stand in run_client.c).
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_CLIENT_H
#define RIG_RUN_LOAD_RUN_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rig_run_client;
struct rig_run_state;
struct rig_plan;

struct rig_run_session {
    _Atomic uint64_t opened, renewed, lost, ended;
    _Atomic uint64_t attempts, failures; /* to open one */
    _Atomic int64_t busy_since_ns;       /* monotonic start of the driver's call that is under way; 0: none */
    _Atomic bool connected;

    pthread_mutex_t lock; /* guards is_live against interrupts */
    bool is_live;         /* between the start of open and the end of close */

    void *object; /* the driver's */
    bool is_open;
    int64_t process;
    uint32_t failed_in_a_row;
    struct rig_err first_err; /* the first failure to connect */
};

/* Interrupts the session if there is one. From the monitor's thread; does not block for long. */
void rig_run_session_interrupt(struct rig_run_client *client);

/* Whether some transactions of the plan roll back. */
bool rig_run_rolls_back(const struct rig_plan *plan);

/* Allocates what the client needs; safe for rig_run_client_done() when it fails. */
enum rig_rc rig_run_client_init(struct rig_run_client *client, struct rig_run_state *run, uint32_t index,
                                struct rig_err *err);
void rig_run_client_done(struct rig_run_client *client);

/* The thread: takes the client through the run's present phase. `client` is a struct rig_run_client. */
void *rig_run_client_main(void *client);

#endif
