/*
 * Values that are not integers in the binary record: the header has the text of each (docs/history-format.md), and
 * events have its number (history/model/value_texts.h). Private to the record and to what saves histories.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_TEXTS_H
#define RIG_HISTORY_RECORD_RECORD_TEXTS_H

#include "base/buf.h"
#include "base/vec.h"
#include "history/model/history.h"
#include "history/record/record_decoder.h"

RIG_VEC(int64_t, rig_value_numbers)

/* Adds the numbers of all such values of the history, each once. Time: linear. False when memory runs out. */
bool rig_record_texts_find(const struct rig_history *history, struct rig_value_numbers *numbers);

void rig_record_texts_put(struct rig_buf *header, const struct rig_value_numbers *numbers);
/* Enters the texts at the cursor into the table of the process, which may take `limit_bytes` (0: no limit) in all. */
enum rig_rc rig_record_texts_read(struct rig_record_decoder *decoder, size_t limit_bytes);

/* Whether this is a value as rig writes it, an integer included. */
bool rig_record_text_is_value(const char *text, size_t length, bool *is_integer);

#endif
