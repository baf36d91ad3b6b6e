#include "history/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/plural.h"
#include "base/thread.h"
#include "base/vec.h"
#include "history/columns.h"
#include "history/byte_ring.h"
#include "history/history.h"
#include "history/record/packing.h"
#include "history/record/record_encoder.h"

/*
 * A frame is cut this long before "now". The causes of an event in the cut were then published, with a margin for store
 * buffers and for the clock's skew between cores.
 */
static const int64_t cut_margin_ns = 100 * RIG_NS_PER_US;
static const int64_t idle_wait_ns = 25 * RIG_NS_PER_MS;
static const int64_t busy_wait_ns = RIG_NS_PER_MS;
static const int64_t full_wait_ns = 50 * RIG_NS_PER_US;
static const size_t frame_bytes = (size_t)1 << 20;
static const size_t most_held_bytes = (size_t)64 << 20;
static const size_t fault_ring_bytes = (size_t)1 << 16;
static const size_t default_channel_bytes = (size_t)1 << 20;

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
    uint32_t columns; /* of a completion: RIG_COLUMN_BIT()s of the values that follow */
};

enum { FAULT_TEXTS = 3 };

struct ring_fault {
    uint64_t ok, fail, info;
    uint32_t injection;
    uint32_t lengths[FAULT_TEXTS]; /* of the texts, each with its NUL */
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
    int64_t written_ns;                        /* the time of the event written last */
    uint32_t *heap;                            /* channels by their next event, earliest first */
    uint32_t heap_count;
    struct record_read_vec reads;
    struct rig_err err; /* the writer's first */
    pthread_t writer;
    bool started;
    pthread_mutex_t lock; /* innermost; only for waking the writer */
    pthread_cond_t wake;
    bool wanted;
    bool stop;
    _Atomic bool failed;
    _Atomic uint64_t events, frames, bytes;
};

/* ---- Clients ---- */

static void wake_writer(struct rig_recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    recorder->wanted = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->lock);
}

static void put_slowly(struct rig_channel *channel, const uint8_t *bytes, size_t count)
{
    atomic_fetch_add_explicit(&channel->stalls, 1, memory_order_relaxed);
    /* Longer each time: needless wake-ups take processor time from the writer. */
    for (int64_t wait_ns = full_wait_ns; count > 0; wait_ns = wait_ns < busy_wait_ns ? 2 * wait_ns : wait_ns) {
        rig_byte_ring_publish(&channel->ring);
        wake_writer(channel->recorder);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + wait_ns);
        size_t done = rig_byte_ring_write(&channel->ring, bytes, count);
        bytes += done;
        count -= done;
    }
}

static void put(struct rig_channel *channel, const void *bytes, size_t count)
{
    if (count == 0)
        return;
    size_t done = rig_byte_ring_write(&channel->ring, bytes, count);
    if (done < count)
        put_slowly(channel, (const uint8_t *)bytes + done, count - done);
}

static int64_t recorded_ns(const struct rig_channel *channel, int64_t at_ns)
{
    return channel->recorder->simulated_time ? rig_clock_now_ns() : at_ns;
}

static void publish(struct rig_channel *channel, int64_t at_ns)
{
    rig_byte_ring_publish(&channel->ring);
    if (channel->recorder->simulated_time)
        atomic_store_explicit(&channel->latest_ns, at_ns, memory_order_release);
}

