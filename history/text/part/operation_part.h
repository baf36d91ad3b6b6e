/*
 * One part of a file of operations while it is read into a segment: keys, lists and processes, numbered within the
 * part.
 *
 * Parts are read in parallel, so a part knows nothing of earlier ones: a process may begin with a completion, whose
 * invocation is found when the parts are joined (history/text/part/operation_join.h). A broken rule only sets
 * `refused`; history/text/operation_reader.h then words the error.
 *
 * A completion is mostly only compared as text with its invocation, and not parsed.
 *
 * A list read is compared as text with the longest list of its key (history/text/scan/list_text.h); a list that differs
 * in more than its length is parsed, and compared as numbers. If a failed transaction is the first to read elements,
 * they join the spine for the time being. They become a branch if a read contradicts them, or if no transaction that
 * did not fail reads them, too. An operation can be undone until it is complete: the fast path gives up at anything
 * unusual, and the grammar reads the operation again.
 *
 * Space: that of the segment, 4 bytes an invocation, 230 a process, 48 a key, and the longest operation's, up to a
 * limit that vectors may pass once, by doubling. Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_OPERATION_PART_H
#define RIG_HISTORY_TEXT_PART_OPERATION_PART_H

#include "base/table.h"
#include "history/model/segment.h"
#include "history/text/operation_parser.h"
#include "history/text/operation_reader.h"
#include "history/text/scan/text_lanes.h"
#include "history/text/text_table.h"

enum {
    RIG_PART_SHORT_OPS = 8, /* operations of an invocation that fit into the process */
    RIG_PART_PIECES = 16,   /* operations of a completion that are compared as text */
    RIG_PART_FEW = 1024     /* up to this many items are added without a check of the memory */
};

/*
 * The process with name n of the part, after all numbers of 32 bits. In the 32 bits of a transaction it is INT32_MIN +
 * n until the parts are joined.
 */
#define RIG_PART_NAMED_PROCESS ((int64_t)INT32_MAX + 1)

/* For functions that a parser calls for each operation, inlined into its copy for each instruction set. */
#define RIG_PART_INLINE __attribute__((always_inline, unused)) static inline

/* The first operation of a process in the part. */
enum rig_part_first {
    RIG_FIRST_NOTHING,
    RIG_FIRST_INVOKED,
    RIG_FIRST_COMPLETED,
    RIG_FIRST_PERHAPS_COMPLETED,
    RIG_FIRST_INVOKED_AGAIN, /* not the first one: an earlier entry of the process has that */
};

struct rig_part_process {
    int64_t process;
    int64_t invoke_ns;
    uint32_t invoke_at;
    const char *text, *text_end; /* the invocation's text in the file; NULL: these operations: */
    uint32_t op_count;
    uint32_t long_ops;   /* where its operations start in `long_ops`, when there are more than fit here */
    uint32_t first_txn;  /* RIG_FIRST_COMPLETED: this transaction; RIG_FIRST_PERHAPS_COMPLETED: this one of `perhaps` */
    uint32_t invocation; /* its last one, among those of the part */
    uint8_t first;       /* enum rig_part_first */
    bool open;
    bool abandoned;     /* the process invoked again meanwhile, which has an entry of its own */
    bool is_parsed;     /* `text` is parsed: the members below have its content */
    uint8_t read_count; /* number of its reads */
    struct rig_lane_read
        reads[RIG_PART_SHORT_OPS + 1]; /* its reads, from `text` on, and one slot that branch-free code may overwrite */
    struct rig_txn_op short_ops[RIG_PART_SHORT_OPS]; /* the operations */
};

/* A completion without operations: it completes the invocation of its process in an earlier part, if that is open. */
struct rig_part_perhaps {
    bool holds_value; /* one that is no transaction */
    bool repeats;     /* an ok one: its operations are those invoked */
    uint32_t place;   /* it goes before this transaction */
    struct rig_txn txn;
    struct rig_column_row columns;
};

/* The text of a completion's micro-operation, from the separator before it up to its result. */
struct rig_part_piece {
    const char *at;
    uint32_t length;
    bool reads;
};

/* The text of a key's longest list in the file, without brackets. */
struct rig_part_spine {
    const char *text;
    size_t length;
    uint32_t count;   /* its elements; the spine's own list may have more */
    uint32_t certain; /* elements that transactions read which did not fail */
    uint32_t doubt;   /* the newest one of this key, or RIG_TABLE_NONE */
    uint32_t branch;  /* the newest branch of this key, or RIG_TABLE_NONE */
};

/* A failed transaction read more elements than were certain then. */
struct rig_part_doubt {
    uint32_t op;     /* of the segment */
    uint32_t before; /* the key's doubt before this one */
};

/* The state of a key before the current operation. */
struct rig_part_change {
    uint32_t key, count; /* elements of its spine */
    struct rig_part_spine spine;
};

