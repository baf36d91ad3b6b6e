/*
 * Reading the binary record as a form of histories (history/source/form_reader.h).
 *
 * One reader reads the frames in order, for any version, and can follow a file that grows: a part is about 256 KiB, up
 * to 1 MiB if there are many clients, and less if memory is short; it may end within a frame. The other one reads
 * blocks as parts, in any order. Both give the same history: a damaged record is read up to its first damaged frame,
 * one without a closing frame up to its last complete one, and both are marked `truncated`.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_READER_H
#define RIG_HISTORY_RECORD_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/record/record_cursor.h"
#include "history/record/record_file.h"
#include "history/source/form_reader.h"
#include "history/source/source_parts.h"

/*
 * The samples of a rank's clock in the binary record: frames of their own between the others (docs/history-format.md),
 * so that a reader finds all of them without decoding an event. Private to the record's readers and writers.
 *
 * Time of reading: one step a frame of the file.
 */

/* The place in the run, in the header. False, or a bad cursor, for one that this version does not have. */
void rig_rank_put(const struct rig_rank *rank, struct rig_buf *payload);
bool rig_rank_get(struct rig_record_cursor *cursor, struct rig_rank *rank);

void rig_clock_samples_put(const struct rig_clock_sample *samples, size_t count, struct rig_buf *payload);

/* Whether the data is a binary record, by its first bytes (also when there are fewer than the magic's). */
bool rig_record_recognise(const void *data, size_t size);
/* Whether it has blocks that are worth reading in parallel and small enough for it: at most an eighth of the file if
 * they are longer than usual, and at most `most_bytes` each unless that is 0. */
bool rig_record_has_blocks(const struct rig_source_bytes *bytes, size_t most_bytes);

/* `state`: of either reader. The beginning of each block, that of the first one as 0, up to a frame that is incomplete.
 * False when memory runs out, and for a record with a certificate. */
bool rig_record_find_blocks(void *state, const struct rig_source_bytes *bytes, struct rig_source_offsets *blocks);
/* The same with what the checkpoints say. False also if one is damaged, or if times need not ascend. */
bool rig_record_find_entries(void *state, const struct rig_source_bytes *bytes, struct rig_source_entries *entries);
/* Before the first part: the first one begins at this block. */
void rig_record_begin_at(void *state, size_t block);
/* Whether the record is one of several ranks. */
bool rig_record_has_rank(const void *state);
/* As rig_source_marks(). */
void rig_record_marks(const void *state, uint64_t *start, uint64_t *end);

#endif
