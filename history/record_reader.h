/*
 * Reading the binary record (docs/history-format.md): the file, its frames, and the forms' hooks
 * (history/form_reader.h).
 *
 * Reads up to the last whole frame; a record without closing frame is marked `truncated`. A part is a run of whole
 * frames, about 1 MiB of them.
 */
#ifndef RIG_HISTORY_RECORD_READER_H
#define RIG_HISTORY_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "history/load.h"

/* Whether the data is a binary record, by its first bytes (also when there are fewer than the magic's). */
bool rig_record_recognise(const void *data, size_t size);
enum rig_rc rig_record_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                             struct rig_history **history, struct rig_err *err);

#endif