void rig_channel_begin(struct rig_channel *channel)
{
    if (channel->recorder->simulated_time)
        return; /* there, events wait for a channel's latest one anyway */
    /* Before the caller takes the time of the invocation: a cut that misses this store is before that time. */
    atomic_store_explicit(&channel->begun_ns, rig_clock_now_ns(), memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
}

void rig_channel_invoke(struct rig_channel *channel, int64_t process, int64_t at_ns, int64_t intended_ns,
                        const struct rig_op *ops, uint32_t op_count)
{
    RIG_REQUIRE(at_ns >= channel->last_ns || !channel->last_completed);
    bool on_time = intended_ns == at_ns;
    if (channel->last_completed && at_ns == channel->last_ns)
        at_ns++;
    struct ring_event event = {
        .size = sizeof event + (uint64_t)op_count * sizeof *ops,
        .at_ns = at_ns,
        .recorded_ns = recorded_ns(channel, at_ns),
        .process = process,
        .intended_ns = on_time ? at_ns : intended_ns,
        .op_count = op_count,
    };
    put(channel, &event, sizeof event);
    put(channel, ops, op_count * sizeof *ops);
    publish(channel, at_ns);
    atomic_store_explicit(&channel->begun_ns, INT64_MAX, memory_order_release);
    channel->last_ns = at_ns;
    channel->op_count = op_count;
    channel->open = true;
    channel->last_completed = false;
}

/* The length of the error, cut where a UTF-8 character starts. */
static uint16_t error_length(const char *error)
{
    size_t length = strnlen(error, RIG_RECORDER_ERROR_BYTES + 1);
    if (length <= RIG_RECORDER_ERROR_BYTES)
        return (uint16_t)length;
    length = RIG_RECORDER_ERROR_BYTES;
    while (length > 0 && ((unsigned char)error[length] & 0xc0) == 0x80)
        length--;
    return (uint16_t)length;
}

static uint32_t element_count(const struct rig_read *read)
{
    return read->state == RIG_READ_SEEN ? read->count : 0;
}

void rig_channel_columns(struct rig_channel *channel, const struct rig_column_row *columns)
{
    channel->columns = columns;
}

/* Gathers the values in the order of their columns; returns how many there are. */
static size_t gather_columns(struct rig_channel *channel, struct ring_event *event, int64_t values[RIG_COLUMN_ROOM])
{
    const struct rig_column_row *row = channel->columns;
    size_t count = 0;
    channel->columns = NULL;
    if (row == NULL)
        return 0;
    event->columns = row->given & channel->recorder->columns;
    for (uint32_t left = event->columns; left != 0; left &= left - 1)
        values[count++] = row->at[__builtin_ctz(left)];
    event->size += count * sizeof *values;
    return count;
}

void rig_channel_complete(struct rig_channel *channel, int64_t at_ns, enum rig_outcome outcome,
                          const struct rig_read *reads, const int64_t *elements, const char *error)
{
    RIG_REQUIRE(channel->open && outcome <= RIG_OUTCOME_INFO);
    /* The invocation may have been moved by 1 ns. */
    RIG_REQUIRE(at_ns >= channel->last_ns - 1);
    if (at_ns < channel->last_ns)
        at_ns = channel->last_ns;
    struct ring_event event = {
        .size = sizeof event,
        .at_ns = at_ns,
        .recorded_ns = recorded_ns(channel, at_ns),
        .op_count = channel->op_count,
        .error_length = error == NULL ? 0 : error_length(error),
        .is_completion = true,
        .outcome = (uint8_t)outcome,
        .has_error = error != NULL,
        .has_reads = reads != NULL,
    };
    static const char padding[8];
    size_t padding_bytes = (8U - event.error_length % 8U) % 8U;
    event.size += event.error_length + padding_bytes;
    for (uint32_t i = 0; reads != NULL && i < channel->op_count; i++)
        event.size += sizeof(struct ring_read) + element_count(&reads[i]) * sizeof *elements;
    int64_t values[RIG_COLUMN_ROOM];
    const size_t value_count = gather_columns(channel, &event, values);
    put(channel, &event, sizeof event);
    put(channel, values, value_count * sizeof *values);
    for (uint32_t i = 0; reads != NULL && i < channel->op_count; i++) {
        struct ring_read read = {
            .state = (uint32_t)reads[i].state, .count = element_count(&reads[i]), .value = reads[i].value};
        put(channel, &read, sizeof read);
        if (read.count > 0)
            put(channel, elements + reads[i].first_element, read.count * sizeof *elements);
    }
    put(channel, error, event.error_length);
    put(channel, padding, padding_bytes);
    publish(channel, at_ns);
    channel->last_ns = at_ns;
    channel->open = false;
    channel->last_completed = true;
}

void rig_recorder_fault(struct rig_recorder *recorder, const struct rig_fault_event *event)
{
    RIG_REQUIRE(recorder->faults);
    struct rig_channel *channel = &recorder->channels[recorder->channel_count - 1];
    const char *const texts[FAULT_TEXTS] = {event->fault, event->targets, event->text};
    static const char padding[8];
    struct ring_fault fault = {.ok = event->ok,
                               .fail = event->fail,
                               .info = event->info,
                               .injection = event->injection,
                               .step = event->step,
                               .failed = event->failed};
    size_t bytes = 0;
    for (int i = 0; i < FAULT_TEXTS; i++) {
        fault.lengths[i] = error_length(texts[i]) + 1U;
        bytes += fault.lengths[i];
    }
    const size_t padding_bytes = (8U - bytes % 8U) % 8U;
    const int64_t at_ns = event->time_ns > channel->last_ns ? event->time_ns : channel->last_ns;
    const struct ring_event head = {.size = sizeof head + sizeof fault + bytes + padding_bytes,
                                    .at_ns = at_ns,
                                    .recorded_ns = recorded_ns(channel, at_ns),
                                    .is_fault = true};
    put(channel, &head, sizeof head);
    put(channel, &fault, sizeof fault);
    for (int i = 0; i < FAULT_TEXTS; i++) {
        put(channel, texts[i], fault.lengths[i] - 1);
        put(channel, padding, 1);
    }
    put(channel, padding, padding_bytes);
    rig_byte_ring_publish(&channel->ring); /* `latest_ns` stays: the channel delays no cut */
    channel->last_ns = at_ns;
}

/* ---- The writer ---- */

/* Keeps the first failure. The file is cut back to its complete frames, so that it stays readable. */
static void fail(struct rig_recorder *recorder, enum rig_rc rc, const char *what, const char *why)
{
    if (recorder->err.rc == RIG_OK)
        rig_fail(&recorder->err, rc, "%s: %s: %s; the record ends after %zu bytes", recorder->path, what, why,
                 recorder->file_bytes);
    int ignored = ftruncate(recorder->fd, (off_t)recorder->file_bytes);
    (void)ignored; /* readers skip a torn last frame as well */
    atomic_store_explicit(&recorder->failed, true, memory_order_release);
}

static bool has_failed(const struct rig_recorder *recorder)
{
    return atomic_load_explicit(&recorder->failed, memory_order_relaxed);
}

static void write_frame(struct rig_recorder *recorder, const struct rig_buf *frame)
{
    if (has_failed(recorder))
        return;
    if (frame == NULL || frame->failed) {
        fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "a frame");
        return;
    }
    size_t done = 0;
    while (done < frame->size) {
        ssize_t written = write(recorder->fd, frame->data + done, frame->size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            fail(recorder, RIG_E_IO, "cannot write", strerror(errno));
            return;
        }
        done += (size_t)written;
    }
    recorder->file_bytes += frame->size;
    atomic_store_explicit(&recorder->bytes, recorder->file_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&recorder->frames, 1, memory_order_relaxed);
    atomic_store_explicit(&recorder->events, rig_record_encoder_event_count(recorder->encoder), memory_order_relaxed);
}

