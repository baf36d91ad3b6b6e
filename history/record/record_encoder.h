/*
 * Encodes events into the binary record, format version 2: one encoder a file. Used by the recorder and by
 * record_writer.
 *
 * Its state is the one that a reader rebuilds: keys in order of definition with their spines and last written values,
 * error texts, and the open transaction of each client. A block ends when its events take at least `block_bytes` and 16
 * times the checkpoint that the next one would start with, or when the state grows large (and the block is four times
 * as long as its own checkpoint); the next block starts with the keys that are still in use, judged by how often they
 * were used. This bounds memory: the content of a block, or RIG_ENCODER_MAX_KEYS keys and `state_limit_bytes` of spines
 * if that is more, and the open transactions. Time: that of reading the input once.
 *
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_ENCODER_H
#define RIG_HISTORY_RECORD_RECORD_ENCODER_H

#include "base/buf.h"
#include "base/err.h"
#include "history/merge/rank_facts.h"
#include "history/model/certificate.h"
#include "history/model/columns.h"
#include "history/model/fault_event.h"
#include "history/model/transaction.h"
#include "history/record/record_frame.h"

enum { RIG_ENCODER_MAX_KEYS = 1 << 18 };

struct rig_record_encoder;
struct rig_value_numbers;

struct rig_record_head {
    enum rig_workload workload;
    unsigned flags;                          /* RIG_RECORD_...; PACKED only where rig_packing_available() */
    int64_t start_utc_ns;                    /* wall clock, since 1970; 0: unknown */
    uint64_t skipped_count;                  /* operations left out */
    const char *meta;                        /* NULL: none */
    uint32_t columns;                        /* RIG_COLUMN_BIT()s of the side columns that completions may have */
    char *const *key_texts;                  /* with RIG_RECORD_TEXT_KEYS: borrowed as long as the encoder lives */
    const struct rig_value_numbers *numbers; /* with RIG_RECORD_VALUE_TEXTS: of the values that are not integers */
    struct rig_rank rank;                    /* with RIG_RECORD_RANK */
    size_t state_limit_bytes;                /* 0: 64 MiB */
    uint32_t key_limit;                      /* 0: RIG_ENCODER_MAX_KEYS */
    size_t block_bytes; /* a block ends with the frame that makes it as large as this, whatever its checkpoint;
                                 0: 1 MiB, or more as above */
};

/* A read to encode; borrowed for the call. */
struct rig_record_read {
    enum rig_read_state state;
    uint32_t count;
    const void *elements; /* `count` int64, at any alignment */
    int64_t value;
    /* Saves comparing long lists: lists of one key with the same origin are equal in the first `origin_count`
     * elements that both have. 0: unknown. */
    uint64_t origin;
    uint32_t origin_count;
};

struct rig_record_moment {
    int64_t time_ns;   /* since the record's start; RIG_NO_TIME: none. Ascends unless RIG_RECORD_TIMES_DESCEND */
    uint32_t position; /* with RIG_RECORD_POSITIONS: ascends from event to event */
};

struct rig_record_completion {
    enum rig_outcome outcome;
    const char *error; /* NULL or error_length bytes */
    size_t error_length;
    const struct rig_record_read *reads;  /* parallel to the operations; NULL: no results */
    const struct rig_column_row *columns; /* NULL: none. Columns that the head does not have are left out */
    const char *const *names;             /* the texts of the numbers in columns of names */
    struct rig_spans spans;               /* of the column of spans, where `columns` give it a value */
};

/* NULL when memory runs out. */
struct rig_record_encoder *rig_record_encoder_new(const struct rig_record_head *head);
void rig_record_encoder_free(struct rig_record_encoder *encoder);

/* The file's start and header frame, onto an empty buffer. */
void rig_record_encoder_header(struct rig_record_encoder *encoder, struct rig_buf *file);

void rig_record_encoder_invoke(struct rig_record_encoder *encoder, uint32_t client, struct rig_record_moment when,
                               int64_t process, int64_t intended_ns, const struct rig_op *ops, uint32_t op_count);
void rig_record_encoder_complete(struct rig_record_encoder *encoder, uint32_t client, struct rig_record_moment when,
                                 const struct rig_record_completion *completion);
/* A completion without invocation. */
void rig_record_encoder_lone(struct rig_record_encoder *encoder, struct rig_record_moment when, int64_t process,
                             const struct rig_op *ops, uint32_t op_count,
                             const struct rig_record_completion *completion);

/* With RIG_RECORD_FAULTS. `when` counts in place of the event's own time and position. */
void rig_record_encoder_fault(struct rig_record_encoder *encoder, struct rig_record_moment when,
                              const struct rig_fault_event *event);

/* No later event names the key. */
void rig_record_encoder_forget(struct rig_record_encoder *encoder, int64_t key);

/* Bytes of events since the last frame. */
size_t rig_record_encoder_pending_bytes(const struct rig_record_encoder *encoder);
uint64_t rig_record_encoder_event_count(const struct rig_record_encoder *encoder);
/*
 * The events since the last frame as a frame, with a checkpoint before it where a block starts, or the closing frame;
 * valid until the next call. NULL when memory ran out.
 */
const struct rig_buf *rig_record_encoder_frame(struct rig_record_encoder *encoder);
/* With RIG_RECORD_RANK: a frame of samples of the rank's clock. After the header, before the certificate, and where no
 * events are pending. */
const struct rig_buf *rig_record_encoder_clock(struct rig_record_encoder *encoder,
                                               const struct rig_clock_sample *samples, size_t count);
/* A frame of the certificate, from item `*item` on; `*last` says that it was the last one. After all events. */
const struct rig_buf *rig_record_encoder_certificate(struct rig_record_encoder *encoder,
                                                     const struct rig_certificate *certificate, size_t *item,
                                                     bool *last);
const struct rig_buf *rig_record_encoder_close(struct rig_record_encoder *encoder, unsigned flags);

#endif
