/*
 * The phases of a run from the point of view of its clients: they start together, pause, and end.
 */
#ifndef RIG_RUN_LOAD_RUN_PHASE_H
#define RIG_RUN_LOAD_RUN_PHASE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "generator/generator.h"

struct rig_run_state;
struct rig_run_client;

/*
 * How and why a run comes to its end.
 *
 * Threads: any raises and looks; the monitor writes `abandoned` and `failure`.
 */

/* How urgently the run is to end. Only ever rises. */
enum rig_run_stop {
    RIG_STOP_NONE,  /* go on */
    RIG_STOP_LOAD,  /* the load's time is over: finish what is under way; final reads may follow */
    RIG_STOP_END,   /* finish what is under way, begin nothing, no final reads */
    RIG_STOP_ABORT, /* sessions are being interrupted */
};

struct rig_run_ending {
    _Atomic int stop;            /* enum rig_run_stop */
    _Atomic bool interrupted;    /* by a signal */
    _Atomic int stopped_by;      /* enum rig_anomaly that ended the load; RIG_ANOMALY_COUNT: none */
    _Atomic int64_t raised_ns;   /* when `stop` rose last; 0 before */
    _Atomic int64_t load_end_ns; /* when something first ended the load; 0: nothing did, it ended by itself */
    _Atomic bool abandoned;      /* a client does not come back from the driver */
    struct rig_err failure;      /* why the run failed midway; read after the monitor was joined */
};

/* Raises `stop` to at least `stop`. From any thread. */
void rig_run_raise(struct rig_run_state *run, enum rig_run_stop stop);
/* Sleeps until the monotonic time, in slices, and looks between them whether to end. False when it is. */
bool rig_run_wait_until(struct rig_run_state *run, int64_t deadline_ns);

/*
 * Pauses of clients: between transactions (think time), between bursts, and between the operations of a transaction.
 *
 * Threads: the client's.
 */

/* The monotonic time before which the client's next transaction of the load is not to start: after its think time, and
 * in a burst. 0: at once. */
int64_t rig_run_pause_until_ns(struct rig_run_client *client);
/* Waits between two operations of the client's transaction; returns early, with false, when the run is ending. */
bool rig_run_pause_between(struct rig_run_client *client);

/*
 * The start and the end of a phase: all clients gather, start together, and are counted as they finish.
 *
 * Threads: the main thread resets and opens; clients gather and finish.
 */

struct rig_run_gate {
    pthread_mutex_t lock; /* guards `gathered` and `is_open` */
    pthread_cond_t moved;
    uint32_t gathered;
    bool is_open;
    _Atomic uint32_t finished; /* clients past the phase */
};

void rig_run_gate_init(struct rig_run_gate *gate);
void rig_run_gate_done(struct rig_run_gate *gate);
/* Before a phase, while there are no client threads. */
void rig_run_gate_close(struct rig_run_gate *gate);
/* Waits until `count` clients are at the gate, or `abandoned` is true. */
void rig_run_gate_await(struct rig_run_gate *gate, uint32_t count, const atomic_bool *abandoned);
/* Lets the clients go. */
void rig_run_gate_open(struct rig_run_gate *gate);
/* A client is at the gate, and waits until it opens. */
void rig_run_gate_pass(struct rig_run_gate *gate);
/* A client is past the phase. */
void rig_run_gate_finish(struct rig_run_gate *gate);

#endif
