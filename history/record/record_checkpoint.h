/*
 * A checkpoint of the binary record: the state that the events of its block refer to. Private to the record's readers.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CHECKPOINT_H
#define RIG_HISTORY_RECORD_RECORD_CHECKPOINT_H

#include "history/record/record_decoder.h"

/*
 * Decodes the checkpoint at the decoder's cursor, after its frame's number. Afterwards the decoder is in the state
 * after all earlier blocks. The spines of the segment's keys must have been written.
 */
enum rig_rc rig_record_decode_checkpoint(struct rig_record_decoder *decoder);

#endif
