/*
 * Writes a history as operations, a line each, in a textual form (history/text/operation_text.h).
 *
 * Space: about 1 MiB, and 8 bytes a transaction.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_WRITER_H
#define RIG_HISTORY_TEXT_OPERATION_WRITER_H

#include "base/err.h"
#include "history/model/history.h"
#include "history/text/operation_text.h"
#include "base/output_file.h"

enum rig_rc rig_operation_write(const struct rig_history *history, const struct rig_syntax *dialect,
                                struct rig_output *output, struct rig_err *err);

#endif
