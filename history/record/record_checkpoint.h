/*
 * A checkpoint of the binary record: what the events of its block refer to. Private to the record's readers.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CHECKPOINT_H
#define RIG_HISTORY_RECORD_RECORD_CHECKPOINT_H

#include "history/record/record_decoder.h"

/*
 * Decodes the checkpoint at the decoder's cursor, behind its frame's number. The decoder is then as if it had decoded
 * all blocks before. The segment's keys were settled.
 */
enum rig_rc rig_record_decode_checkpoint(struct rig_record_decoder *decoder);

#endif
