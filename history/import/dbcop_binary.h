/*
 * The binary form of dbcop (`history.bincode`), little-endian. docs/history-format.md gives it byte by byte.
 */
#ifndef RIG_HISTORY_IMPORT_DBCOP_BINARY_H
#define RIG_HISTORY_IMPORT_DBCOP_BINARY_H

#include "base/output_file.h"
#include "history/import/session_reader.h"

extern const struct rig_session_form rig_dbcop_binary_form;

/* RIG_E_INPUT for a history that this form cannot hold. */
enum rig_rc rig_dbcop_binary_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);

#endif