/* Appends a client's published events to the channel's pending bytes. Returns how full the ring was, in percent. */
static unsigned drain_ring(struct rig_recorder *recorder, struct rig_channel *channel)
{
    size_t available = rig_byte_ring_available(&channel->ring);
    unsigned percent = (unsigned)(available * 100 / channel->ring.size);
    if (channel->pending_at > 0) {
        size_t rest = channel->pending.count - channel->pending_at;
        if (rest > 0)
            memmove(channel->pending.at, channel->pending.at + channel->pending_at, rest);
        channel->pending.count = rest;
        channel->pending_at = 0;
    }
    if (!has_failed(recorder) && !byte_vec_reserve(&channel->pending, channel->pending.count + available))
        fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "the requests of the clients");
    if (has_failed(recorder)) {
        rig_byte_ring_take(&channel->ring, NULL, available); /* a failed record must not stop the clients */
        channel->pending.count = 0;
        return 0;
    }
    rig_byte_ring_take(&channel->ring, channel->pending.at + channel->pending.count, available);
    channel->pending.count += available;
    return percent;
}

/* The events that may be written: recorded up to a real time, and with times before another. */
struct cut {
    int64_t recorded_ns;
    int64_t before_ns;
};

/* The channel's next event; false if none is complete and before the cut. */
static bool find_next(struct rig_channel *channel, const struct cut *cut)
{
    size_t rest = channel->pending.count - channel->pending_at;
    if (rest < sizeof channel->next)
        return false;
    memcpy(&channel->next, channel->pending.at + channel->pending_at, sizeof channel->next);
    return channel->next.size <= rest && channel->next.recorded_ns <= cut->recorded_ns &&
           channel->next.at_ns < cut->before_ns;
}

