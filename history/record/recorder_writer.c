#include "history/record/recorder_priv.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"

/*
 * A frame is cut this long before "now". The causes of an event in the cut were then published, with a margin for store
 * buffers and for the clock's skew between cores.
 */
static const int64_t cut_margin_ns = 100 * RIG_NS_PER_US;
static const int64_t idle_wait_ns = 25 * RIG_NS_PER_MS;
static const int64_t busy_wait_ns = RIG_NS_PER_MS;
static const size_t frame_bytes = (size_t)1 << 20;
static const size_t most_held_bytes = (size_t)64 << 20;

void rig_recorder_fail(struct rig_recorder *recorder, enum rig_rc rc, const char *what, const char *why)
{
    if (recorder->err.rc == RIG_OK)
        rig_fail(&recorder->err, rc, "%s: %s: %s; the record ends after %zu bytes", recorder->path, what, why,
                 recorder->file_bytes);
    int ignored = ftruncate(recorder->fd, (off_t)recorder->file_bytes);
    (void)ignored; /* readers skip a torn last frame as well */
    atomic_store_explicit(&recorder->failed, true, memory_order_release);
}

void rig_recorder_write_frame(struct rig_recorder *recorder, const struct rig_buf *frame)
{
    if (rig_recorder_has_failed(recorder))
        return;
    if (frame == NULL || frame->failed) {
        rig_recorder_fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "a frame");
        return;
    }
    size_t done = 0;
    while (done < frame->size) {
        ssize_t written = write(recorder->fd, frame->data + done, frame->size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            rig_recorder_fail(recorder, RIG_E_IO, "cannot write", strerror(errno));
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
    if (!rig_recorder_has_failed(recorder) && !byte_vec_reserve(&channel->pending, channel->pending.count + available))
        rig_recorder_fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "the requests of the clients");
    if (rig_recorder_has_failed(recorder)) {
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
    struct rig_spans spans = {0};
    if ((event->columns & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) != 0) {
        const void *numbers = body; /* a multiple of 8 bytes after the event */
        spans = (struct rig_spans){.at = numbers, .count = (uint32_t)row.at[RIG_COLUMN_TIMES]};
        body += 2 * (size_t)spans.count * sizeof *spans.at;
    }
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
        .spans = spans,
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
        rig_recorder_fail(recorder, RIG_E_LIMIT, "cannot record", RIG_NO_MEMORY "a transaction's reads");
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
    while (recorder->heap_count > 0 && !rig_recorder_has_failed(recorder)) {
        uint32_t index = recorder->heap[0];
        encode_next(recorder, index);
        if (!find_next(&recorder->channels[index], cut))
            recorder->heap[0] = recorder->heap[--recorder->heap_count];
        heap_sink(recorder, 0);
        if (rig_record_encoder_pending_bytes(recorder->encoder) >= frame_bytes)
            rig_recorder_write_frame(recorder, rig_record_encoder_frame(recorder->encoder));
    }
    if (!rig_recorder_has_failed(recorder) && rig_record_encoder_pending_bytes(recorder->encoder) > 0)
        rig_recorder_write_frame(recorder, rig_record_encoder_frame(recorder->encoder));
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

static void write_clock(struct rig_recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    const struct rig_clock_samples taken = recorder->clock;
    recorder->clock = recorder->written_clock;
    recorder->clock.count = 0;
    recorder->written_clock = taken;
    pthread_mutex_unlock(&recorder->lock);
    if (taken.count > 0 && !rig_recorder_has_failed(recorder))
        rig_recorder_write_frame(recorder, rig_record_encoder_clock(recorder->encoder, taken.at, taken.count));
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
    write_clock(recorder);
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
    while (!last && !rig_recorder_has_failed(recorder)) {
        const struct rig_buf *frame =
            rig_record_encoder_certificate(recorder->encoder, recorder->certificate, &item, &last);
        rig_recorder_write_frame(recorder, frame);
    }
}

void *rig_recorder_write(void *argument)
{
    struct rig_recorder *recorder = argument;
    int64_t wait_ns = idle_wait_ns;
    while (!wait_for_work(recorder, wait_ns))
        wait_ns = drain(recorder, false) >= 10 ? busy_wait_ns : idle_wait_ns;
    drain(recorder, true);
    write_certificate(recorder);
    if (!rig_recorder_has_failed(recorder))
        rig_recorder_write_frame(recorder, rig_record_encoder_close(recorder->encoder, 0));
    return NULL;
}
