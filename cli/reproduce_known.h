/*
 * `rig reproduce NAME`: runs the plan of an entry of the library of known bugs until an anomaly of its shape is found.
 */
#ifndef RIG_CLI_REPRODUCE_KNOWN_H
#define RIG_CLI_REPRODUCE_KNOWN_H

#include "cli/arguments.h"

/*
 * The exit status: RIG_EXIT_OK when it was reproduced, RIG_EXIT_UNDECIDED when it was not, also after an interruption,
 * RIG_EXIT_FAILED when a run failed, RIG_EXIT_USAGE when there is no such entry. The table of `arguments` is that of
 * `rig reproduce` (command_reproduce.c).
 */
int rig_cli_reproduce_known(const struct rig_arguments *arguments);

#endif