/* Time, then invocations first, then the channel: causes come before their effects. */
static bool heap_before(const struct rig_recorder *recorder, uint32_t a, uint32_t b)
{
    const struct ring_event *left = &recorder->channels[a].next;
    const struct ring_event *right = &recorder->channels[b].next;
    if (left->at_ns != right->at_ns)
        return left->at_ns < right->at_ns;
    if (left->is_completion != right->is_completion)
        return left->is_completion < right->is_completion;
    return a < b;
}

static void heap_sink(struct rig_recorder *recorder, uint32_t at)
{
    uint32_t *heap = recorder->heap;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < recorder->heap_count; child++) {
            if (heap_before(recorder, heap[child], heap[least]))
                least = child;
        }
        if (least == at)
            return;
        uint32_t moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* Every event is a multiple of 8 bytes, so that operations are aligned. */
static void encode_invocation(struct rig_recorder *recorder, uint32_t index, const struct ring_event *event,
                              int64_t at_ns, const uint8_t *body)
{
    const void *ops = body;
    RIG_INVARIANT((uintptr_t)ops % alignof(struct rig_op) == 0);
    int64_t intended_ns = event->intended_ns == event->at_ns ? at_ns : event->intended_ns;
    struct rig_record_moment when = {.time_ns = at_ns - recorder->origin_ns};
    rig_record_encoder_invoke(recorder->encoder, index, when, event->process, intended_ns - recorder->origin_ns, ops,
                              event->op_count);
}

/* Makes a row of the event's values at `body`. Unknown names are left out. */
static bool scatter_columns(struct rig_recorder *recorder, const struct ring_event *event, const uint8_t *body,
                            struct rig_column_row *row)
{
    row->given = event->columns;
    for (uint32_t left = event->columns; left != 0; left &= left - 1, body += sizeof(int64_t)) {
        const int column = __builtin_ctz(left);
        memcpy(&row->at[column], body, sizeof row->at[column]);
        if (rig_column_infos[column].type != RIG_COLUMN_NAME || row->at[column] == RIG_COLUMN_NONE)
            continue;
        if (row->at[column] >= (int64_t)recorder->known_names.count && recorder->names != NULL &&
            !rig_names_follow(recorder->names, &recorder->known_names))
            return false;
        if (row->at[column] < 0 || row->at[column] >= (int64_t)recorder->known_names.count)
            row->at[column] = RIG_COLUMN_NONE;
    }
    return true;
}

