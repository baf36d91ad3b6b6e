/*
 * `rig plan --requests`: what the first transactions of a plan would send, shown by the driver; nothing is sent.
 */
#ifndef RIG_CLI_DRY_RUN_H
#define RIG_CLI_DRY_RUN_H

#include "base/err.h"
#include "run/plan/plan.h"

/* Prints to standard output. RIG_E_USAGE when the driver cannot show what it sends. */
enum rig_rc rig_cli_dry_run(const struct rig_plan *plan, struct rig_err *err);

#endif
