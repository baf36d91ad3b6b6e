#include "history/record/record_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/record/record_certificate.h"
#include "history/record/record_file.h"
#include "history/record/record_frame.h"

void rig_rank_put(const struct rig_rank *rank, struct rig_buf *payload)
{
    rig_varint_put(payload, rank->number);
    rig_varint_put(payload, rank->count);
    rig_buf_add(payload, rank->run, sizeof rank->run);
    rig_varint_put_signed(payload, rank->origin_ns);
}

bool rig_rank_get(struct rig_record_cursor *cursor, struct rig_rank *rank)
{
    const uint64_t number = rig_cursor_number(cursor), count = rig_cursor_number(cursor);
    if (cursor->bad != NULL || count == 0 || count > RIG_RANKS_MOST || number >= count ||
        rig_cursor_left(cursor) < sizeof rank->run)
        return false;
    rank->number = (uint32_t)number;
    rank->count = (uint32_t)count;
    memcpy(rank->run, cursor->at, sizeof rank->run);
    cursor->at += sizeof rank->run;
    rank->origin_ns = rig_cursor_signed(cursor);
    return cursor->bad == NULL && rank->origin_ns > -(INT64_C(1) << 61) && rank->origin_ns < INT64_C(1) << 61;
}

void rig_clock_samples_put(const struct rig_clock_sample *samples, size_t count, struct rig_buf *payload)
{
    rig_varint_put(payload, count);
    for (size_t i = 0; i < count; i++) {
        rig_varint_put_signed(payload, samples[i].local_ns);
        rig_varint_put_signed(payload, samples[i].offset_ns);
        rig_varint_put(payload, samples[i].error_ns);
    }
}

static enum rig_rc get_samples(const struct rig_record_file *file, const struct rig_frame *frame,
                               struct rig_clock_samples *samples, struct rig_err *err)
{
    struct rig_record_cursor cursor = {.at = frame->payload, .end = frame->payload + frame->size};
    const uint64_t count = rig_cursor_number(&cursor);
    for (uint64_t i = 0; i < count && cursor.bad == NULL; i++) {
        struct rig_clock_sample sample = {.local_ns = rig_cursor_signed(&cursor)};
        sample.offset_ns = rig_cursor_signed(&cursor);
        sample.error_ns = rig_cursor_number(&cursor);
        if (cursor.bad == NULL && !rig_clock_samples_add(samples, sample))
            return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the samples of its clock", file->name);
    }
    if (cursor.bad != NULL || rig_cursor_left(&cursor) != 0)
        return rig_fail(err, RIG_E_INPUT, "%s: byte %zu: samples of a clock that this version does not have",
                        file->name, (size_t)(frame->payload - file->data));
    return RIG_OK;
}

/* Adds those of all undamaged frames; the frames of a damaged or cut record count up to its first incomplete one. */
static enum rig_rc clock_samples_find(const struct rig_record_file *file, struct rig_clock_samples *samples,
                                      struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    uint64_t number = 1;
    struct rig_frame frame;
    for (size_t at = file->header_end, next; rc == RIG_OK && at < file->size; at = next, number++) {
        next = rig_record_frame_end(file, at);
        if (next == 0)
            break;
        if (rig_record_frame_is(file, at, RIG_FRAME_CLOCK) &&
            rig_frame_read(file->data + at, file->size - at, number, &frame))
            rc = get_samples(file, &frame, samples, err);
    }
    return rc;
}

enum {
    PART_BYTES = 1 << 20,
    SHORT_PART_BYTES = 1 << 18, /* of parts in order: their segment stays in the cache; plus */
    CLIENT_BYTES = 128,         /* this many a client, whose open transaction each segment processes */
    HELD_PER_BYTE = 10,
    LEAST_BLOCKS = 8,   /* if blocks are long: with fewer, too much would be held before the first is judged */
    UNPACKED_TIMES = 8, /* limit for the unpacked size of a block */
    RELEASE_BYTES = 16 << 20
};
static const size_t usual_block_bytes = (size_t)3 << 19, largest_block_bytes = (size_t)64 << 20;

