/*
 * Removes and copies whole folders, with everything below them.
 */
#ifndef RIG_BASE_FOLDER_H
#define RIG_BASE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/process.h"

/* Removes a folder (absolute path) and everything below it, following no links and into no other file system. Best
 * effort. */
void rig_folder_remove(const char *path);
/*
 * Removes everything in an open folder, as rig_folder_remove() does, and its file `last` at the end: while anything
 * else is left, `last` is there. False when something is left.
 */
bool rig_folder_empty(int folder, const char *last);

/*
 * Copies the folder `from` to `to`, which must not exist: folders, files and links, with their modes. `account` owns
 * all of the copy. File contents are shared with the original where the file system can do that. On RIG_E_IO the caller
 * removes the partial copy.
 */
enum rig_rc rig_folder_copy(const char *from, const char *to, const struct rig_account *account, struct rig_err *err);

/* The bytes of all files below the folder; 0 also where it cannot be read. */
uint64_t rig_folder_bytes(const char *path);
uint64_t rig_folder_bytes_of(int folder);

#endif
