/*
 * The conditions of a run's program, checked on its tables after the load and the final reads.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_CONDITIONS_H
#define RIG_RUN_LOAD_RUN_CONDITIONS_H

#include <stdint.h>

#include "checker/model/condition.h"

enum { RIG_RUN_CONDITIONS_MOST = 16, RIG_RUN_CONDITION_TEXT_BYTES = 256 };

struct rig_run_condition {
    const char *name, *text, *source;
    uint64_t guaranteed_by;
    char problem[RIG_RUN_CONDITION_TEXT_BYTES]; /* empty: it was checked */
    uint64_t broken;
    char rows[RIG_CONDITION_ROWS][RIG_RUN_CONDITION_TEXT_BYTES];
};

struct rig_run_state;
struct rig_run_result;

/* Queries the tables, within the driver's time-outs. No-op for a run without a program. */
void rig_run_conditions_check(struct rig_run_state *run, struct rig_run_result *result);

#endif
