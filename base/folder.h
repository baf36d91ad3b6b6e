/*
 * Whole folders: removed and copied with all that is below them.
 */
#ifndef RIG_BASE_FOLDER_H
#define RIG_BASE_FOLDER_H

#include <stdint.h>

#include "base/account.h"
#include "base/err.h"

/* Removes a folder (absolute path) and all below it, following no links. Best effort. */
void rig_folder_remove(const char *path);

/*
 * Copies the folder `from` to `to`, which must not exist: folders, files and links, with their modes; all of it belongs
 * to `account` then. File contents are shared with the original where the file system can do that. RIG_E_IO, and what
 * was copied stays for the caller to remove.
 */
enum rig_rc rig_folder_copy(const char *from, const char *to, const struct rig_account *account, struct rig_err *err);

/* The bytes of all files below the folder; 0 also where it cannot be read. */
uint64_t rig_folder_bytes(const char *path);

#endif
