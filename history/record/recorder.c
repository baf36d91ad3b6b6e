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
#include "history/record/packing.h"
#include "history/record/recorder_priv.h"

static const size_t fault_ring_bytes = (size_t)1 << 16;
static const size_t default_channel_bytes = (size_t)1 << 20;

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
    rig_clock_samples_done(&recorder->clock);
    rig_clock_samples_done(&recorder->written_clock);
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
                 (options->certificate ? RIG_RECORD_CERTIFICATE : 0U) | (options->rank != NULL ? RIG_RECORD_RANK : 0U),
        .start_utc_ns = origin_utc_ns(recorder),
        .meta = recorder->meta,
        .columns = options->columns,
    };
    if (options->rank != NULL) {
        head.rank = *options->rank;
        head.rank.origin_ns = recorder->origin_ns;
    }
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
    rig_recorder_write_frame(recorder, &header);
    rig_buf_done(&header);
    if (!rig_recorder_has_failed(recorder))
        return RIG_OK;
    (void)unlink(recorder->path);
    return rig_fail(err, recorder->err.rc, "%s", recorder->err.text);
}

/* The thread blocks signals: SIGXFSZ becomes an error of write(). */
static bool start_writer(struct rig_recorder *recorder)
{
    recorder->started = rig_thread_start(&recorder->writer, rig_recorder_write, recorder) == 0;
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

void rig_recorder_clock(struct rig_recorder *recorder, const struct rig_clock_sample *sample)
{
    pthread_mutex_lock(&recorder->lock);
    const bool added = rig_clock_samples_add(&recorder->clock, *sample);
    pthread_mutex_unlock(&recorder->lock);
    (void)added; /* without memory for it the clock is known less well */
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
    if (!rig_recorder_has_failed(recorder) && fsync(recorder->fd) != 0 && errno != EINVAL && errno != EROFS)
        rig_recorder_fail(recorder, RIG_E_IO, "cannot sync", strerror(errno));
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

/* The waits of a client whose channel is full. */
static const int64_t first_wait_ns = 50 * RIG_NS_PER_US;
static const int64_t longest_wait_ns = RIG_NS_PER_MS;

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
    for (int64_t wait_ns = first_wait_ns; count > 0; wait_ns = wait_ns < longest_wait_ns ? 2 * wait_ns : wait_ns) {
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

void rig_channel_columns(struct rig_channel *channel, const struct rig_column_row *columns, const int64_t *times)
{
    channel->columns = columns;
    channel->times = times;
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
    if ((event->columns & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) != 0 && channel->times == NULL)
        event->columns &= ~RIG_COLUMN_BIT(RIG_COLUMN_TIMES);
    for (uint32_t left = event->columns; left != 0; left &= left - 1)
        values[count++] = row->at[__builtin_ctz(left)];
    event->size += count * sizeof *values;
    return count;
}

/* The numbers of the transaction's spans. */
static size_t count_times(const struct rig_channel *channel, const struct ring_event *event,
                          const int64_t values[RIG_COLUMN_ROOM])
{
    if ((event->columns & RIG_COLUMN_BIT(RIG_COLUMN_TIMES)) == 0)
        return 0;
    const int64_t count = values[__builtin_popcount(event->columns & (RIG_COLUMN_BIT(RIG_COLUMN_TIMES) - 1))];
    RIG_REQUIRE(count > 0 && count <= channel->op_count);
    return 2 * (size_t)count;
}

/* Times of the client's clock, after the invocation. */
static void put_times(struct rig_channel *channel, size_t count)
{
    int64_t numbers[32];
    for (size_t done = 0; done < count;) {
        size_t some = 0;
        for (; some < sizeof numbers / sizeof numbers[0] && done < count; done++) {
            const int64_t after_ns = channel->times[done] - channel->last_ns;
            numbers[some++] = after_ns < 0 ? 0 : after_ns > RIG_SPAN_MOST ? RIG_SPAN_MOST : after_ns;
        }
        put(channel, numbers, some * sizeof *numbers);
    }
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
    const size_t time_count = count_times(channel, &event, values);
    event.size += time_count * sizeof *values;
    put(channel, &event, sizeof event);
    put(channel, values, value_count * sizeof *values);
    put_times(channel, time_count);
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
    const char *const texts[RIG_RECORDER_FAULT_TEXTS] = {event->fault, event->targets, event->text};
    static const char padding[8];
    struct ring_fault fault = {.ok = event->ok,
                               .fail = event->fail,
                               .info = event->info,
                               .injection = event->injection,
                               .step = event->step,
                               .failed = event->failed};
    size_t bytes = 0;
    for (int i = 0; i < RIG_RECORDER_FAULT_TEXTS; i++) {
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
    for (int i = 0; i < RIG_RECORDER_FAULT_TEXTS; i++) {
        put(channel, texts[i], fault.lengths[i] - 1);
        put(channel, padding, 1);
    }
    put(channel, padding, padding_bytes);
    rig_byte_ring_publish(&channel->ring); /* `latest_ns` stays: the channel delays no cut */
    channel->last_ns = at_ns;
}
