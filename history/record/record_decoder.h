/*
 * The state that the events of a binary record refer to, and the segment that they are decoded into. Private to the
 * record's readers.
 *
 * A decoder reads frames in the order of the file (record_events.h); between two frames it can go on with another
 * segment. In format version 2 it restarts at each checkpoint (record_file.h) and needs nothing from before it.
 *
 * Keys are numbered by the file in the order of their definition. Each has the spine that the file's reads refer to; a
 * segment gets a copy of it when the segment ends or the spine becomes another list; reads before then name it by the
 * key's number in the segment. Elements that only failed transactions read are not part of a history's spines, but are
 * part of those in a file of version 1: `good` says how far others read a spine.
 *
 * Space: 64 bytes a key, 8 an element of a spine, 64 bytes a client and 16 an operation of an open transaction. A byte
 * of a file can become a thousand in memory, more if it is packed: large amounts are checked (rig_record_may_take())
 * before allocation; small ones, which grow with the decoded bytes, every RIG_RECORD_STEP_BYTES. Threads: one at a
 * time.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_DECODER_H
#define RIG_HISTORY_RECORD_RECORD_DECODER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/model/growing_list.h"
#include "history/model/history.h"
#include "history/model/segment.h"
#include "history/record/record_columns.h"
#include "history/record/record_cursor.h"
#include "history/record/record_frame.h"
#include "history/types/types.h"

/*
 * Values that are not integers in the binary record: the header has the text of each (docs/history-format.md), and
 * events have its number (history/model/value_texts.h).
 */

RIG_VEC(int64_t, rig_value_numbers)

/* Adds the numbers of all such values of the history, each once. Time: linear. False when memory runs out. */
bool rig_record_texts_find(const struct rig_history *history, struct rig_value_numbers *numbers);

void rig_record_texts_put(struct rig_buf *header, const struct rig_value_numbers *numbers);

/* A cache line. */
struct rig_record_key {
    struct rig_growing_list spine;
    int64_t last_value;
    union {
        int64_t key;
        const char *text; /* of a key that is a text; in the decoder's `texts` */
    };
    uint32_t text_length;
    uint32_t good;      /* elements of the spine that transactions read which did not fail */
    uint32_t stamp;     /* the segment to which `local` belongs */
    uint32_t local;     /* the key's number in the segment */
    uint32_t branch_of; /* the segment to which `branch` belongs */
    uint32_t branch;    /* the key's newest branch in the segment */
    bool forgotten;
};

RIG_VEC(struct rig_record_key, rig_record_key_vec)

RIG_VEC(uint32_t, rig_record_id_vec)

RIG_VEC(int64_t, rig_record_element_vec)

struct rig_record_text {
    const char *at; /* in the decoder's `texts` */
    uint32_t length;
    uint32_t stamp; /* the segment to which `id` belongs */
    uint32_t id;
};

RIG_VEC(struct rig_record_text, rig_record_text_vec)

/* A client's open transaction, or the rest of its last one. */
struct rig_record_slot {
    int64_t process;
    int64_t invoke_ns;
    int64_t last_ns;        /* of the client's last event */
    struct rig_txn_op *ops; /* with the keys of the segment of `stamp` */
    uint32_t *keys;         /* the decoder's, one an operation; in the same memory */
    uint64_t reads;         /* which of the first 64 operations read, one bit each */
    uint32_t op_count;
    uint32_t op_capacity;
    uint32_t stamp;
    uint32_t client;
    uint32_t invoke_at;
    bool open;
    bool has_process;
};

RIG_VEC(struct rig_record_slot, rig_record_slot_vec)

RIG_VEC(uint64_t, rig_record_order_vec)

struct rig_record_decoder {
    const struct rig_record_shape *shape;
    const uint8_t *base; /* errors name offsets: bytes after `base`, which is at `base_at` in the file */
    size_t base_at;
    struct rig_record_cursor cursor;
    struct rig_segment *segment;
    uint32_t stamp; /* of the segment, and of the block in it; from 1 */

    struct rig_record_key_vec keys;
    struct rig_list_pool pool;             /* the spines */
    struct rig_arena texts;                /* of keys and errors */
    struct rig_record_id_vec local_keys;   /* segment's key number -> key, or RIG_TABLE_NONE: its spine is written */
    struct rig_record_element_vec scratch; /* a list while it is decoded */
    struct rig_record_text_vec errors;
    struct rig_columns_decoder columns;

    struct rig_record_id_vec direct_slots; /* client -> slot + 1, for small clients */
    struct rig_table slot_of_client;       /* for the others */
    struct rig_record_slot_vec slots;
    struct rig_record_slot_vec abandoned; /* open forever: their clients have invoked again */
    struct rig_record_slot lone;
    size_t last_slot; /* of the last event's client; SIZE_MAX: of none in this block */
    struct rig_record_order_vec order;

