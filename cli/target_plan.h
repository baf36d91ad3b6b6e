/*
 * A plan for the database of a URL: `rig try --keep-plan`, `rig init`.
 */
#ifndef RIG_CLI_TARGET_PLAN_H
#define RIG_CLI_TARGET_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/arguments.h"

/* The path of the matrix with the levels of the URL's database: configs/try/<driver>.yaml. `settings`:
 * rig_target_url_settings(). RIG_E_USAGE. */
enum rig_rc rig_target_plan_matrix(const struct rig_buf *settings, char *path, size_t size, struct rig_err *err);

/*
 * Adds the plan, a comment a line: the load of `rig try` on this database, with the strongest level that it has and the
 * promise for it, and with `--set` of the arguments. Its secrets are references to variables of the environment, which
 * `secrets` names, separated by blanks.
 */
enum rig_rc rig_target_plan_write(const struct rig_buf *settings, const char *matrix, const struct rig_arguments *args,
                                  struct rig_buf *yaml, struct rig_buf *secrets, struct rig_err *err);

#endif