struct reader {
    size_t part_bytes; /* at most, for parts in order */
    bool part_bytes_given;
    size_t frame_begin, frame_end; /* of the frame in or after which the last cut is */
    struct rig_record_file file;
    struct rig_record_run *run; /* what was decoded last, in the order of the file */
    struct rig_certificate certificate;
    struct rig_clock_samples clock;
    bool has_lone;
    bool ended;                     /* the last run stopped: nothing after it counts */
    struct rig_record_counts start; /* of the first block that was joined */
};

static struct rig_record_run *new_run(const struct rig_record_file *file)
{
    struct rig_record_run *run = malloc(sizeof *run);
    if (run != NULL)
        rig_record_run_init(run, file);
    return run;
}

static void free_run(void *run)
{
    if (run != NULL)
        rig_record_run_done(run);
    free(run);
}

static void reader_close(void *state)
{
    struct reader *reader = state;
    if (reader == NULL)
        return;
    free_run(reader->run);
    rig_certificate_done(&reader->certificate);
    rig_clock_samples_done(&reader->clock);
    rig_record_file_done(&reader->file);
    free(reader);
}

static enum rig_rc reader_open(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                               struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", name);
    *state = reader;
    reader->part_bytes_given = options->part_bytes != 0;
    reader->part_bytes = options->part_bytes == 0 ? options->usual_part_bytes : options->part_bytes;
    enum rig_rc rc = rig_record_file_init(&reader->file, name, data, size, options, err);
    if (rc != RIG_OK)
        return rc;
    reader->run = new_run(&reader->file);
    if (reader->run == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", name);
    rig_record_run_start(reader->run, &reader->file, reader->file.header_end, 1);
    if ((reader->file.shape.flags & RIG_RECORD_RANK) != 0)
        rc = clock_samples_find(&reader->file, &reader->clock, err);
    if (rc != RIG_OK)
        return rc;
    facts->form = RIG_FORM_RIG;
    facts->rank = reader->file.rank;
    facts->clock = reader->clock.at;
    facts->clock_count = reader->clock.count;
    facts->workload = reader->file.shape.workload;
    facts->meta = reader->file.meta;
    facts->start_utc_ns = reader->file.start_utc_ns;
    facts->skipped_count = reader->file.skipped_count;
    facts->keyword_keys = (reader->file.shape.flags & RIG_RECORD_KEYWORD_KEYS) != 0;
    facts->value_keys = (reader->file.shape.flags & RIG_RECORD_VALUE_KEYS) != 0;
    facts->reads_at_once = (reader->file.shape.flags & RIG_RECORD_READS_AT_ONCE) != 0;
    facts->has_all_rows = (reader->file.shape.flags & RIG_RECORD_ALL_ROWS) != 0;
    return RIG_OK;
}

static void tell_damage(const struct reader *reader, struct rig_source_facts *facts)
{
    const struct rig_record_file *file = &reader->file;
    const struct rig_record_run *last = reader->run;
    const struct rig_record_damage damage =
        rig_record_damage_at(file->data, file->size, file->shape.version, last->next, last->frame_number);
    if (!damage.is_damaged)
        return;
    facts->damaged_at = last->next;
    facts->damaged_bytes = damage.bytes;
    facts->damaged_frames = damage.frames;
    facts->damaged_txns = damage.txns > last->decoder.txn_count ? damage.txns - last->decoder.txn_count : 0;
}

static enum rig_rc find_certificate(struct reader *reader, struct rig_source_facts *facts, struct rig_err *err)
{
    if ((reader->file.shape.flags & RIG_RECORD_CERTIFICATE) == 0)
        return RIG_OK;
    rig_certificate_done(&reader->certificate);
    const enum rig_rc rc = rig_certificate_decode(&reader->file, reader->run->next, &reader->certificate, err);
    facts->certificate = rc == RIG_OK ? &reader->certificate : NULL;
    return rc;
}

static enum rig_rc reader_finish(void *state, struct rig_source_facts *facts, struct rig_err *err)
{
    struct reader *reader = state;
    facts->truncated = !reader->run->closed || reader->run->was_cut;
    facts->has_invocations = !reader->has_lone;
    facts->workload = reader->file.shape.workload;
    facts->start_utc_ns = reader->file.start_utc_ns;
    facts->meta = reader->file.meta;
    if (!reader->run->closed && reader->file.header_end != 0)
        tell_damage(reader, facts);
    return find_certificate(reader, facts, err);
}

/* ---- In order ---- */

static size_t part_bytes_of(const struct reader *reader)
{
    const size_t for_clients = reader->run->decoder.slots.count * CLIENT_BYTES;
    const size_t wanted = for_clients < SHORT_PART_BYTES ? SHORT_PART_BYTES : for_clients;
    return reader->part_bytes_given || wanted > reader->part_bytes ? reader->part_bytes : wanted;
}

/* The share of `whole` that `part` is of `all`. */
static size_t share_of(uint64_t whole, uint64_t part, uint64_t all)
{
    return (size_t)((long double)whole * (long double)part / (long double)all);
}

/*
 * The end of a part: after the last of its complete frames, which are of one block, or within a frame of events that is
 * too long for one part; `begin` if there is no complete frame.
 */
static size_t frames_cut(void *state, size_t begin)
{
    struct reader *reader = state;
    const struct rig_record_file *file = &reader->file;
    const size_t part_bytes = part_bytes_of(reader), first = begin == 0 ? file->header_end : begin;
    size_t end = first, least = first, last = first; /* `last`: where the last frame, or its rest, begins */
    uint64_t weight = 0, last_weight = 0;
    if (reader->frame_end > first && first > 0) {
        end = reader->frame_end;
        weight = last_weight =
            share_of(rig_record_frame_weight(file, reader->frame_begin, end), end - first, end - reader->frame_begin);
    }
    while (end < file->size && weight < part_bytes) {
        size_t frame_end = rig_record_frame_end(file, end);
        if (frame_end == 0 || (end > first && rig_record_frame_is(file, end, RIG_FRAME_CHECKPOINT)))
            break;
        if (!rig_record_frame_is(file, end, RIG_FRAME_EVENTS))
            least = frame_end;
        last = reader->frame_begin = end;
        last_weight = rig_record_frame_weight(file, end, frame_end);
        weight += last_weight;
        reader->frame_end = end = frame_end;
    }
    if (weight <= part_bytes + part_bytes / 2)
        return end;
    const size_t cut = last + 1 + share_of(end - last, part_bytes - (weight - last_weight), last_weight);
    return cut <= least ? least : cut < end ? cut : end;
}

static enum rig_rc frames_parse(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err)
{
    struct reader *reader = state;
    struct rig_record_run *run = reader->run;
    if (begin == 0)
        rig_record_run_start(run, &reader->file, reader->file.header_end, 1);
    RIG_INVARIANT(begin == 0 || run->stopped || reader->file.header_end == 0 ||
                  (run->frame_end == 0 ? run->next >= begin : run->next < begin && begin < run->frame_end));
    enum rig_rc rc = rig_record_run_decode(run, end, segment, err);
    reader->has_lone |= run->decoder.has_lone;
    return rc;
}

static void frames_grow(void *state, const char *data, size_t size)
{
    struct reader *reader = state;
    rig_record_file_grow(&reader->file, data, size);
}

/* Whether the header, which should be complete, is damaged. */
static enum rig_rc look_at_header(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err)
{
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    struct rig_record_file file;
    const enum rig_rc rc = rig_record_file_init(&file, name, data, size, &options, err);
    *undecided = rc == RIG_OK && file.header_end == 0;
    rig_record_file_done(&file);
    return rc;
}

const struct rig_form_reader rig_record_reader = {
    .parallel = false,
    .usual_part_bytes = PART_BYTES,
    .held_per_byte = HELD_PER_BYTE,
    .open = reader_open,
    .cut = frames_cut,
    .parse = frames_parse,
    .finish = reader_finish,
    .grow = frames_grow,
    .close = reader_close,
    .look = look_at_header,
};

/* ---- Block by block ---- */

/* Whether no block is longer than the one limit, nor unpacked than the other. Releases the pages that it has read. */
static bool blocks_fit(const struct rig_record_file *file, const struct rig_source_bytes *bytes, size_t most_bytes,
                       size_t most_weight)
{
    size_t begin = file->header_end, released = 0, at = begin, end;
    uint64_t weight = 0;
    while (at < file->size && at - begin <= most_bytes && weight <= most_weight &&
           (end = rig_record_frame_end(file, at)) != 0) {
        if (rig_record_frame_is(file, at, RIG_FRAME_CHECKPOINT)) {
            begin = at;
            weight = 0;
        }
        weight += rig_record_frame_weight(file, at, end);
        at = end;
        if (at - released > RELEASE_BYTES) {
            rig_source_bytes_release(bytes, released, at);
            released = at;
        }
    }
    rig_source_bytes_release(bytes, released, at);
    return at - begin <= most_bytes && weight <= most_weight;
}

bool rig_record_has_blocks(const struct rig_source_bytes *bytes, size_t most_bytes)
{
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    struct rig_record_file file;
    enum rig_rc rc = rig_record_file_init(&file, "", bytes->data, bytes->size, &options, NULL);
    size_t most = bytes->size / LEAST_BLOCKS < usual_block_bytes ? usual_block_bytes : bytes->size / LEAST_BLOCKS;
    most = most > largest_block_bytes ? largest_block_bytes : most;
    most = most_bytes > 0 && most > most_bytes ? most_bytes : most;
    const size_t most_weight = most_bytes > 0 ? most : UNPACKED_TIMES * most;
    bool has =
        rc == RIG_OK && file.header_end != 0 && file.shape.version > 1 && blocks_fit(&file, bytes, most, most_weight);
    rig_record_file_done(&file);
    return has;
}

/* The end of the last complete frame before the next checkpoint; the end of the file if a frame is incomplete. */
static size_t blocks_cut(void *state, size_t begin)
{
    const struct reader *reader = state;
    const struct rig_record_file *file = &reader->file;
    size_t first = begin == 0 ? file->header_end : begin;
    for (size_t at = first; at < file->size;) {
        size_t end = rig_record_frame_end(file, at);
        if (end == 0)
            break;
        at = end;
        if (rig_record_frame_is(file, at, RIG_FRAME_CHECKPOINT))
            return at;
    }
    return file->size;
}

/* An error may be after a damaged frame: blocks_join() reports errors in order. */
static enum rig_rc blocks_parse(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err)
{
    const struct reader *reader = state;
    const struct rig_record_file *file = &reader->file;
    struct rig_record_run *run = segment->reader_part;
    if (run == NULL)
        run = segment->reader_part = new_run(file);
    if (run == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", file->name);
    segment->reader_part_free = free_run;
    if (begin == 0)
        rig_record_run_start(run, file, file->header_end, 1);
    else
        rig_record_run_start(run, file, begin, rig_record_checkpoint_number(file, begin));
    (void)rig_record_run_decode(run, end, segment, &run->err);
    return RIG_OK;
}

/* Nothing after a damaged frame counts; transactions open before it stay open. */
static enum rig_rc leave_out(struct reader *reader, struct rig_segment *segment, struct rig_err *err)
{
    reader->ended = true;
    rig_segment_reset(segment);
    reader->run->decoder.err = err;
    rig_record_decoder_begin(&reader->run->decoder, segment);
    return rig_record_decoder_end(&reader->run->decoder);
}

static enum rig_rc blocks_join(void *state, struct rig_segment *segment, struct rig_err *err)
{
    struct reader *reader = state;
    struct rig_record_run *last = reader->run;
    struct rig_record_run *run = segment->reader_part;
    const bool first = !last->in_block;
    if (reader->ended || last->stopped)
        return leave_out(reader, segment, err);
    if (last->closed) {
        run->decoder.base = reader->file.data;
        run->decoder.base_at = 0;
        run->decoder.cursor.at = reader->file.data + last->next;
        run->decoder.err = err;
        return rig_record_damaged(&run->decoder, "data after the closing frame");
    }
    if (run->first_number != last->frame_number || (run->stopped && !run->in_block))
        return leave_out(reader, segment, err);
    if (run->err.rc != RIG_OK)
        return rig_fail(err, run->err.rc, "%s", run->err.text);
    reader->run = run;
    segment->reader_part = last; /* for its memory */
    reader->has_lone |= run->decoder.has_lone;
    if (first)
        reader->start = run->first;
    return first ? RIG_OK : rig_record_goes_on(last, run, err);
}

bool rig_record_find_blocks(void *state, const struct rig_source_bytes *bytes, struct rig_source_offsets *blocks)
{
    const struct reader *reader = state;
    size_t released = 0, begin = 0;
    bool fits = (reader->file.shape.flags & RIG_RECORD_CERTIFICATE) == 0;
    for (blocks->count = 0; fits && begin < bytes->size; begin = blocks_cut(state, begin)) {
        fits = rig_source_offsets_add(blocks, begin);
        if (begin - released > RELEASE_BYTES) {
            rig_source_bytes_release(bytes, released, begin);
            released = begin;
        }
    }
    rig_source_bytes_release(bytes, released, bytes->size);
    return fits;
}

/* From the checkpoint. */
static bool read_entry(struct rig_record_run *run, struct rig_segment *scratch, size_t at,
                       struct rig_source_entry *entry)
{
    const struct rig_record_file *file = run->file;
    const size_t end = rig_record_frame_end(file, at);
    struct rig_err err = {0};
    rig_segment_reset(scratch);
    rig_record_run_start(run, file, at, rig_record_checkpoint_number(file, at));
    if (end == 0 || rig_record_run_decode(run, end, scratch, &err) != RIG_OK || !run->in_block)
        return false;
    *entry = (struct rig_source_entry){.at = at, .txn_count = run->first.txns, .time_ns = run->first.last_time};
    return true;
}

bool rig_record_find_entries(void *state, const struct rig_source_bytes *bytes, struct rig_source_entries *entries)
{
    const struct reader *reader = state;
    struct rig_source_offsets blocks = {0};
    struct rig_segment scratch;
    struct rig_record_run *run = new_run(&reader->file);
    rig_segment_init(&scratch, 0);
    bool fits = run != NULL && (reader->file.shape.flags & RIG_RECORD_TIMES_DESCEND) == 0 &&
                rig_record_find_blocks(state, bytes, &blocks);
    for (size_t i = entries->count = 0; fits && i < blocks.count; i++) {
        struct rig_source_entry entry = {.at = 0, .time_ns = INT64_MIN};
        fits = (i == 0 || read_entry(run, &scratch, blocks.at[i], &entry)) && rig_source_entries_add(entries, entry);
    }
    rig_source_bytes_release(bytes, 0, bytes->size);
    free_run(run);
    rig_segment_done(&scratch);
    rig_source_offsets_done(&blocks);
    return fits;
}

bool rig_record_has_rank(const void *state)
{
    const struct reader *reader = state;
    return (reader->file.shape.flags & RIG_RECORD_RANK) != 0;
}

static uint64_t mark_of(const struct rig_record_counts *counts)
{
    const uint64_t numbers[] = {counts->events, counts->txns, counts->open, (uint64_t)counts->last_time,
                                counts->next_position};
    uint64_t mark = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        mark = (mark ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        mark ^= mark >> 29;
    }
    return mark;
}

void rig_record_marks(const void *state, uint64_t *start, uint64_t *end)
{
    const struct reader *reader = state;
    const struct rig_record_counts counts = rig_record_run_counts(reader->run);
    *start = mark_of(&reader->start);
    *end = mark_of(&counts);
}

void rig_record_begin_at(void *state, size_t block)
{
    struct reader *reader = state;
    if (block > 0)
        rig_record_run_start(reader->run, &reader->file, block, rig_record_checkpoint_number(&reader->file, block));
}

const struct rig_form_reader rig_record_blocks_reader = {
    .parallel = true,
    .usual_part_bytes = PART_BYTES,
    .held_per_byte = HELD_PER_BYTE,
    .open = reader_open,
    .cut = blocks_cut,
    .parse = blocks_parse,
    .join = blocks_join,
    .finish = reader_finish,
    .close = reader_close,
    .look = look_at_header,
};
