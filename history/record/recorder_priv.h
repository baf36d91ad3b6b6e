/*
 * The two sides of a recorder: channels, into which clients put events (recorder.c), and the writer, which takes
 * them in the order of their times and writes frames (recorder_writer.c). recorder.c opens and closes both.
 *
 * Private to these files.
 */
#ifndef RIG_HISTORY_RECORD_RECORDER_PRIV_H
#define RIG_HISTORY_RECORD_RECORDER_PRIV_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "history/source/byte_ring.h"
#include "history/model/columns.h"
#include "history/model/history.h"
#include "history/record/record_encoder.h"
#include "history/record/recorder.h"

/* An event in a channel's ring: this, then `op_count` struct rig_op; or the values of side columns, and struct
 * ring_read, each followed by its elements. */
struct ring_event {
    uint64_t size; /* bytes of the event with everything that belongs to it */
    int64_t at_ns;
    int64_t recorded_ns; /* decides its cut: at_ns, or the real time of its recording */
    int64_t process;     /* of an invocation */
    int64_t intended_ns; /* of an invocation */
    uint32_t op_count;
    uint16_t error_length; /* of a completion; the error comes last, padded to 8 bytes */
    uint8_t is_completion;
    uint8_t outcome;
    uint8_t has_error;
    uint8_t has_reads;
    uint8_t is_fault; /* the nemesis's: struct ring_fault and its texts follow, padded to 8 bytes */
    uint32_t
        columns; /* of a completion: RIG_COLUMN_BIT()s of the values that follow; after those the pairs that the value
                       * of RIG_COLUMN_TIMES counts */
};

enum { RIG_RECORDER_FAULT_TEXTS = 3 };

struct ring_fault {
    uint64_t ok, fail, info;
    uint32_t injection;
    uint32_t lengths[RIG_RECORDER_FAULT_TEXTS]; /* of the texts, each with its NUL */
    uint8_t step;
    uint8_t failed;
    uint8_t padding[6];
};

struct ring_read {
    uint32_t state;
    uint32_t count;
    int64_t value;
};

RIG_VEC(uint8_t, byte_vec)
RIG_VEC(struct rig_record_read, record_read_vec)

struct rig_channel {
    struct rig_byte_ring ring;
    /* The client's. */
    struct rig_recorder *recorder;
    int64_t last_ns;
    uint32_t op_count; /* of the transaction invoked last */
    bool open;
    bool last_completed;
    const struct rig_column_row *columns; /* of the transaction that completes next */
    const int64_t *times;                 /* of its operations, as its column says how many */
    _Atomic uint64_t stalls;
    _Atomic int64_t latest_ns; /* of a published event; only with simulated time */
    _Atomic int64_t begun_ns;  /* a transaction has begun since then whose invocation is to come; INT64_MAX: none */
    /* The writer's. */
    alignas(RIG_CACHE_LINE_BYTES) struct byte_vec pending; /* taken from the ring, not written yet */
    size_t pending_at;                                     /* where `next` starts */
    struct ring_event next;                                /* the first event of `pending` */
};

struct rig_recorder {
    struct rig_channel *channels;
    uint32_t channel_count; /* with that of the nemesis, the last one */
    bool faults;
    enum rig_workload workload;
    int64_t origin_ns;
    bool simulated_time;
    uint32_t columns;
    struct rig_names *names;
    struct rig_name_vec known_names; /* the writer's */
    char *path;
    char *meta;
    int fd;
    size_t file_bytes; /* of whole frames */
    struct rig_record_encoder *encoder;
    const struct rig_certificate *certificate; /* borrowed; NULL: none */
    struct rig_clock_samples clock;            /* under the lock: not written yet */
    struct rig_clock_samples written_clock;    /* the writer's: those that it writes now */
    int64_t written_ns;                        /* the time of the event written last */
    uint32_t *heap;                            /* channels by their next event, earliest first */
    uint32_t heap_count;
    struct record_read_vec reads;
    struct rig_err err; /* the writer's first */
    pthread_t writer;
    bool started;
    pthread_mutex_t lock; /* innermost; for waking the writer, and for samples of the clock */
    pthread_cond_t wake;
    bool wanted;
    bool stop;
    _Atomic bool failed;
    _Atomic uint64_t events, frames, bytes;
};

/* The thread of the writer; `recorder` is a struct rig_recorder. */
void *rig_recorder_write(void *recorder);
/* Keeps the first failure. The file is cut back to its complete frames, so that it stays readable. */
void rig_recorder_fail(struct rig_recorder *recorder, enum rig_rc rc, const char *what, const char *why);

/* A frame goes to the file whole, or the recorder fails. */
void rig_recorder_write_frame(struct rig_recorder *recorder, const struct rig_buf *frame);

static inline bool rig_recorder_has_failed(const struct rig_recorder *recorder)
{
    return atomic_load_explicit(&recorder->failed, memory_order_relaxed);
}

#endif
