/*
 * The annotations of a completion: its error text and its side columns (docs/history-format.md), decoded at the
 * decoder's cursor into its segment. Private to the record's readers.
 *
 * RIG_E_INPUT for a malformed record, RIG_E_LIMIT when memory runs out. Time: linear in the bytes read, and one step
 * for each column that a client's last transaction sets.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_ANNOTATIONS_H
#define RIG_HISTORY_RECORD_RECORD_ANNOTATIONS_H

#include "history/record/record_decoder.h"

/* The error's number in the segment, from 1. */
enum rig_rc rig_record_get_error(struct rig_record_decoder *decoder, uint32_t *id);
/* The side columns of the segment's next transaction, that of the slot. */
enum rig_rc rig_record_get_columns(struct rig_record_decoder *decoder, const struct rig_record_slot *slot);

#endif
