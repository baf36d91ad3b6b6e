/*
 * Values that several writes share. The reader of a file in which values repeat gives the n-th write of 5 to a key the
 * value "5#n", and a read that may show several of them the shared value "5#?". The run of '#' is longer than any in
 * the file.
 *
 * Each function takes numbers of value texts (history/model/value_texts.h). Threads: any.
 */
#ifndef RIG_HISTORY_MODEL_SHARED_VALUE_H
#define RIG_HISTORY_MODEL_SHARED_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "history/model/history.h"

#define RIG_SHARED_BY_ALL UINT32_MAX /* in place of a write's number: the shared value */
/* Adds the EDN text of the value of the write `number`, or of the shared one. */
void rig_shared_value_add(struct rig_buf *out, const char *value, size_t length, uint32_t mark_length, uint32_t number);

/* Whether it is a shared value. */
bool rig_value_is_shared(int64_t value);
/* A read without a result, of which the shared value is known. */
static inline bool rig_op_is_ambiguous(const struct rig_txn_op *op)
{
    return op->read_state == RIG_READ_UNKNOWN && rig_op_reads(op->kind) && rig_value_is_shared(op->value);
}
/* The shared value that stands for this one and others; false: there is none, or memory runs out. */
bool rig_value_shared_by(int64_t value, int64_t *shared);
/* The value that stands for the shared one where the key began with it: "5#0", which nothing writes. False when memory
 * runs out. */
bool rig_value_shared_initial(int64_t shared, int64_t *initial);
/* Whether the shared value is written as this one in the file. */
bool rig_value_shows(int64_t shared, int64_t value);
/* Adds it as the file has it: 5 for "5#?". */
void rig_shared_value_show(struct rig_buf *out, int64_t shared);

#endif
