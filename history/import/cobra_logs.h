/*
 * The logs of Cobra: a folder with a binary file for each client, big-endian. docs/history-format.md gives them byte by
 * byte.
 *
 * The files of a folder are read into one sequence of bytes, which is what the source of such a history has: a mark,
 * then for each file the sizes of its name and of its content, 8 bytes each, its name and its content.
 */
#ifndef RIG_HISTORY_IMPORT_COBRA_LOGS_H
#define RIG_HISTORY_IMPORT_COBRA_LOGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "history/import/session_reader.h"

extern const struct rig_session_form rig_cobra_form;

/* Whether the bytes begin like the log of one client. */
bool rig_cobra_single_log(const char *data, size_t size);

/*
 * Reads a folder with logs of Cobra into the sequence of bytes that history/import/cobra_logs.h describes.
 */

/* Whether the folder holds such a log: a file `*.log` that begins with a transaction. */
bool rig_cobra_folder(const char *path);
/* Calls `visit` with the path of each such file, and of other `*.log`. Paths of more than 4095 bytes are left out. */
void rig_cobra_folder_visit(const char *path, void (*visit)(const char *log));
/* Reads all `*.log` of the folder, by name; numbers in names count as numbers. RIG_E_IO, or RIG_E_LIMIT beyond the
 * limit of the buffer. */
enum rig_rc rig_cobra_folder_read(const char *path, struct rig_buf *buf, struct rig_err *err);

#endif
