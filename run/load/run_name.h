/*
 * The name of a run on a server (rig_run_env.run_name): `rig_<UTC date>_<UTC time>_<random number>`.
 *
 * Runs of one second, on any machines, differ by 32 random bits. The seed has no part in it: a run that is repeated
 * must not meet what the first one left.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_NAME_H
#define RIG_RUN_LOAD_RUN_NAME_H

#include "base/err.h"

enum { RIG_RUN_NAME_BYTES = 41 };

/* RIG_E_IO when the system gives no random bytes. */
enum rig_rc rig_run_name_make(char name[RIG_RUN_NAME_BYTES], struct rig_err *err);

#endif
