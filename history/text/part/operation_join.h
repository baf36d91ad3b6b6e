/*
 * Joins the parts of a file in their order: completions to invocations of earlier parts, positions, open transactions.
 *
 * Space: the open transactions. Time a part: linear in its processes and in the transactions that are open; in the
 * whole part if its positions are counted, or if a transaction of it only becomes known now. Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_PART_OPERATION_JOIN_H
#define RIG_HISTORY_TEXT_PART_OPERATION_JOIN_H

#include "history/text/part/operation_part.h"
#include "history/text/text_table.h"

/* An operation of an open transaction, under its key's own name. */
struct rig_join_op {
    int64_t key;
    const char *text; /* of a text key: in the file, or in the join's memory */
    uint32_t text_length;
    uint8_t kind;
    int64_t value;
};

struct rig_join_open {
    struct rig_txn txn; /* first_op counts in the join's operations */
    uint32_t op_count;
    bool closed;
    bool abandoned; /* its process invoked again: it stays open forever */
};

RIG_VEC(struct rig_join_op, rig_join_ops)
RIG_VEC(struct rig_join_open, rig_join_opens)

struct rig_join {
    struct rig_join_opens open; /* at the end of the parts so far, in the order of invocations */
    struct rig_join_ops ops;
    struct rig_table open_of_process;
    struct rig_text_table texts;
    struct rig_text_table process_names;
    bool has_negative_process;
    uint64_t count; /* operations */
    int64_t last_index;
    unsigned key_kinds;
    bool has_texts, has_low; /* values: see struct rig_operation_parser */
    /* Exchanged with those of a segment. */
    struct rig_txn_vec txns;
    struct rig_txn_op_vec mops;
    struct rig_columns columns; /* of `txns` */
    struct rig_part_invoked
        carried; /* per open transaction of earlier parts that is still open: whether it is abandoned */
};

void rig_join_init(struct rig_join *join);
void rig_join_done(struct rig_join *join);
/* Sets part->refused if a rule is broken, part->no_memory when memory runs out. */
void rig_join_part(struct rig_join *join, struct rig_part *part);

#endif
