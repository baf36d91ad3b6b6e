/*
 * From the clients' own counts to the result of the run.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_RESULT_H
#define RIG_RUN_LOAD_RUN_RESULT_H

#include "run/load/run.h"

struct rig_run_state;

/* Sums up what the clients counted. They have stopped, or are abandoned. */
void rig_run_result_collect(const struct rig_run_state *run, struct rig_run_result *result);
/* Asserts the accounting identities of rig_run_counters, client by client and in all. The clients have stopped. */
void rig_run_result_check(const struct rig_run_state *run, const struct rig_run_result *result);

#endif
