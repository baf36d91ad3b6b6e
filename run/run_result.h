/*
 * From the clients' own counts to the result of the run.
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_RESULT_H
#define RIG_RUN_RUN_RESULT_H

#include "run/run_state.h"

/* After the load, before the final reads: how long it took, and how much of it was carried out. `by_itself`: nothing
 * ended it before its time. */
void rig_run_load_measure(struct rig_run_state *run, bool by_itself);
/* Sums up what the clients counted. They have stopped, or are abandoned. */
void rig_run_result_collect(const struct rig_run_state *run, struct rig_run_result *result);
/* Asserts the accounting identities of rig_run_counters, client by client and in all. The clients have stopped. */
void rig_run_result_check(const struct rig_run_state *run, const struct rig_run_result *result);

#endif