    size_t op_bytes;       /* of the slots' operations */
    size_t unpacked_bytes; /* what a packed frame was unpacked to; the run's */
    uint64_t event_count;
    uint64_t txn_count; /* complete ones */
    uint32_t next_position;
    int64_t last_time;
    bool last_was_completion;
    bool has_lone;
    struct rig_err *err;
};

/* Enters the texts at the cursor into the table of the process, which may take `limit_bytes` (0: no limit) in all. */
enum rig_rc rig_record_texts_read(struct rig_record_decoder *decoder, size_t limit_bytes);

/* Facts from the header, and the file's name for errors. */
struct rig_record_shape {
    const char *name;
    unsigned version;
    enum rig_workload workload;
    const struct rig_data_type *type; /* of the workload */
    unsigned flags;
    struct rig_record_columns columns;
    size_t limit_bytes;         /* for a decoder, its segment and its unpacked bytes */
    size_t segment_limit_bytes; /* for a segment */
};

enum {
    RIG_RECORD_STEP_BYTES = 64 << 10, /* bytes of events between two checks of the memory */
    RIG_RECORD_FEW = 64,              /* up to this many elements or operations need no check */
};

enum { RIG_SLOT_OPS = 8 }; /* room for this many is always reserved, in a slot and after a segment's operations */

void rig_record_decoder_init(struct rig_record_decoder *decoder, const struct rig_record_shape *shape);
void rig_record_decoder_done(struct rig_record_decoder *decoder);
/* Forgets all keys, errors and clients; keeps the counts. */
void rig_record_decoder_restart(struct rig_record_decoder *decoder);

/* Later events go into `segment`, which is empty. */
void rig_record_decoder_begin(struct rig_record_decoder *decoder, struct rig_segment *segment);
/* Completes the segment: spines and open transactions. */
enum rig_rc rig_record_decoder_end(struct rig_record_decoder *decoder);
/* The text at the cursor: its length, then its bytes. Borrowed from the frame, without a NUL at its end. */
enum rig_rc rig_record_get_text(struct rig_record_decoder *decoder, const char **text, uint32_t *length);
/* The key defined at the cursor becomes the decoder's last one. */
enum rig_rc rig_record_define_key(struct rig_record_decoder *decoder);
/* Writes the spines of the segment's keys, which get new numbers when they are used again. */
enum rig_rc rig_record_settle_keys(struct rig_record_decoder *decoder);
/* The same for one of them, before its spine becomes another. */
bool rig_record_settle_key(struct rig_record_decoder *decoder, struct rig_record_key *key);
/* Gives the key its number in the segment. False when memory runs out. */
bool rig_record_use_key(struct rig_record_decoder *decoder, struct rig_record_key *key);

/* The slot of a client that the fast table does not have; NULL when memory runs out. */
struct rig_record_slot *rig_record_find_slot(struct rig_record_decoder *decoder, uint32_t client);
/* Room for operations in the slot; its current ones are lost. False when memory runs out. */
bool rig_record_slot_reserve(struct rig_record_decoder *decoder, struct rig_record_slot *slot, uint64_t op_count);
/* Room for `count` operations in the segment. False when memory or the limit is spent. */
bool rig_record_reserve_ops(struct rig_record_decoder *decoder, size_t op_count);
/* Whether this many more bytes fit the limits. */
bool rig_record_may_take(const struct rig_record_decoder *decoder, uint64_t more_bytes);
/* Gives the slot's operations the segment's keys, by the decoder's. False when memory runs out. */
bool rig_record_slot_localize(struct rig_record_decoder *decoder, struct rig_record_slot *slot);
/* The slot's open transaction never completes: moves it to those that stay open. False when memory runs out. */
bool rig_record_abandon(struct rig_record_decoder *decoder, struct rig_record_slot *slot);

/* A digest of the open transactions: clients, operations and times. */
uint64_t rig_record_open_digest(const struct rig_record_decoder *decoder);

/* The cursor's offset in the file. */
size_t rig_record_offset(const struct rig_record_decoder *decoder);
/* RIG_E_INPUT: the bytes before the cursor are wrong, although their checksum is right. */
enum rig_rc rig_record_damaged(struct rig_record_decoder *decoder, const char *what);
/* The same for a cursor that found no number. */
enum rig_rc rig_record_no_number(struct rig_record_decoder *decoder);
enum rig_rc rig_record_no_memory(struct rig_record_decoder *decoder);

#endif
