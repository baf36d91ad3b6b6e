#include "history/record/recorder_priv.h"

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
