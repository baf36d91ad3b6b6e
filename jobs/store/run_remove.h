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
#ifndef RIG_JOBS_STORE_RUN_REMOVE_H
#define RIG_JOBS_STORE_RUN_REMOVE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Removes the run in the open folder `store`. RIG_E_USAGE with the reason when it is left alone; RIG_E_IO when
 * something of it could not be deleted. `only_ask`: nothing is changed.
 */
enum rig_rc rig_run_remove(int store, const char *name, const char *time, bool kept_too, bool only_ask,
                           struct rig_err *err);

#endif