static bool encode_completion(struct rig_recorder *recorder, uint32_t index, const struct ring_event *event,
                              int64_t at_ns, const uint8_t *body)
{
    struct rig_column_row row;
    if (!record_read_vec_reserve(&recorder->reads, event->op_count) || !scatter_columns(recorder, event, body, &row))
        return false;
    body += (size_t)__builtin_popcount(event->columns) * sizeof(int64_t);
    for (uint32_t i = 0; event->has_reads && i < event->op_count; i++) {
        struct ring_read read;
        memcpy(&read, body, sizeof read);
        body += sizeof read;
        recorder->reads.at[i] = (struct rig_record_read){
            .state = (enum rig_read_state)read.state, .count = read.count, .elements = body, .value = read.value};
        body += read.count * sizeof(int64_t);
    }
    struct rig_record_completion completion = {
        .outcome = (enum rig_outcome)event->outcome,
        .error = event->has_error ? (const char *)body : NULL,
        .error_length = event->error_length,
        .reads = event->has_reads ? recorder->reads.at : NULL,
        .columns = &row,
        .names = recorder->known_names.at,
    };
    struct rig_record_moment when = {.time_ns = at_ns - recorder->origin_ns};
    rig_record_encoder_complete(recorder->encoder, index, when, &completion);
    return true;
}

static void encode_fault(struct rig_recorder *recorder, int64_t at_ns, const uint8_t *body)
{
    struct ring_fault fault;
    memcpy(&fault, body, sizeof fault);
    const char *texts = (const char *)body + sizeof fault;
    const struct rig_fault_event event = {.injection = fault.injection,
                                          .step = fault.step,
                                          .failed = fault.failed != 0,
                                          .fault = texts,
                                          .targets = texts + fault.lengths[0],
                                          .text = texts + fault.lengths[0] + fault.lengths[1],
                                          .ok = fault.ok,
                                          .fail = fault.fail,
                                          .info = fault.info};
    const struct rig_record_moment when = {.time_ns = at_ns - recorder->origin_ns};
    rig_record_encoder_fault(recorder->encoder, when, &event);
}

/*
 * A late event (from before a cut that was already made) gets the time of the event written last. That is sound: a late
 * invocation was recorded, and so sent, after everything written had happened; and a later completion claims less.
 */
static void encode_next(struct rig_recorder *recorder, uint32_t index)
{
    struct rig_channel *channel = &recorder->channels[index];
    int64_t at_ns = channel->next.at_ns > recorder->written_ns ? channel->next.at_ns : recorder->written_ns;
    recorder->written_ns = at_ns;
    const uint8_t *body = channel->pending.at + channel->pending_at + sizeof channel->next;
    if (channel->next.is_fault)
        encode_fault(recorder, at_ns, body);
    else if (!channel->next.is_completion)
        encode_invocation(recorder, index, &channel->next, at_ns, body);
    else if (!encode_completion(recorder, index, &channel->next, at_ns, body))
        fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "a transaction's reads");
    channel->pending_at += channel->next.size;
}

/* Writes the pending events up to the cut, merged by time, so that each frame in itself is a consistent cut. */
static void write_events(struct rig_recorder *recorder, const struct cut *cut)
{
    recorder->heap_count = 0;
    for (uint32_t i = 0; i < recorder->channel_count; i++) {
        if (find_next(&recorder->channels[i], cut))
            recorder->heap[recorder->heap_count++] = i;
    }
    for (uint32_t i = recorder->heap_count / 2; i-- > 0;)
        heap_sink(recorder, i);
    while (recorder->heap_count > 0 && !has_failed(recorder)) {
        uint32_t index = recorder->heap[0];
        encode_next(recorder, index);
        if (!find_next(&recorder->channels[index], cut))
            recorder->heap[0] = recorder->heap[--recorder->heap_count];
        heap_sink(recorder, 0);
        if (rig_record_encoder_pending_bytes(recorder->encoder) >= frame_bytes)
            write_frame(recorder, rig_record_encoder_frame(recorder->encoder));
    }
    if (!has_failed(recorder) && rig_record_encoder_pending_bytes(recorder->encoder) > 0)
        write_frame(recorder, rig_record_encoder_frame(recorder->encoder));
}

