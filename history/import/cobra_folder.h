/*
 * Reads a folder with logs of Cobra into the sequence of bytes that history/import/cobra_logs.h describes.
 */
#ifndef RIG_HISTORY_IMPORT_COBRA_FOLDER_H
#define RIG_HISTORY_IMPORT_COBRA_FOLDER_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether the folder holds such a log: a file `*.log` that begins with a transaction. */
bool rig_cobra_folder(const char *path);
/* Calls `visit` with the path of each such file, and of other `*.log`. Paths of more than 4095 bytes are left out. */
void rig_cobra_folder_visit(const char *path, void (*visit)(const char *log));
/* Reads all `*.log` of the folder, by name; numbers in names count as numbers. RIG_E_IO, or RIG_E_LIMIT beyond the limit
 * of the buffer. */
enum rig_rc rig_cobra_folder_read(const char *path, struct rig_buf *buf, struct rig_err *err);

#endif
