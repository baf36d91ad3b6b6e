/*
 * The structure of a window. Private to the files that implement history/model/window.h.
 *
 * Keys, branches, texts and errors have the window's own dense numbers. A key's spine is its longest list that a
 * transaction read which did not fail; a list that leaves it is a branch, kept as its difference.
 */
#ifndef RIG_HISTORY_MODEL_WINDOW_PRIVATE_H
#define RIG_HISTORY_MODEL_WINDOW_PRIVATE_H

#include "base/table.h"
#include "history/text/text_table.h"
#include "history/types/types.h"
#include "history/model/window.h"

#define RIG_WINDOW_NONE UINT32_MAX

struct rig_window_key {
    struct rig_growing_list spine;
    uint64_t used_at;     /* see rig_window_key_used_at() */
    uint64_t first_at;    /* the same for its first use */
    uint64_t use_count;   /* operations since then */
    uint32_t last_branch; /* the newest branch of this key, or RIG_WINDOW_NONE */
    bool is_open;         /* an open transaction names it */
    bool had_row;         /* see struct rig_history */
};

/* The place of a segment's list in the window: reads of at most `agreed` elements are on the key's spine, longer ones
 * on `branch`. */
struct rig_list_place {
    uint32_t key;
    uint32_t agreed;
    uint32_t branch; /* RIG_WINDOW_NONE: every read of it is a prefix of the spine */
};

RIG_VEC(int64_t, rig_window_int64s)
RIG_VEC(uint32_t, rig_window_uint32s)
RIG_VEC(uint8_t, rig_window_flags)
RIG_VEC(uint64_t, rig_window_uint64s)
RIG_VEC(struct rig_window_key, rig_window_keys)
RIG_VEC(struct rig_list_place, rig_list_places)
RIG_VEC(struct rig_list, rig_spine_views)
RIG_VEC(struct rig_branch, rig_branch_views)
RIG_VEC(struct rig_key_use, rig_window_uses)

/* An open transaction, and how many were ok before it was invoked. */
struct rig_open_mark {
    uint64_t ok_count;
    uint32_t invoke_at;
};

RIG_VEC(struct rig_open_mark, rig_open_marks)

struct rig_window {
    enum rig_workload workload;
    const struct rig_data_type *type; /* of the workload */
    size_t limit_bytes;
    struct rig_txn_vec txns; /* complete ones, by completion; room for one more */
    struct rig_txn_op_vec ops;
    struct rig_txn_vec open; /* those of the segment that came last, by invocation */
    struct rig_txn_op_vec open_ops;
    struct rig_table key_ids;       /* key, or number of its text -> key id */
    struct rig_window_int64s names; /* per key: itself, or the number of its text */
    struct rig_window_keys keys;    /* parallel to names */
    struct rig_growing_branches branches;
    struct rig_window_uses uses;  /* parallel to keys; of complete transactions, as is */
    struct rig_owned_ops appends; /*   these, of which rig_op_grows() */
    struct rig_columns columns;   /* parallel to txns */
    bool any_branch, any_foreign; /* see struct rig_op_summary */
    bool contradicted;            /* the segments' notes do not hold in the window: a list was placed elsewhere */
    struct rig_list_pool pool;
    struct rig_text_table key_texts;
    const struct rig_row_names *row_names;
    const struct rig_specification *specification;
    struct rig_text_table errors;
    bool keyword_keys;
    bool value_keys;
    bool unordered;
    bool in_turn;
    bool failed;
    uint64_t skipped_count, lost_count, reused_count;
    uint64_t added_count; /* transactions ever added */
    uint64_t with_invocation;
    uint64_t ok_count;                      /* transactions ever added that were ok */
    struct rig_open_marks marks, new_marks; /* of `open`, by invocation; and room for the next ones */
    struct rig_window_uint32s ok_before;    /* per transaction of a segment: how many before it were ok */
    uint32_t last_position;                 /* of a completion; RIG_POSITION_NONE at first */
    /* Scratch memory, kept from call to call. */
    struct rig_window_uint32s new_keys;   /* per key of a segment: the window's */
    struct rig_list_places key_places;    /* per key of a segment: the place of its spine */
    struct rig_list_places branch_places; /* per branch of a segment */
    struct rig_window_uint32s good;       /* per branch: elements that transactions read which did not fail */
    struct rig_window_uint32s odd;        /* reads of a segment that may show no prefix of a spine */
    struct rig_window_uint32s error_of;   /* per error of a segment */
    struct rig_window_uint64s order;
    struct rig_window_uint32s key_map, branch_map; /* of a release: old number -> new one */
    struct rig_spine_views spine_views;
    struct rig_branch_views branch_views;
    struct rig_window_flags had_rows; /* per key, once one had a row */
    bool any_had_row;
    struct rig_segment_note own_note; /* of a segment that has none */
    struct rig_history view;
    struct rig_op_summary summary;
};

/* Whether a sequence was read and is known. */
static inline bool rig_txn_op_reads_list(const struct rig_txn_op *mop)
{
    return rig_op_reads_sequence(mop->kind) & (mop->read_state == RIG_READ_SEEN);
}

/* Adds the note of a segment to the window's summary. Its keys have their places; its transactions follow those in the
 * window. */
void rig_window_take_note(struct rig_window *window, const struct rig_segment *segment,
                          const struct rig_segment_note *note);
/* Makes the summary anew from all operations, after their numbers have changed. Needs no further memory. */
void rig_window_recount(struct rig_window *window);

/* Sets RIG_COLUMN_MEANWHILE of the segment's transactions, which follow those of the window. False when memory runs
 * out. */
bool rig_window_count_meanwhile(struct rig_window *window, const struct rig_segment *segment);
/* After the segment was added and its open transactions taken: notes what counting for these needs. */
bool rig_window_mark_open(struct rig_window *window, const struct rig_segment *segment);

/* RIG_E_LIMIT; the window has failed. */
enum rig_rc rig_window_no_room(struct rig_window *window, struct rig_err *err);

/* RIG_E_INPUT unless all transactions have an invocation, or none. */
enum rig_rc rig_window_check_invocations(const struct rig_window *window, struct rig_err *err);
/* The dense id of a key or of the number of its text, new or known; RIG_WINDOW_NONE when memory runs out. */
uint32_t rig_window_key_id(struct rig_window *window, int64_t name);
/* The number of a key's text. RIG_E_INPUT where keys are numbers. */
enum rig_rc rig_window_text_key(struct rig_window *window, const char *text, size_t length, int64_t *name,
                                struct rig_err *err);
/*
 * Finds a place for a list of place->key, whose first `known` elements are those of the key's spine. If it continues
 * the spine, its first `good` elements, which transactions read that did not fail, join the spine. Elements that only a
 * failed one read would keep later lists from being prefixes. False when memory runs out.
 */
bool rig_window_place_list(struct rig_window *window, const struct rig_read_list *list, uint32_t known, uint32_t good,
                           struct rig_list_place *place);

#endif
