/*
 * A matrix that another command runs, and shows in its own way.
 */
#ifndef RIG_CLI_COMMAND_MATRIX_H
#define RIG_CLI_COMMAND_MATRIX_H

#include "jobs/matrix/matrix_report.h"

/*
 * As `rig matrix` with these arguments, with `write` in place of its text, and without the lines about its folder. A
 * level that the plan refuses, as the dialect of the database lacks it, is skipped; `write` gets the reason.
 * Returns the exit status.
 */
int rig_cli_matrix_for(int argc, char **argv, void (*write)(const struct rig_matrix_facts *facts, struct rig_buf *out));

#endif
