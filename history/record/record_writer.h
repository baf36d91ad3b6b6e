/*
 * Writes a history as a binary record, in frames of about 1 MiB, with positions unless they are simply 0, 1, 2 ...
 */
#ifndef RIG_HISTORY_RECORD_RECORD_WRITER_H
#define RIG_HISTORY_RECORD_RECORD_WRITER_H

#include "base/err.h"
#include "history/model/history.h"
#include "base/output_file.h"

struct rig_record_write_options {
    bool pack;          /* RIG_E_USAGE if this build cannot */
    size_t frame_bytes; /* 0: 1 MiB */
    size_t block_bytes; /* see struct rig_record_head */
};

enum rig_rc rig_record_write(const struct rig_history *history, const struct rig_record_write_options *options,
                             struct rig_output *output, struct rig_err *err);

#endif
