#include <stdlib.h>

#include "base/bug.h"
#include "base/machine.h"
#include "base/thread.h"
#include "history/source/source_private.h"

enum {
    READ_SHARE = 8, /* of the limit, for parts */
    LEAST_SHARES = 3,
    DECODED_PER_BYTE = 1024, /* at most, of a file */
    MORE_SHARE = 4,          /* of a part's memory: others may take more */
    PASSED_BYTES = 1 << 19   /* the least to release at a time: each call interrupts all cores */
};
static const size_t least_part_bytes = (size_t)64 << 10;
static const size_t least_part_decode_bytes = (size_t)2 << 20; /* a short part fits any limit */
static const size_t least_decode_bytes = (size_t)256 << 20;

/* ---- claiming and parsing, in any thread ---- */

/* The next part, or NULL when none may be parsed now. Under the lock. */
static struct rig_source_part *claim(struct rig_source *source)
{
    if (source->cut_at == source->bytes.size || source->hungry || source->broken || source->paused ||
        source->stopping || source->claimed - source->released == source->part_count ||
        (!source->reader->parallel && source->parsing > 0))
        return NULL;
    size_t end = source->reader->cut(source->state, source->cut_at);
    RIG_INVARIANT(end >= source->cut_at && end <= source->bytes.size);
    if (end == source->cut_at && !source->settled) {
        source->hungry = true;
        return NULL;
    }
    struct rig_source_part *part = &source->parts[source->claimed++ % source->part_count];
    RIG_INVARIANT(part->state == RIG_PART_FREE);
    RIG_INVARIANT(source->idle_count > 0);
    part->state = RIG_PART_TAKEN;
    part->segment = source->idle[--source->idle_count];
    part->begin = source->cut_at;
    part->end = source->cut_at = end == source->cut_at ? source->bytes.size : end;
    source->parsing++;
    return part;
}

/* Parses the claimed part. Takes the lock at the end and keeps it. */
static void parse(struct rig_source *source, struct rig_source_part *part)
{
    rig_source_bytes_prepare(&source->bytes, part->begin, part->end);
    rig_segment_reset(part->segment);
    part->err = (struct rig_err){0};
    part->rc = source->reader->parse(source->state, part->begin, part->end, part->segment, &part->err);
    if (part->rc == RIG_OK && !source->merged && !source->uses_only)
        (void)rig_segment_note_make(&part->segment->note, part->segment); /* else the window does, if there is memory */
    pthread_mutex_lock(&source->lock);
    part->state = RIG_PART_READY;
    source->parsing--;
    source->broken |= part->rc != RIG_OK;
    if (!source->reader->parallel)
        pthread_cond_signal(&source->may_claim);
    pthread_cond_signal(&source->is_ready);
}

