/*
 * Where a run keeps its files: store/<name>/<UTC time>, with the link store/<name>/latest, or a folder of the user's
 * own.
 */
#ifndef RIG_JOBS_STORE_STORE_FOLDER_H
#define RIG_JOBS_STORE_STORE_FOLDER_H

#include <stddef.h>

#include "base/err.h"

enum { RIG_STORE_PATH_BYTES = 4096 };

/*
 * Makes <store>/<name>/<UTC time> (mode 0700, parents too) with its mark (jobs/store/run_mark.h), moves the link
 * <store>/<name>/latest to it atomically, and writes the folder's path. `hold` gets the hold on the mark; NULL: the
 * folder gets no mark, and `rig store` leaves it alone.
 */
enum rig_rc rig_store_make(const char *store, const char *name, char path[RIG_STORE_PATH_BYTES], int *hold,
                           struct rig_err *err);
/* Makes `folder`, or takes it when it is empty; RIG_E_USAGE when there is something in it. The mark is made as by
 * rig_store_make(). */
enum rig_rc rig_store_take(const char *folder, char path[RIG_STORE_PATH_BYTES], int *hold, struct rig_err *err);
/*
 * Opens a folder of a store for the runs of a name, and keeps other rigs from making or removing runs there until it is
 * closed. No link is followed. -1 with errno.
 */
int rig_store_lock_name(int store, const char *name);

#endif
