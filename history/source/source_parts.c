#include "history/source/source_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/machine.h"
#include "base/thread.h"
#include "history/import/cobra_logs.h"
#include "history/source/source_private.h"

static const size_t largest_at_once_bytes = (size_t)32 << 20;
enum {
    AT_ONCE_SHARE = 16, /* of the limit */
    FIRST_LOOK_BYTES = 64 << 10,
    LAST_LOOK_BYTES = 64 << 20,
    LOOK_FACTOR = 32,
};

/* The beginning first: an input that cannot be a history is not read to its end, which may never come. */
static enum rig_rc read_stream(struct rig_buf *buf, int fd, const char *name, rig_source_look *look,
                               struct rig_err *err)
{
    bool undecided = true;
    enum rig_rc rc = RIG_OK;
    for (size_t size = FIRST_LOOK_BYTES; rc == RIG_OK && undecided && size <= LAST_LOOK_BYTES; size *= LOOK_FACTOR) {
        rc = rig_buf_read_up_to(buf, fd, size, name, err);
        if (rc != RIG_OK || buf->size < size)
            return rc;
        undecided = false;
        rc = look(name, buf->data, buf->size, &undecided, err);
    }
    if (rc == RIG_OK && undecided)
        rc = rig_fail(err, RIG_E_INPUT, "%s:1:1: is not a history: its first operation has no end within %d MiB", name,
                      LAST_LOOK_BYTES >> 20);
    return rc == RIG_OK ? rig_buf_read_up_to(buf, fd, SIZE_MAX, name, err) : rc;
}

static enum rig_rc open_stream(struct rig_source_bytes *bytes, int fd, const char *name, size_t limit_bytes,
                               rig_source_look *look, struct rig_err *err)
{
    struct rig_err why = {0};
    rig_buf_init(&bytes->buf, (limit_bytes == 0 ? rig_machine_memory_bytes() : limit_bytes) / 2);
    enum rig_rc rc = read_stream(&bytes->buf, fd, name, look, &why);
    if (rc == RIG_E_LIMIT)
        return rig_fail(err, rc,
                        "%s: input from a pipe is kept in memory, and may take half of it; save it to a file, which "
                        "is read in parts, or raise --max-memory",
                        name);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s", why.text);
    bytes->data = bytes->buf.data;
    bytes->size = bytes->buf.size;
    return rc;
}

static enum rig_rc map(struct rig_source_bytes *bytes, const char *name, size_t size, struct rig_err *err)
{
    bool in_parts = size > bytes->at_once_bytes;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | (in_parts ? 0 : MAP_POPULATE), bytes->fd, 0);
    if (data == MAP_FAILED)
        return rig_fail(err, RIG_E_IO, "%s: cannot map: %s", name, strerror(errno));
    if (in_parts)
        (void)madvise(data, size, MADV_SEQUENTIAL);
    if (bytes->is_mapped)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    bytes->data = data;
    bytes->size = size;
    bytes->in_parts = in_parts;
    bytes->is_mapped = true;
    return RIG_OK;
}

/* Standard input is a file, too, if it was redirected from the beginning of one. */
static enum rig_rc open_input(struct rig_source_bytes *bytes, size_t limit_bytes, rig_source_look *look,
                              struct rig_err *err)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
        bytes->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (bytes->fd >= 0)
            return map(bytes, "standard input", (size_t)status.st_size, err);
    }
    return open_stream(bytes, STDIN_FILENO, "standard input", limit_bytes, look, err);
}

/* The logs in a folder: each is a part of the history. */
static enum rig_rc open_folder(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes,
                               struct rig_err *err)
{
    rig_buf_init(&bytes->buf, (limit_bytes == 0 ? rig_machine_memory_bytes() : limit_bytes) / 2);
    enum rig_rc rc = rig_cobra_folder_read(path, &bytes->buf, err);
    bytes->data = bytes->buf.data;
    bytes->size = bytes->buf.size;
    return rc;
}

