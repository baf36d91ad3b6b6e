/*
 * The work folder of a run: an empty private place for the driver's files, removed after the run.
 *
 * It lies in TMPDIR or /tmp, because a server's socket needs a short path and a server that dropped its privileges must
 * be able to reach it.
 *
 * Private to run/.
 */
#ifndef RIG_RUN_RUN_FOLDER_H
#define RIG_RUN_RUN_FOLDER_H

#include <stddef.h>

#include "base/err.h"

/* Makes the folder (mode 0711) and writes its path; `path` stays empty on failure. */
enum rig_rc rig_run_folder_make(char *path, size_t size, struct rig_err *err);
/* Removes the folder and all in it, following no links. What cannot be removed is logged. */
void rig_run_folder_remove(const char *path);

#endif
