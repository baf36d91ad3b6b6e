/*
 * rig shrink --plan PLAN|DIR: the smallest plan that still shows the anomaly, by runs of plans.
 */
#ifndef RIG_CLI_SHRINK_PLAN_H
#define RIG_CLI_SHRINK_PLAN_H

#include "cli/arguments.h"

/* The command, with arguments that were read. Returns the exit status. */
int rig_cli_shrink_plan(const struct rig_arguments *args);

#endif
