/*
 * The names of a data type's operations in JSON lines and EDN, prepared for comparison: eight bytes at a time, or in
 * lanes.
 */
#ifndef RIG_HISTORY_TEXT_SCAN_OP_NAMES_H
#define RIG_HISTORY_TEXT_SCAN_OP_NAMES_H

#include "history/text/scan/text_lanes.h"
#include "history/types/types.h"

/* The text of a micro-operation from behind its bracket up to its key. */
struct rig_op_name {
    uint64_t word;  /* the first eight bytes */
    uint32_t blind; /* number of its last bits that are ignored */
    uint32_t length;
};

struct rig_op_names {
    struct rig_op_name at[2]; /* of what writes, and of what reads */
    struct rig_lane_syntax lanes;
};

void rig_op_names_init(struct rig_op_names *names, const struct rig_data_type *type, bool is_edn);

#endif
