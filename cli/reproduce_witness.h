/*
 * `rig reproduce DIR|HISTORY`: the smallest part of a history with its anomaly as a scenario and scripts, and how often
 * the anomaly comes back on a database: first by the order of the statements, else by running the plan again.
 */
#ifndef RIG_CLI_REPRODUCE_WITNESS_H
#define RIG_CLI_REPRODUCE_WITNESS_H

#include "cli/arguments.h"

/*
 * The exit status: RIG_EXIT_OK when the anomaly came back, RIG_EXIT_UNDECIDED when it did not, RIG_EXIT_FAILED when the
 * database could not be used, RIG_EXIT_USAGE when there is nothing to reproduce. The table of `args` is that of `rig
 * reproduce` (command_reproduce.c).
 */
int rig_cli_reproduce_witness(const struct rig_arguments *args);

#endif
