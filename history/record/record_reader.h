/*
 * Reading the binary record as a form of histories (history/form_reader.h).
 *
 * One reader goes through the frames in order, for any version, and can follow a file that grows: a part is about 256
 * KiB, or up to 1 MiB where there are many clients, and less where memory is short; it may end within a frame. The
 * other one takes a block for a part, in any order. Both give the same history: a record that is
 * damaged is read up to its first damaged frame, one without closing frame up to its last whole one, and both are
 * marked `truncated`.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_READER_H
#define RIG_HISTORY_RECORD_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "history/form_reader.h"
#include "history/source_bytes.h"

/* Whether the data is a binary record, by its first bytes (also when there are fewer than the magic's). */
bool rig_record_recognise(const void *data, size_t size);
/* Whether it is one in blocks that are worth reading at once, and small enough for it: an eighth of the file, if they
 * are longer than usual, and of `most_bytes` each unless that is 0. */
bool rig_record_has_blocks(const struct rig_source_bytes *bytes, size_t most_bytes);

#endif
