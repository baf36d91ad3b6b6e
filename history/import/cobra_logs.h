/*
 * The logs of Cobra: a folder with a binary file for each client, big-endian. docs/history-format.md gives them byte by
 * byte.
 *
 * The files of a folder are read into one sequence of bytes, which is what the source of such a history has: a mark,
 * then for each file the sizes of its name and of its content, 8 bytes each, its name and its content.
 */
#ifndef RIG_HISTORY_IMPORT_COBRA_LOGS_H
#define RIG_HISTORY_IMPORT_COBRA_LOGS_H

#include "history/import/session_reader.h"

#define RIG_COBRA_MARK "Cobra's logs, read by rig\n"
enum {
    RIG_COBRA_MARK_BYTES = sizeof RIG_COBRA_MARK - 1,
    RIG_COBRA_NAME_BYTES = 255, /* of a log's name, at most */
};

extern const struct rig_session_form rig_cobra_form;

/* Whether the bytes begin like the log of one client. */
bool rig_cobra_single_log(const char *data, size_t size);

#endif
