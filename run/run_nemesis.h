/*
 * The nemesis's place in a run: it starts when the clients are there, and what it does goes into the log, the record
 * and the progress line.
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_NEMESIS_H
#define RIG_RUN_RUN_NEMESIS_H

#include "run/run_state.h"

/* Starts the thread, when the plan has faults. Refuses faults that this cluster or machine cannot have: RIG_E_PLAN. */
enum rig_rc rig_run_nemesis_start(struct rig_run_state *run, struct rig_err *err);
/* The load is over: heals everything; unless the run is to end early, waits for the nodes. The nemesis's first error.
 */
enum rig_rc rig_run_nemesis_heal_all(struct rig_run_state *run, struct rig_err *err);
/* When the cluster is down. */
void rig_run_nemesis_end(struct rig_run_state *run);

/* Refuses a plan's faults that cannot happen here; every one is named. RIG_E_PLAN. No I/O but looking at the machine.
 */
enum rig_rc rig_run_nemesis_check(const struct rig_plan *plan, struct rig_err *err);

#endif