static void *parse_parts(void *context)
{
    struct rig_source *source = context;
    pthread_mutex_lock(&source->lock);
    while (!source->stopping) {
        struct rig_source_part *part = claim(source);
        if (part == NULL) {
            pthread_cond_wait(&source->may_claim, &source->lock);
            continue;
        }
        pthread_mutex_unlock(&source->lock);
        parse(source, part);
    }
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

/* Fewer threads than requested are slower, but not an error. */
static void start_threads(struct rig_source *source)
{
    while (source->thread_count + 1 < source->options.threads &&
           rig_thread_start(&source->threads[source->thread_count], parse_parts, source) == 0)
        source->thread_count++;
}

void rig_source_stop_threads(struct rig_source *source)
{
    pthread_mutex_lock(&source->lock);
    source->stopping = true;
    pthread_cond_broadcast(&source->may_claim);
    pthread_mutex_unlock(&source->lock);
    for (unsigned i = 0; i < source->thread_count; i++)
        pthread_join(source->threads[i], NULL);
}

/* ---- the plan of parts ---- */

unsigned rig_source_part_count(const struct rig_source *source, const struct rig_form_reader *reader)
{
    unsigned threads = source->options.threads;
    return threads == 1 ? 1 : reader->parallel ? threads + 2 : 3;
}

/* The length of each of `part_count` parts under the limit. A single part is as long as one of three, because its
 * content enters the window at once. */
size_t rig_source_part_share(const struct rig_source *source, const struct rig_form_reader *reader, unsigned part_count)
{
    const unsigned shares = part_count < LEAST_SHARES ? LEAST_SHARES : part_count;
    return source->options.load.limit_bytes / READ_SHARE / shares / (reader->held_per_byte + 1);
}

/*
 * Half of a limit is for decoding: four times the planned memory. Without a limit, a file is refused if it takes a
 * thousand times its size or most of the machine's memory: no program records such a history.
 */
static void limit_decoding(struct rig_source *source)
{
    struct rig_load_options *load = &source->options.load;
    const size_t machine_bytes = rig_machine_memory_bytes() / 4 * 3;
    size_t most = source->bytes.size > SIZE_MAX / DECODED_PER_BYTE ? SIZE_MAX : source->bytes.size * DECODED_PER_BYTE;
    most = most < least_decode_bytes ? least_decode_bytes : most > machine_bytes ? machine_bytes : most;
    const size_t all = load->limit_bytes > 0 ? load->limit_bytes / 2 : most;
    source->most_bytes = most;
    const bool shared = load->limit_bytes > 0 && source->part_count > 1;
    load->segment_bytes = shared ? all / source->part_count : all;
    load->decode_bytes = shared && source->reader->parallel ? load->segment_bytes : all;
    if (load->decode_bytes < least_part_decode_bytes)
        load->decode_bytes = least_part_decode_bytes;
}

/* The number of parts in memory at a time, and their length. */
static void plan_parts(struct rig_source *source)
{
    const struct rig_form_reader *reader = source->reader;
    size_t part_bytes = reader->usual_part_bytes, most = SIZE_MAX;
    source->part_count = rig_source_part_count(source, reader);
    if (source->options.load.limit_bytes > 0) {
        while (source->part_count > 1 && rig_source_part_share(source, reader, source->part_count) < least_part_bytes)
            source->part_count--;
        if (source->part_count < LEAST_SHARES)
            source->part_count = source->options.threads = 1;
        most = rig_source_part_share(source, reader, source->part_count);
        part_bytes = most < part_bytes ? most : part_bytes;
    }
    source->options.load.usual_part_bytes = part_bytes > least_part_bytes ? part_bytes : least_part_bytes;
    source->options.load.most_part_bytes = most > least_part_bytes ? most : least_part_bytes;
    limit_decoding(source);
    source->planned_bytes =
        source->part_count * source->options.load.usual_part_bytes * (reader->held_per_byte + (size_t)1);
}

bool rig_source_make_parts(struct rig_source *source)
{
    plan_parts(source);
    source->parts = calloc(source->part_count, sizeof *source->parts);
    source->segments = calloc(source->part_count, sizeof *source->segments);
    source->idle = calloc(source->part_count, sizeof *source->idle);
    if (source->parts == NULL || source->segments == NULL || source->idle == NULL)
        return false;
    for (unsigned i = 0; i < source->part_count; i++) {
        rig_segment_init(&source->segments[i], source->options.load.decode_bytes);
        source->idle[source->idle_count++] = &source->segments[i];
    }
    return true;
}

/* ---- the reader's side ---- */

void rig_source_release_part(struct rig_source *source)
{
    if (source->released == source->given)
        return;
    struct rig_source_part *part = &source->parts[source->released++ % source->part_count];
    if (part->end - source->passed_from >= PASSED_BYTES) {
        rig_source_bytes_release(&source->bytes, source->passed_from, part->end);
        source->passed_from = part->end;
    }
    part->state = RIG_PART_FREE;
    source->idle[source->idle_count++] = part->segment;
    pthread_cond_signal(&source->may_claim);
}

/* After everything was parsed: whether there is more. Under the lock; no part is being parsed. */
static enum rig_rc look_for_more(struct rig_source *source, bool *more, struct rig_err *err)
{
    *more = false;
    if (source->settled)
        return RIG_OK;
    enum rig_rc rc = rig_source_bytes_grow(&source->bytes, source->name, more, err);
    if (rc != RIG_OK)
        return rc;
    if (*more) {
        source->facts.size_bytes = source->bytes.size;
        source->reader->grow(source->state, source->bytes.data, source->bytes.size);
    } else if (source->settling) {
        source->settled = true;
        *more = source->cut_at < source->bytes.size;
    }
    source->hungry &= !*more;
    pthread_cond_broadcast(&source->may_claim);
    return RIG_OK;
}

/* Parses a part here instead of waiting. Under the lock, which is released meanwhile. */
static bool help(struct rig_source *source)
{
    struct rig_source_part *part = claim(source);
    if (part == NULL)
        return false;
    bool more = source->cut_at < source->bytes.size;
    pthread_mutex_unlock(&source->lock);
    if (more && source->thread_count == 0 && source->options.threads > 1)
        start_threads(source);
    parse(source, part);
    return true;
}

enum rig_rc rig_source_wait_for_part(struct rig_source *source, struct rig_source_part **next, struct rig_err *err)
{
    struct rig_source_part *part = &source->parts[source->given % source->part_count];
    for (;;) {
        if (source->given < source->claimed && part->state == RIG_PART_READY) {
            source->given++;
            *next = part;
            return RIG_OK;
        }
        if (help(source))
            continue;
        if (source->given < source->claimed) {
            pthread_cond_wait(&source->is_ready, &source->lock);
            continue;
        }
        bool more;
        enum rig_rc rc = look_for_more(source, &more, err);
        if (rc != RIG_OK || !more)
            return rc;
    }
}

/* The memory of a part depends on its content, above all on long lists. */
void rig_source_measure(struct rig_source *source, const struct rig_source_part *part)
{
    size_t bytes = rig_segment_used_bytes(part->segment) + (part->end - part->begin);
    if (bytes > source->largest_bytes)
        source->largest_bytes = bytes;
    source->facts.parts_bytes = source->part_count * (source->largest_bytes + source->largest_bytes / MORE_SHARE);
}

/* The end: nothing more is parsed unless the source is read again. */
void rig_source_empty_segments(struct rig_source *source)
{
    pthread_mutex_lock(&source->lock);
    RIG_INVARIANT(source->idle_count == source->part_count);
    for (unsigned i = 0; i < source->part_count; i++) {
        rig_segment_done(&source->segments[i]);
        rig_segment_init(&source->segments[i], source->options.load.decode_bytes);
    }
    pthread_mutex_unlock(&source->lock);
}

void rig_source_pause(struct rig_source *source)
{
    pthread_mutex_lock(&source->lock);
    source->paused = true;
    while (source->parsing > 0)
        pthread_cond_wait(&source->is_ready, &source->lock);
    pthread_mutex_unlock(&source->lock);
}

void rig_source_resume_at(struct rig_source *source, size_t begin)
{
    pthread_mutex_lock(&source->lock);
    source->idle_count = 0;
    for (unsigned i = 0; i < source->part_count; i++) {
        source->parts[i].state = RIG_PART_FREE;
        source->idle[source->idle_count++] = &source->segments[i];
    }
    source->cut_at = source->given_end = source->passed_from = begin;
    source->claimed = source->given = source->released = 0;
    source->hungry = source->broken = source->paused = false;
    pthread_cond_broadcast(&source->may_claim);
    pthread_mutex_unlock(&source->lock);
}
