/*
 * Where a run keeps its files: store/<name>/<UTC time>, with the link store/<name>/latest, or a folder of the user's
 * own.
 */
#ifndef RIG_CLI_STORE_H
#define RIG_CLI_STORE_H

#include <stddef.h>

#include "base/err.h"

enum { RIG_STORE_PATH_BYTES = 4096 };

/*
 * Makes <store>/<name>/<UTC time> (mode 0755, parents too), moves the link <store>/<name>/latest to it atomically, and
 * writes the folder's path.
 */
enum rig_rc rig_store_make(const char *store, const char *name, char path[RIG_STORE_PATH_BYTES], struct rig_err *err);
/* Makes `folder`, or takes it when it is empty; RIG_E_USAGE when there is something in it. */
enum rig_rc rig_store_take(const char *folder, char path[RIG_STORE_PATH_BYTES], struct rig_err *err);

#endif