RIG_VEC(struct rig_part_process, rig_part_processes)
RIG_VEC(struct rig_part_perhaps, rig_part_perhaps_vec)
RIG_VEC(uint32_t, rig_part_invoked)
RIG_VEC(struct rig_part_spine, rig_part_spines)
RIG_VEC(struct rig_part_change, rig_part_changes)
RIG_VEC(struct rig_part_doubt, rig_part_doubts)

struct rig_part {
    struct rig_segment *segment;
    struct rig_operation_facts facts;
    const struct rig_data_type *type; /* of facts.workload */
    struct rig_op_names names[2];     /* its: in JSON, in EDN */
    const char *end;                  /* of the file */
    uint8_t index_width, time_width;  /* digits of the last ones */
    /* The end of the last line with an error, from its transaction to its line feed; length 0: none. */
    const char *last_end;
    uint32_t last_end_length, last_error;

    bool is_again;    /* only the grammar reads it */
    size_t end_at;    /* operations that begin before it belong to the part */
    size_t first_at;  /* where the first operation that was read begins */
    size_t behind_at; /* where the first operation begins that was not read */
    bool refused;     /* there is a fault */
    bool no_memory;
    size_t limit_bytes; /* of the part with its segment; 0: none */

    uint32_t count; /* operations */
    int64_t first_index, last_index;
    unsigned key_kinds; /* bits: 1 << enum rig_key_kind */

    struct rig_part_processes processes;
    struct rig_text_table process_names; /* numbered within the part: see RIG_PART_NAMED_PROCESS */
    bool has_negative_process;
    uint32_t *process_of_small; /* process number -> candidate for its place in `processes` */
    struct rig_table process_of;
    struct rig_part_invoked invoked;   /* the place in `processes` of each invocation */
    struct rig_part_invoked abandoned; /* those of the segment's open transactions that are, in ascending order */
    struct rig_txn_op_vec long_ops;
    struct rig_part_perhaps_vec perhaps;

    struct rig_lane_slots slots;   /* of its keys: history/text/part/part_keys.h */
    struct rig_part_spines spines; /* parallel to the segment's keys */
    struct rig_part_doubts doubts;

    /* State of the current operation, for undoing it. */
    uint32_t keys_before, branches_before, doubts_before;
    struct rig_part_changes changes;
    bool grows;    /* it made more of a spine certain */
    bool has_null; /* a read has null for a result */
    struct rig_column_fields columns;
    struct rig_column_values spans; /* numbers of the column of spans that is being read */
    uint32_t piece_count;           /* RIG_TABLE_NONE: not read by the fast path */
    struct rig_part_piece pieces[RIG_PART_PIECES];
    struct rig_element_vec elements; /* of the list that is being read */

    struct rig_operation_parser parser;
    struct rig_operation_parser text_parser; /* of what was invoked */
};

/* NULL when memory runs out. */
struct rig_part *rig_part_new(void);
void rig_part_free(void *part);
/* Empties part and segment. */
void rig_part_start(struct rig_part *part, struct rig_segment *segment, const struct rig_operation_facts *facts,
                    const char *end, size_t limit_bytes);
/* Whether the memory of the part and its segment is within the limit. */
bool rig_part_fits(const struct rig_part *part);
/* The same, before a vector of `count` items doubles; few items always may. */
bool rig_part_may_grow(const struct rig_part *part, size_t count);

/* Room for one more operation after those of the segment and `count` others; NULL when memory runs out. */
RIG_PART_INLINE struct rig_txn_op *rig_part_room(struct rig_part *part, uint32_t count)
{
    struct rig_txn_op_vec *ops = &part->segment->ops;
    if (ops->count + count >= ops->capacity &&
        (!rig_part_may_grow(part, ops->capacity) || !rig_txn_op_vec_reserve(ops, ops->count + count + 1)))
        return NULL;
    return ops->at + ops->count + count;
}

/* Room for `count` operations after those of the segment; NULL when memory runs out. */
RIG_PART_INLINE struct rig_txn_op *rig_part_room_for(struct rig_part *part, uint32_t count)
{
    return rig_part_room(part, count) == NULL ? NULL : part->segment->ops.at + part->segment->ops.count;
}

/* Called before each operation. */
RIG_PART_INLINE void rig_part_begin(struct rig_part *part)
{
    part->keys_before = (uint32_t)part->segment->keys.count;
    part->branches_before = (uint32_t)part->segment->branches.count;
    part->doubts_before = (uint32_t)part->doubts.count;
    part->changes.count = 0;
    part->grows = false;
    part->has_null = false;
    part->columns.given = 0;
    part->piece_count = RIG_TABLE_NONE;
}
/* Undoes everything since rig_part_begin(). */
void rig_part_take_back(struct rig_part *part);
/* Called after the part was read: its open transactions go into the segment. */
void rig_part_finish(struct rig_part *part);

#endif
