/*
 * The samples of a rank's clock in the binary record: frames of their own between the others (docs/history-format.md),
 * so that a reader finds all of them without decoding an event. Private to the record's readers and writers.
 *
 * Time of reading: one step a frame of the file.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CLOCK_H
#define RIG_HISTORY_RECORD_RECORD_CLOCK_H

#include "base/buf.h"
#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/record/record_cursor.h"
#include "history/record/record_file.h"

/* The place in the run, in the header. False, or a bad cursor, for one that this version does not have. */
void rig_rank_put(const struct rig_rank *rank, struct rig_buf *payload);
bool rig_rank_get(struct rig_record_cursor *cursor, struct rig_rank *rank);

void rig_clock_samples_put(const struct rig_clock_sample *samples, size_t count, struct rig_buf *payload);
/* Adds those of all undamaged frames; the frames of a damaged or cut record count up to its first incomplete one. */
enum rig_rc rig_clock_samples_find(const struct rig_record_file *file, struct rig_clock_samples *samples,
                                   struct rig_err *err);

#endif
