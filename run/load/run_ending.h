/*
 * How and why a run comes to its end.
 *
 * Private to run/load/. Threads: any raises and looks; the monitor writes `abandoned` and `failure`.
 */
#ifndef RIG_RUN_LOAD_RUN_ENDING_H
#define RIG_RUN_LOAD_RUN_ENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rig_run_state;

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

#endif