/*
 * Simulated times are not those at which events are recorded: an event waits while another channel can still have an
 * earlier one. No channel can have one before its latest event. A silent channel delays the others until they take too
 * much memory.
 */
static int64_t simulated_cut(const struct rig_recorder *recorder)
{
    int64_t least_ns = INT64_MAX;
    size_t held_bytes = 0;
    for (uint32_t i = 0; i < recorder->channel_count; i++) {
        const struct rig_channel *channel = &recorder->channels[i];
        int64_t latest_ns = atomic_load_explicit(&channel->latest_ns, memory_order_acquire);
        least_ns = latest_ns < least_ns ? latest_ns : least_ns;
        held_bytes += channel->pending.count - channel->pending_at;
    }
    return held_bytes > most_held_bytes ? INT64_MAX : least_ns;
}

/* No transaction began before this time whose invocation is still to come. */
static int64_t begun_cut(const struct rig_recorder *recorder)
{
    int64_t least_ns = INT64_MAX;
    for (uint32_t i = 0; i < recorder->channel_count; i++) {
        const int64_t begun_ns = atomic_load_explicit(&recorder->channels[i].begun_ns, memory_order_seq_cst);
        least_ns = begun_ns < least_ns ? begun_ns : least_ns;
    }
    return least_ns;
}

/*
 * One cut. The time is taken before the rings are read: the causes of an event before the cut were published before,
 * and are found. Events after the cut are left for the next one.
 */
static unsigned drain(struct rig_recorder *recorder, bool last)
{
    struct cut cut = {.recorded_ns = INT64_MAX, .before_ns = INT64_MAX};
    if (!last)
        cut.recorded_ns = rig_clock_now_ns() - cut_margin_ns;
    atomic_thread_fence(memory_order_seq_cst);
    if (!last)
        cut.before_ns = recorder->simulated_time ? simulated_cut(recorder) : begun_cut(recorder);
    if (recorder->simulated_time && cut.before_ns < INT64_MAX)
        cut.recorded_ns =
            INT64_MAX; /* whatever is before a simulated cut was published, however late it was recorded */
    unsigned fullest = 0;
    for (uint32_t i = 0; i < recorder->channel_count; i++) {
        unsigned percent = drain_ring(recorder, &recorder->channels[i]);
        fullest = percent > fullest ? percent : fullest;
    }
    write_events(recorder, &cut);
    return fullest;
}

/* Waits for a client that found its ring full, for the end, or for a while. Returns whether it is the end. */
static bool wait_for_work(struct rig_recorder *recorder, int64_t wait_ns)
{
    int64_t deadline_ns = rig_clock_now_ns() + wait_ns;
    struct timespec deadline = {.tv_sec = deadline_ns / RIG_NS_PER_S, .tv_nsec = deadline_ns % RIG_NS_PER_S};
    pthread_mutex_lock(&recorder->lock);
    int waited = 0;
    while (!recorder->wanted && !recorder->stop && waited == 0)
        waited = pthread_cond_timedwait(&recorder->wake, &recorder->lock, &deadline);
    recorder->wanted = false;
    bool stop = recorder->stop;
    pthread_mutex_unlock(&recorder->lock);
    return stop;
}

static void write_certificate(struct rig_recorder *recorder)
{
    size_t item = 0;
    bool last = recorder->certificate == NULL;
    while (!last && !has_failed(recorder)) {
        const struct rig_buf *frame =
            rig_record_encoder_certificate(recorder->encoder, recorder->certificate, &item, &last);
        write_frame(recorder, frame);
    }
}

static void *writer_main(void *argument)
{
    struct rig_recorder *recorder = argument;
    int64_t wait_ns = idle_wait_ns;
    while (!wait_for_work(recorder, wait_ns))
        wait_ns = drain(recorder, false) >= 10 ? busy_wait_ns : idle_wait_ns;
    drain(recorder, true);
    write_certificate(recorder);
    if (!has_failed(recorder))
        write_frame(recorder, rig_record_encoder_close(recorder->encoder, 0));
    return NULL;
}

