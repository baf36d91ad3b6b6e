/*
 * The runs of a matrix that a command asks for: by --only, the names of databases, servers, levels and faults; by
 * --rerun, what earlier runs of this matrix showed.
 */
#ifndef RIG_CLI_MATRIX_SELECTION_H
#define RIG_CLI_MATRIX_SELECTION_H

#include "cli/arguments.h"
#include "jobs/matrix/matrix.h"

/*
 * Leaves the jobs that are asked for; with --rerun there may be none. `store`: the folder with the matrices of earlier
 * commands. RIG_E_USAGE: a name that is in no job, or no earlier run of this matrix.
 */
enum rig_rc rig_cli_matrix_select(const struct rig_arguments *args, const char *store, struct rig_matrix *matrix,
                                  struct rig_err *err);

#endif
