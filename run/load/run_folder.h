/*
 * The work folder of a run: an empty private place for the driver's files, removed after the run.
 *
 * It lies in TMPDIR or /tmp, because a server's socket needs a short path and a server that dropped its privileges must
 * be able to reach it.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_FOLDER_H
#define RIG_RUN_LOAD_RUN_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rig_journal;

struct rig_run_folder {
    char path[256];              /* empty: there is none */
    struct rig_journal *journal; /* of what the next start undoes when this rig is killed; NULL: it cannot be kept */
    uint64_t token;              /* of the folder's entry there */
};

/*
 * Makes the folder (mode 0711) and its entry in the undo journal. When the journal cannot be kept, a run with faults
 * fails, one without goes on without a journal, and a simulated one needs none. `folder` is zeroed, and safe for
 * rig_run_folder_remove() in any case. `place`: the driver and its servers.
 */
enum rig_rc rig_run_folder_make(struct rig_run_folder *folder, bool simulated, bool faults, const char *place,
                                struct rig_err *err);
/* Removes the folder and all in it, following no links, and its entry. Failures to remove are logged. */
void rig_run_folder_remove(struct rig_run_folder *folder);

/*
 * The name of a run on a server (rig_run_env.run_name): `rig_<UTC date>_<UTC time>_<random number>`.
 *
 * Runs of one second, on any machines, differ by 32 random bits. The seed has no part in it: a run that is repeated
 * must not meet what the first one left.
 */

enum { RIG_RUN_NAME_BYTES = 41 };

/* RIG_E_IO when the system gives no random bytes. */
enum rig_rc rig_run_name_make(char name[RIG_RUN_NAME_BYTES], struct rig_err *err);

#endif