/* ---- Opening and closing ---- */

static void free_recorder(struct rig_recorder *recorder)
{
    for (uint32_t i = 0; recorder->channels != NULL && i < recorder->channel_count; i++) {
        rig_byte_ring_done(&recorder->channels[i].ring);
        byte_vec_done(&recorder->channels[i].pending);
    }
    free(recorder->channels);
    free(recorder->heap);
    record_read_vec_done(&recorder->reads);
    rig_name_vec_done(&recorder->known_names);
    rig_record_encoder_free(recorder->encoder);
    if (recorder->fd >= 0)
        (void)close(recorder->fd);
    free(recorder->path);
    free(recorder->meta);
    pthread_cond_destroy(&recorder->wake);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

static void init_locks(struct rig_recorder *recorder)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&recorder->lock, NULL);
}

/* The wall clock's time when times were 0; simulated times have none. */
static int64_t origin_utc_ns(const struct rig_recorder *recorder)
{
    struct timespec utc = {0};
    if (recorder->simulated_time || clock_gettime(CLOCK_REALTIME, &utc) != 0)
        return 0;
    return utc.tv_sec * RIG_NS_PER_S + utc.tv_nsec - (rig_clock_now_ns() - recorder->origin_ns);
}

static bool allocate(struct rig_recorder *recorder, const struct rig_recorder_options *options)
{
    size_t ring_bytes = options->channel_bytes == 0 ? default_channel_bytes : options->channel_bytes;
    recorder->path = strdup(options->path);
    recorder->meta = options->meta == NULL ? NULL : strdup(options->meta);
    const uint32_t channel_count = options->channel_count + (options->faults ? 1U : 0U);
    recorder->faults = options->faults;
    recorder->heap = malloc(channel_count * sizeof *recorder->heap);
    void *channels = aligned_alloc(RIG_CACHE_LINE_BYTES, channel_count * sizeof(struct rig_channel));
    if (channels == NULL || recorder->path == NULL || recorder->heap == NULL ||
        (options->meta != NULL && recorder->meta == NULL)) {
        free(channels);
        return false;
    }
    memset(channels, 0, channel_count * sizeof(struct rig_channel));
    recorder->channels = channels;
    recorder->channel_count = channel_count;
    for (uint32_t i = 0; i < channel_count; i++) {
        recorder->channels[i].recorder = recorder;
        atomic_init(&recorder->channels[i].begun_ns, INT64_MAX);
        /* The caller of rig_recorder_fault() acts at the time of a client that goes on only afterwards. */
        atomic_init(&recorder->channels[i].latest_ns, i < options->channel_count ? INT64_MIN : INT64_MAX);
        if (!rig_byte_ring_init(&recorder->channels[i].ring,
                                i < options->channel_count ? ring_bytes : fault_ring_bytes))
            return false;
    }
    struct rig_record_head head = {
        .workload = options->workload,
        .flags = (options->pack ? RIG_RECORD_PACKED : 0U) | (options->faults ? RIG_RECORD_FAULTS : 0U) |
                 (options->certificate ? RIG_RECORD_CERTIFICATE : 0U),
        .start_utc_ns = origin_utc_ns(recorder),
        .meta = recorder->meta,
        .columns = options->columns,
    };
    recorder->encoder = rig_record_encoder_new(&head);
    return recorder->encoder != NULL;
}

