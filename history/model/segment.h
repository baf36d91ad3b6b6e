/*
 * A stretch of a history, the result of one parse: transactions in completion order, with numbers of this stretch.
 *
 * Readers of formats fill segments, each from the bytes of an independent part; a window (history/model/window.h) joins
 * them to a history, in the order of the file. Segments are reused: rig_segment_reset() keeps their memory, so that a
 * long history is read through a few buffers that stay in the cache.
 *
 *  - Keys are numbered from 0 in the order of their first use here. Two numbers may stand for one key: when a reader's
 *    spine of a key becomes another list, the key gets a new number.
 *  - A list read refers to a prefix of its key's spine, or of a branch (list is RIG_LIST_BRANCH | n). A spine is
 *    complete: it holds the elements from the first one on, also those that earlier stretches had. Elements that only
 *    failed transactions read are not part of it: later lists, which lack them, would not be prefixes.
 *  - Positions and times are those of the history. Errors are numbered from 1 in `errors`.
 *  - `open` are the transactions that are invoked and not complete at the end of the stretch: all of them, whenever
 *    they were invoked, in the order of their invocations. They have no results.
 *
 * Space: 40 bytes a transaction, 16 an operation, 8 an append and an element. Threads: one at a time.
 */
#ifndef RIG_HISTORY_MODEL_SEGMENT_H
#define RIG_HISTORY_MODEL_SEGMENT_H

#include "base/vec.h"
#include "history/model/columns.h"
#include "history/model/fault_event.h"
#include "history/model/growing_list.h"
#include "history/model/history.h"
#include "history/model/window_view.h"

struct rig_segment;

/*
 * A summary of a segment's operations. The thread that parses the segment makes it, while the operations are in its
 * cache, for the window and for the inference.
 *
 * Space: 40 bytes a key; 8 an operation that writes, where reads are sequences; 4 an operation that reads a branch.
 * Time: linear. Threads: one at a time.
 */

/* A key's operations in complete transactions. */
struct rig_key_note {
    uint64_t
        longest_read; /* as in struct rig_key_use: longest << 32 | ~longest_txn, so that the first of equals wins */
    int64_t lowest, highest;    /* as in struct rig_key_use */
    uint32_t appends;           /* operations that write, where reads are sequences */
    uint32_t op_count;          /* number of operations */
    uint32_t first_op, last_op; /* the first and last operation, if there are any */
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

struct rig_segment_key {
    int64_t key;      /* of a numbered key */
    const char *text; /* of a key that is a text: borrowed from the bytes that were parsed; else NULL */
    uint32_t text_length;
    struct rig_growing_list spine; /* out of the segment's pool */
    bool had_row;                  /* its lists begin after elements that were cut off: see struct rig_history */
};

struct rig_segment_error {
    const char *text; /* borrowed from the bytes that were parsed, or from `texts` */
    uint32_t length;
};

RIG_VEC(struct rig_txn, rig_txn_vec)
RIG_VEC(struct rig_txn_op, rig_txn_op_vec)
RIG_VEC(struct rig_segment_key, rig_segment_keys)
RIG_VEC(struct rig_segment_error, rig_segment_errors)

/* A line of a certificate (history/text/certificate_text.h). */
struct rig_segment_line {
    const char *text; /* in the segment's texts */
    size_t length;
};
RIG_VEC(struct rig_segment_line, rig_segment_lines)

struct rig_segment {
    struct rig_txn_vec txns; /* first_op counts in `ops`; a transaction's end is the next one's first_op, the last's is
                                ops.count */
    struct rig_txn_op_vec ops;
    struct rig_segment_keys keys;
    struct rig_growing_branches branches; /* out of the pool */
    struct rig_segment_errors errors;
    struct rig_columns columns; /* parallel to txns */
    struct rig_txn_vec open;    /* first_op counts in `open_ops` */
    struct rig_txn_op_vec open_ops;
    size_t limit_bytes;
    struct rig_list_pool pool;
    struct rig_arena texts;            /* for texts that had escapes */
    struct rig_fault_event_vec faults; /* events of a nemesis; texts in `texts` */
    struct rig_segment_lines certificate;
    struct rig_segment_note note; /* code that changes the segment makes it anew, or clears `made` */
    uint64_t skipped_count;       /* operations of nemeses and others, left out of this stretch */
    uint64_t lost_count;          /* operations left out that may have read or written */
    uint64_t reused_count;        /* invocations of processes with an open transaction, which then stays open */
    bool owned;                   /* rig_txn_op.owner is set in all operations, and gaps between owners are small */
    bool keyword_keys;            /* key texts are EDN keywords */
    bool value_keys;              /* key texts are values (history/model/value_texts.h) */
    bool in_turn;                 /* see struct rig_history */
    bool unordered; /* events are not in the order of their times: see rig_window_give(); their positions are
                          their numbers in the file, from 0 on and without gaps */
    /* Data that the form's reader keeps with the segment, from parse to join and across reuse; a reset does not touch
     * it. */
    void *reader_part;
    void (*reader_part_free)(void *part); /* called by rig_segment_done() where it is set */
};

/* `limit_bytes` bounds the lists; 0: no limit. */
void rig_segment_init(struct rig_segment *segment, size_t limit_bytes);
/* Frees; the segment is empty and usable after another init. */
void rig_segment_done(struct rig_segment *segment);
/* Empties it and keeps its memory. */
void rig_segment_reset(struct rig_segment *segment);
size_t rig_segment_bytes(const struct rig_segment *segment);
/* The filled part of them, with its note, and with the spines that a reader keeps as well: a function of its content
 * only. */
size_t rig_segment_used_bytes(const struct rig_segment *segment);

#endif
