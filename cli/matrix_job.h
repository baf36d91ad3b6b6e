/*
 * One job of a matrix: a command of this rig, in a process of its own, so that a crash of one run leaves the others.
 *
 * The process is ended with the matrix, by SIGTERM, and heals its own faults then.
 */
#ifndef RIG_CLI_MATRIX_JOB_H
#define RIG_CLI_MATRIX_JOB_H

#include <stdatomic.h>

#include "base/child.h"
#include "cli/input_path.h"
#include "jobs/matrix/matrix_cells.h"

struct rig_cli_matrix_runner {
    struct rig_matrix *matrix;
    const char *folder;           /* of the matrix; the job's is below it, and is replaced */
    const char *const *overrides; /* of the command line, NULL-ended: they come last */
    const atomic_int *interrupts;
    int64_t deadline_ns; /* of the whole matrix; 0: none */
    struct rig_children *children;
    char program[RIG_CLI_PATH_BYTES], home[RIG_CLI_PATH_BYTES];
};

/* Fills in the last three. */
enum rig_rc rig_cli_matrix_runner_init(struct rig_cli_matrix_runner *runner, struct rig_err *err);
void rig_cli_matrix_runner_done(struct rig_cli_matrix_runner *runner);

enum { RIG_CLI_MATRIX_KEY_BYTES = 17 };
/*
 * A finished job is recognised by its key: rig's version and commit, its resolved plan, its scenarios. RIG_E_PLAN where
 * the plan with the job's settings cannot be used.
 */
enum rig_rc rig_cli_matrix_key(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                               char key[RIG_CLI_MATRIX_KEY_BYTES], struct rig_err *err);

/* Runs it, and records how it ended. RIG_E_IO, RIG_E_CLUSTER: it could not be started. */
enum rig_rc rig_cli_matrix_run(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                               const char *key, struct rig_matrix_ending *ending, struct rig_err *err);

#endif
