/*
 * A summary of a segment's operations. The thread that parses the segment makes it, while the operations are in its
 * cache, for the window and for the inference.
 *
 * Space: 40 bytes a key; 8 an operation that writes, where reads are sequences; 4 an operation that reads a branch.
 * Time: linear. Threads: one at a time.
 */
#ifndef RIG_HISTORY_MODEL_SEGMENT_NOTE_H
#define RIG_HISTORY_MODEL_SEGMENT_NOTE_H

#include "base/vec.h"
#include "history/model/window_view.h"

struct rig_segment;

/* A key's operations in complete transactions. */
struct rig_key_note {
    uint64_t
        longest_read; /* as in struct rig_key_use: longest << 32 | ~longest_txn, so that the first of equals wins */
    int64_t lowest, highest;    /* likewise */
    uint32_t appends;           /* operations that write, where reads are sequences */
    uint32_t op_count;          /* number of operations, and */
    uint32_t first_op, last_op; /* the first and last, if there are any */
};

RIG_VEC(struct rig_key_note, rig_key_notes)
RIG_VEC(struct rig_owned_op, rig_owned_ops)
RIG_VEC(uint32_t, rig_note_ops)

/* Zeroed, it is empty. */
struct rig_segment_note {
    bool made;                        /* the rest agrees with the segment */
    struct rig_key_notes keys;        /* one a key of the segment */
    struct rig_owned_ops appends;     /* all of them, in order */
    struct rig_note_ops branch_reads; /* operations that read a branch, in order */
    uint32_t kinds;                   /* kinds of all operations, a bit each */
};

/* False when memory runs out. */
bool rig_segment_note_make(struct rig_segment_note *note, const struct rig_segment *segment);
/* The segment has further keys, which no operation of a complete transaction uses. */
void rig_segment_note_add_keys(struct rig_segment_note *note, const struct rig_segment *segment);
void rig_segment_note_done(struct rig_segment_note *note);
size_t rig_segment_note_bytes(const struct rig_segment_note *note);

#endif
