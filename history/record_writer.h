/*
 * Writing a history as a binary record, in frames of about 1 MiB; with positions where they are not simply 0, 1, 2 ...
 */
#ifndef RIG_HISTORY_RECORD_WRITER_H
#define RIG_HISTORY_RECORD_WRITER_H

#include "base/err.h"
#include "history/history.h"
#include "history/output.h"

enum rig_rc rig_record_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err);

#endif
