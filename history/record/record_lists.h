/*
 * List reads of the binary record: from codes that refer to the file's spines to references into a segment. Private to
 * the record's readers.
 *
 * A read that is a prefix of its key's spine becomes that reference and copies nothing. One that parts from the spine
 * becomes a branch, or a longer one of the same key's that it goes on from.
 *
 * Time: linear in the elements that the file states.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_LISTS_H
#define RIG_HISTORY_RECORD_RECORD_LISTS_H

#include "history/record/record_decoder.h"

/* What spines of version 2 have room for behind their elements, mostly: so many are read without a further look. */
enum { RIG_FEW_ELEMENTS = 4 };

/*
 * A list that has `shared` elements of the key's spine in the segment, and others behind them: the same as the key's
 * newest branch as far as both go, or a new one. False when memory runs out.
 */
bool rig_record_place_branch(struct rig_record_decoder *decoder, struct rig_record_key *key, uint32_t shared,
                             const int64_t *tail, uint32_t tail_count, struct rig_txn_op *mop);
/*
 * A read with a code of RIG_READ_CODE_APART or more, of the decoder's key with that number; goes on at the decoder's
 * cursor. `mop` becomes its result.
 */
enum rig_rc rig_record_get_list(struct rig_record_decoder *decoder, uint32_t key, enum rig_outcome outcome,
                                uint64_t code, struct rig_txn_op *mop);

#endif
