/*
 * The monitor: one thread that ends the run when the user asks, ends the load at its time, interrupts clients that do
 * not finish, gives up on a database that stays unreachable, and draws the progress line.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_MONITOR_H
#define RIG_RUN_LOAD_RUN_MONITOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "run/load/run_measures.h"

struct rig_run_state;

/* The monitor's observations of the load; to be read after it was joined, except `looks`. */
struct rig_run_seen {
    _Atomic int looks; /* at the clients' answers */
    struct rig_run_timeline timeline;
    struct rig_run_answers answers;
};

/* The latest look of the monitor in which a transaction was acknowledged. */
struct rig_run_answered {
    _Atomic int look;        /* -1: none was */
    _Atomic int64_t from_ns; /* when the first of that look had started */
};

/* One client's part. */
struct rig_run_client_answered {
    struct rig_run_answered any;     /* transaction */
    struct rig_run_answered writing; /* one that writes */
};

struct rig_run_monitor;

enum rig_rc rig_run_monitor_start(struct rig_run_state *run, struct rig_run_monitor **monitor, struct rig_err *err);
/* Stops and joins it, clears the progress line. Takes NULL. */
void rig_run_monitor_stop(struct rig_run_monitor *monitor);

#endif
