/*
 * The encoder's state. Private to its events (record_encoder.c) and its blocks (encoder_blocks.c).
 */
#ifndef RIG_HISTORY_RECORD_RECORD_ENCODER_PRIVATE_H
#define RIG_HISTORY_RECORD_RECORD_ENCODER_PRIVATE_H

#include "history/record/encoder_blocks.h"
#include "history/record/packing.h"
#include "history/record/record_columns.h"
#include "history/record/record_encoder.h"
#include "history/text/text_table.h"

struct rig_open_op {
    int64_t value; /* of a write */
    uint32_t entry;
    bool reads;
};

RIG_VEC(struct rig_open_op, rig_open_op_vec)

/* A client's open transaction, or one that stays open forever. */
struct rig_open_txn {
    struct rig_open_op_vec ops;
    int64_t process;
    int64_t time_ns; /* of the invocation */
    uint32_t position;
    uint32_t client;
};

struct rig_encoder_client {
    struct rig_open_txn txn;
    uint64_t block; /* the one in which its process was told; 0: none */
    bool open;
};

struct rig_block_entry {
    uint64_t offset; /* of the checkpoint in the file */
    uint64_t events; /* before it */
    uint64_t txns;
};

RIG_VEC(struct rig_encoder_client, rig_encoder_client_vec)
RIG_VEC(struct rig_open_txn, rig_open_txn_vec)
RIG_VEC(struct rig_block_entry, rig_block_entry_vec)

struct rig_record_encoder {
    struct rig_record_head head;
    struct rig_buf frame;  /* being filled: a checkpoint, if one is due, room for the next frame's head, its payload */
    size_t frame_start;    /* of the frame of events in it */
    struct rig_buf sealed; /* given out last */
    struct rig_encoder_keys keys;
    struct rig_text_table errors; /* of this block */
    struct rig_columns_encoder columns;
    struct rig_encoder_client_vec clients;
    struct rig_open_txn_vec abandoned;
    struct rig_open_op_vec lone_ops;
    struct rig_encoder_id_vec kept; /* for choosing */

    struct rig_block_entry_vec blocks;
    uint64_t block_number;    /* from 1 */
    uint64_t block_starts_at; /* in the file */
    uint64_t large_from;      /* bytes of the block from which a large state ends it */
    uint64_t block_judged_at; /* bytes of the block at which its end is considered (again) */
    bool block_due;           /* the next event starts one */

    uint64_t event_count;
    uint64_t txn_count;
    uint64_t frame_count;
    uint64_t file_bytes; /* of what was given out */
    int64_t last_time;
    uint32_t next_position;
    uint32_t last_client;      /* of the last event in the block, or RIG_TABLE_NONE */
    struct rig_packer *packer; /* with RIG_RECORD_PACKED */
    bool failed;
};

/* Completes the frame that begins at `start`; packs the bytes from `packed_from` on if packing is on. */
void rig_encoder_seal(struct rig_record_encoder *encoder, size_t start, size_t packed_from, unsigned type);
/* Writes a checkpoint before the frame of events, which is empty; `when` is the moment of the next event. */
void rig_encoder_begin_block(struct rig_record_encoder *encoder, struct rig_record_moment when);
/* After a frame, with the block's bytes so far: decides whether the block ends. */
void rig_encoder_consider_block(struct rig_record_encoder *encoder);
/* Writes the payload of the closing frame after the room for its head. */
void rig_encoder_put_close(struct rig_record_encoder *encoder, unsigned flags);
void rig_encoder_put_key_name(struct rig_record_encoder *encoder, int64_t key);

#endif
