/*
 * The mark of a folder that rig made for a run: the file `.rig-run`, whose first line is fixed. While the run is under
 * way, rig holds a lock (flock) on it, which ends with the process, however that ends.
 *
 * Folders are given as open descriptors and no link is followed, so a mark belongs to this very folder.
 */
#ifndef RIG_JOBS_STORE_RUN_MARK_H
#define RIG_JOBS_STORE_RUN_MARK_H

#include <stdbool.h>

#include "base/err.h"
#include "base/run_files.h"

enum rig_run_mark {
    RIG_RUN_MARK_NONE,
    RIG_RUN_MARK_FOREIGN, /* there is something under its name that is no mark of this user */
    RIG_RUN_MARK_IDLE,
    RIG_RUN_MARK_HELD, /* by a rig whose run is under way */
};

/* Makes the mark in the folder at `path` and holds it: until *hold is closed, or the process ends. */
enum rig_rc rig_run_mark_make(const char *path, int *hold, struct rig_err *err);
enum rig_run_mark rig_run_mark_look(int folder);
/* Like the look; RIG_RUN_MARK_IDLE gives a hold on the mark, which the caller closes. */
enum rig_run_mark rig_run_mark_take(int folder, int *hold);
/* True when a folder below `folder`, at most `depth` deep, has a mark that is held. */
bool rig_run_mark_held_below(int folder, int depth);

#endif