static enum rig_rc open_file(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes,
                             rig_source_look *look, struct rig_err *err)
{
    struct stat status;
    bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (bytes->fd < 0 || fstat(bytes->fd, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode) && rig_cobra_folder(path))
        return open_folder(bytes, path, limit_bytes, err);
    if (S_ISDIR(status.st_mode))
        return rig_fail(err, RIG_E_IO, "%s: is a folder; name the history in it", path);
    if (S_ISREG(status.st_mode) && status.st_size > 0)
        return map(bytes, path, (size_t)status.st_size, err);
    return open_stream(bytes, bytes->fd, path, limit_bytes, look, err);
}

enum rig_rc rig_source_bytes_open(struct rig_source_bytes *bytes, const char *path, size_t limit_bytes, bool grows,
                                  rig_source_look *look, struct rig_err *err)
{
    size_t share = limit_bytes / AT_ONCE_SHARE;
    size_t at_once_bytes = limit_bytes == 0 || share > largest_at_once_bytes ? largest_at_once_bytes : share;
    *bytes = (struct rig_source_bytes){.fd = -1, .at_once_bytes = grows ? 0 : at_once_bytes};
    rig_buf_init(&bytes->buf, 0);
    enum rig_rc rc = strcmp(path, "-") == 0 ? open_input(bytes, limit_bytes, look, err)
                                            : open_file(bytes, path, limit_bytes, look, err);
    if (rc != RIG_OK)
        rig_source_bytes_close(bytes);
    return rc;
}

void rig_source_bytes_borrow(struct rig_source_bytes *bytes, const void *data, size_t size)
{
    *bytes = (struct rig_source_bytes){.data = data, .size = size, .fd = -1};
    rig_buf_init(&bytes->buf, 0);
}

void rig_source_bytes_replace(struct rig_source_bytes *bytes, struct rig_buf *buf)
{
    rig_source_bytes_close(bytes);
    bytes->buf = *buf;
    bytes->data = buf->data;
    bytes->size = buf->size;
    rig_buf_init(buf, 0);
}

void rig_source_bytes_close(struct rig_source_bytes *bytes)
{
    if (bytes->is_mapped)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    if (bytes->fd >= 0)
        (void)close(bytes->fd);
    rig_buf_done(&bytes->buf);
    *bytes = (struct rig_source_bytes){.fd = -1};
}

/* If the file has grown, maps it anew (`data` moves) and sets *grown. */
static enum rig_rc source_bytes_grow(struct rig_source_bytes *bytes, const char *name, bool *grown, struct rig_err *err)
{
    struct stat status;
    *grown = false;
    if (!bytes->is_mapped)
        return RIG_OK;
    if (fstat(bytes->fd, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot look at it: %s", name, strerror(errno));
    if ((size_t)status.st_size <= bytes->size)
        return RIG_OK;
    *grown = true;
    return map(bytes, name, (size_t)status.st_size, err);
}

/* `advice` for the pages of [begin, end); if the kernel refuses, it only costs time. */
static void advise(const struct rig_source_bytes *bytes, size_t begin, size_t end, int advice)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = begin / page_bytes * page_bytes;
    if (bytes->is_mapped && first < end)
        (void)madvise((void *)(uintptr_t)(bytes->data + first), end - first, advice);
}

/* [begin, end) will be read, or is no longer needed. */
static void source_bytes_prepare(const struct rig_source_bytes *bytes, size_t begin, size_t end)
{
    if (!bytes->in_parts)
        return;
#ifdef MADV_POPULATE_READ
    advise(bytes, begin, end, MADV_POPULATE_READ);
#else
    advise(bytes, begin, end, MADV_WILLNEED);
#endif
}

void rig_source_bytes_release(const struct rig_source_bytes *bytes, size_t begin, size_t end)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    advise(bytes, begin, end / page_bytes * page_bytes, MADV_DONTNEED);
}

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
    source_bytes_prepare(&source->bytes, part->begin, part->end);
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
    enum rig_rc rc = source_bytes_grow(&source->bytes, source->name, more, err);
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
