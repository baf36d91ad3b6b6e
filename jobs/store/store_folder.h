/*
 * Where a run keeps its files: store/<name>/<UTC time>, with the link store/<name>/latest, or a folder of the user's
 * own.
 */
#ifndef RIG_JOBS_STORE_STORE_FOLDER_H
#define RIG_JOBS_STORE_STORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/run_files.h"

/*
 * Removal of a run. It deletes nothing but folders that are certainly runs of rig, and says why it leaves another one
 * alone.
 *
 * A run is removed only when
 *   - it is a real folder, two levels below the store, on its file system, with the name of a time; no link is
 *     followed,
 *   - its mark (store_folder.h) and the folder belong to this user,
 *   - no rig holds its mark, nor that of a run inside it,
 *   - it has no file `KEEP`, unless the caller says so, and everything at its top has a name that rig writes.
 * It is renamed first, so that no half of it is ever taken for a run; its mark goes last, so that a removal that was
 * cut short is known and ended later. The link `latest` is moved to the newest run left, or removed with the last one.
 */

/*
 * Removes the run in the open folder `store`. RIG_E_USAGE with the reason when it is left alone; RIG_E_IO when
 * something of it could not be deleted. `only_ask`: nothing is changed.
 */
enum rig_rc rig_run_remove(int store, const char *name, const char *time, bool kept_too, bool only_ask,
                           struct rig_err *err);

/*
 * The mark of a folder that rig made for a run: the file `.rig-run`, whose first line is fixed. While the run is under
 * way, rig holds a lock (flock) on it, which ends with the process, however that ends.
 *
 * Folders are given as open descriptors and no link is followed, so a mark belongs to this very folder.
 */

enum rig_run_mark {
    RIG_RUN_MARK_NONE,
    RIG_RUN_MARK_FOREIGN, /* there is something under its name that is no mark of this user */
    RIG_RUN_MARK_IDLE,
    RIG_RUN_MARK_HELD, /* by a rig whose run is under way */
};

enum rig_run_mark rig_run_mark_look(int folder);
/* Like the look; RIG_RUN_MARK_IDLE gives a hold on the mark, which the caller closes. */
enum rig_run_mark rig_run_mark_take(int folder, int *hold);

enum { RIG_STORE_PATH_BYTES = 4096 };

/*
 * Makes <store>/<name>/<UTC time> (mode 0700, parents too; 0750 where the store's folder is setgid and its group may
 * read it) with its mark (jobs/store/store_folder.h), moves the link <store>/<name>/latest to it atomically, and writes
 * the folder's path. `hold` gets the hold on the mark; NULL: the folder gets no mark, and `rig store` leaves it alone.
 */
enum rig_rc rig_store_make(const char *store, const char *name, char path[RIG_STORE_PATH_BYTES], int *hold,
                           struct rig_err *err);
/* Makes `folder`, or takes it when it is empty; RIG_E_USAGE when there is something in it. The mark is made as by
 * rig_store_make(). */
enum rig_rc rig_store_take(const char *folder, char path[RIG_STORE_PATH_BYTES], int *hold, struct rig_err *err);

#endif
