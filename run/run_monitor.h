/*
 * The monitor: one thread that turns signals into the run's end, ends the load at its time, interrupts clients that do
 * not finish, gives up on a database that stays unreachable, and draws the progress line.
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_MONITOR_H
#define RIG_RUN_RUN_MONITOR_H

#include "run/run_state.h"

struct rig_run_monitor;

enum rig_rc rig_run_monitor_start(struct rig_run_state *run, struct rig_run_monitor **monitor, struct rig_err *err);
/* Stops and joins it, clears the progress line. Takes NULL. */
void rig_run_monitor_stop(struct rig_run_monitor *monitor);

#endif