static enum rig_rc start_file(struct rig_recorder *recorder, struct rig_err *err)
{
    recorder->fd = open(recorder->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (recorder->fd < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create the record: %s", recorder->path, strerror(errno));
    struct rig_buf header;
    rig_buf_init(&header, 0);
    rig_record_encoder_header(recorder->encoder, &header);
    write_frame(recorder, &header);
    rig_buf_done(&header);
    if (!has_failed(recorder))
        return RIG_OK;
    (void)unlink(recorder->path);
    return rig_fail(err, recorder->err.rc, "%s", recorder->err.text);
}

/* The thread blocks signals: SIGXFSZ becomes an error of write(). */
static bool start_writer(struct rig_recorder *recorder)
{
    recorder->started = rig_thread_start(&recorder->writer, writer_main, recorder) == 0;
    return recorder->started;
}

enum rig_rc rig_recorder_open(const struct rig_recorder_options *options, struct rig_recorder **recorder,
                              struct rig_err *err)
{
    RIG_REQUIRE(options->channel_count > 0 && options->workload < RIG_WORKLOAD_COUNT);
    if (options->pack && !rig_packing_available())
        return rig_fail(err, RIG_E_PLAN, "record.compress: this rig was built without zstd; leave it out");
    struct rig_recorder *out = calloc(1, sizeof *out);
    if (out == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the recorder", options->path);
    out->fd = -1;
    out->workload = options->workload;
    out->simulated_time = options->simulated_time;
    out->columns = options->columns & RIG_COLUMNS_KEPT;
    out->names = options->names;
    out->origin_ns = options->origin_ns;
    out->written_ns = INT64_MIN;
    if (options->origin_ns == 0 && !options->simulated_time)
        out->origin_ns = rig_clock_now_ns();
    init_locks(out);
    enum rig_rc rc = RIG_OK;
    if (!allocate(out, options))
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the buffers of %u client%s", options->path,
                      (unsigned)options->channel_count, rig_plural(options->channel_count));
    if (rc == RIG_OK)
        rc = start_file(out, err);
    if (rc == RIG_OK && !start_writer(out)) {
        (void)unlink(out->path);
        rc = rig_fail(err, RIG_E_LIMIT, "%s: no thread for the recorder", options->path);
    }
    if (rc == RIG_OK)
        *recorder = out;
    else
        free_recorder(out);
    return rc;
}

struct rig_channel *rig_recorder_channel(struct rig_recorder *recorder, uint32_t index)
{
    RIG_REQUIRE(index < recorder->channel_count);
    return &recorder->channels[index];
}

void rig_recorder_certify(struct rig_recorder *recorder, const struct rig_certificate *certificate)
{
    pthread_mutex_lock(&recorder->lock);
    recorder->certificate = certificate;
    pthread_mutex_unlock(&recorder->lock);
}

enum rig_rc rig_recorder_close(struct rig_recorder *recorder, struct rig_err *err)
{
    if (recorder == NULL)
        return RIG_OK;
    pthread_mutex_lock(&recorder->lock);
    recorder->stop = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->lock);
    (void)pthread_join(recorder->writer, NULL);
    if (!has_failed(recorder) && fsync(recorder->fd) != 0 && errno != EINVAL && errno != EROFS)
        fail(recorder, RIG_E_IO, "cannot sync", strerror(errno));
    enum rig_rc rc = recorder->err.rc == RIG_OK ? RIG_OK : rig_fail(err, recorder->err.rc, "%s", recorder->err.text);
    free_recorder(recorder);
    return rc;
}

bool rig_recorder_failed(const struct rig_recorder *recorder)
{
    return atomic_load_explicit(&recorder->failed, memory_order_acquire);
}

void rig_recorder_stats(const struct rig_recorder *recorder, struct rig_recorder_stats *stats)
{
    *stats = (struct rig_recorder_stats){
        .events = atomic_load_explicit(&recorder->events, memory_order_relaxed),
        .frames = atomic_load_explicit(&recorder->frames, memory_order_relaxed),
        .bytes = atomic_load_explicit(&recorder->bytes, memory_order_relaxed),
    };
    for (uint32_t i = 0; i < recorder->channel_count; i++)
        stats->stalls += atomic_load_explicit(&recorder->channels[i].stalls, memory_order_relaxed);
}
