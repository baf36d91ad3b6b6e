/*
 * List reads of the binary record: from codes that refer to the file's spines to references into a segment. Private to
 * the record's readers.
 *
 * A read that is a prefix of its key's spine becomes such a reference and copies nothing. One that leaves the spine
 * becomes a branch, or extends a branch of the same key.
 *
 * Time: linear in the elements that the file states.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_LISTS_H
#define RIG_HISTORY_RECORD_RECORD_LISTS_H

#include "history/record/record_decoder.h"

/* Spare room after the elements of most spines in version 2: up to this many elements are read without a check. */
enum { RIG_FEW_ELEMENTS = 4 };

/*
 * A list that has `shared` elements of the key's spine in the segment, followed by others: it joins the key's newest
 * branch if the two agree over their common length, else it is a new one. False when memory runs out.
 */
bool rig_record_place_branch(struct rig_record_decoder *decoder, struct rig_record_key *key, uint32_t shared,
                             const int64_t *tail, uint32_t tail_count, struct rig_txn_op *mop);
/*
 * A read of the decoder's key `key` with a code of RIG_READ_CODE_APART or more; continues at the decoder's cursor.
 * `mop` gets the result.
 */
enum rig_rc rig_record_get_list(struct rig_record_decoder *decoder, uint32_t key, enum rig_outcome outcome,
                                uint64_t code, struct rig_txn_op *mop);

/*
 * The annotations of a completion: its error text and its side columns (docs/history-format.md), decoded at the
 * decoder's cursor into its segment. Private to the record's readers.
 *
 * RIG_E_INPUT for a malformed record, RIG_E_LIMIT when memory runs out. Time: linear in the bytes read, and one step
 * for each column that a client's last transaction sets.
 */

/* The error's number in the segment, from 1. */
enum rig_rc rig_record_get_error(struct rig_record_decoder *decoder, uint32_t *id);
/* The side columns of the segment's next transaction, that of the slot. */
enum rig_rc rig_record_get_columns(struct rig_record_decoder *decoder, const struct rig_record_slot *slot);

#endif
