#include "history/record_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/form_reader.h"
#include "history/record_decoder.h"
#include "history/record_events.h"
#include "history/record_frame.h"
#include "history/window.h"

static const size_t part_bytes = (size_t)1 << 20;

struct reader {
    struct rig_record_shape shape;
    char *name;
    const uint8_t *data;
    size_t size;
    struct rig_load_options options;
    struct rig_source_facts *facts;
    char *meta;
    struct rig_record_decoder decoder;
    size_t next; /* where the frame numbered `frame_number` begins */
    uint64_t frame_number;
    bool has_header;
    bool stopped; /* a frame was not whole or damaged */
    bool closed;
    bool was_cut; /* says the closing frame */
};

bool rig_record_recognise(const void *data, size_t size)
{
    size_t compared = size < RIG_RECORD_MAGIC_BYTES ? size : (size_t)RIG_RECORD_MAGIC_BYTES;
    return size > 0 && memcmp(data, RIG_RECORD_MAGIC, compared) == 0;
}

/* ---- The beginning ---- */

/* The file's version; the record may be cut anywhere. */
static enum rig_rc check_start(const char *name, const uint8_t *data, size_t size, struct rig_err *err)
{
    if (!rig_record_recognise(data, size))
        return rig_fail(err, RIG_E_INPUT, "%s: byte 0: is no record of rig's; leave its form to be recognised", name);
    if (size < RIG_RECORD_START_BYTES)
        return RIG_OK;
    uint32_t version = (uint32_t)data[8] | (uint32_t)data[9] << 8 | (uint32_t)data[10] << 16 | (uint32_t)data[11] << 24;
    if (version != RIG_RECORD_VERSION)
        return rig_fail(err, RIG_E_INPUT,
                        "%s: byte 8: format version %u, and this rig reads version %d; use the rig that wrote it", name,
                        (unsigned)version, RIG_RECORD_VERSION);
    static const uint8_t zero[4] = {0};
    if (memcmp(data + 12, zero, sizeof zero) != 0)
        return rig_fail(err, RIG_E_INPUT, "%s: byte 12: the start is damaged; nothing can be read from it", name);
    return RIG_OK;
}

static enum rig_rc keep_meta(struct reader *reader, const uint8_t *meta, size_t length)
{
    reader->meta = malloc(length + 1);
    if (reader->meta == NULL)
        return rig_record_no_memory(&reader->decoder);
    if (length > 0)
        memcpy(reader->meta, meta, length);
    reader->meta[length] = '\0';
    return RIG_OK;
}

static enum rig_rc decode_header(struct reader *reader)
{
    struct rig_record_decoder *decoder = &reader->decoder;
    struct rig_record_cursor *cursor = &decoder->cursor;
    uint64_t workload = rig_cursor_number(cursor);
    uint64_t flags = rig_cursor_number(cursor);
    (void)rig_cursor_signed(cursor); /* the start's wall-clock time */
    uint64_t skipped_count = rig_cursor_number(cursor);
    uint64_t meta_bytes = rig_cursor_number(cursor);
    if (cursor->bad != NULL)
        return rig_record_no_number(decoder);
    if (workload >= RIG_WORKLOAD_COUNT || flags > RIG_RECORD_FLAGS_KNOWN)
        return rig_record_damaged(decoder, "a workload or flag that this version does not have");
    if ((flags & RIG_RECORD_KEYWORD_KEYS) != 0 && (flags & RIG_RECORD_TEXT_KEYS) == 0)
        return rig_record_damaged(decoder, "keyword keys that are no texts");
    size_t left = rig_cursor_left(cursor);
    if (meta_bytes != (meta_bytes == 0 ? left : left + 1))
        return rig_record_damaged(decoder, "a header of the wrong length");
    reader->shape.workload = (enum rig_workload)workload;
    reader->shape.flags = (unsigned)flags;
    reader->has_header = true;
    reader->facts->workload = reader->shape.workload;
    reader->facts->keyword_keys = (flags & RIG_RECORD_KEYWORD_KEYS) != 0;
    reader->facts->skipped_count = skipped_count;
    if (reader->options.workload_given && reader->options.workload != reader->shape.workload)
        return rig_fail(decoder->err, RIG_E_INPUT, "%s: records another workload than the one asked for; leave it out",
                        reader->name);
    enum rig_rc rc = meta_bytes == 0 ? RIG_OK : keep_meta(reader, cursor->at, left);
    reader->facts->meta = reader->meta;
    return rc;
}

/* The header, once it is whole. Cut before: nothing was recorded, which is no error, unless the header is damaged. */
static enum rig_rc read_header(struct reader *reader)
{
    struct rig_frame frame;
    const uint8_t *at = reader->data + RIG_RECORD_START_BYTES;
    if (reader->size <= RIG_RECORD_START_BYTES + RIG_FRAME_HEAD_BYTES ||
        !rig_frame_is_whole(at, reader->size - RIG_RECORD_START_BYTES))
        return RIG_OK;
    if (!rig_frame_read(at, reader->size - RIG_RECORD_START_BYTES, 0, &frame))
        return rig_fail(reader->decoder.err, RIG_E_INPUT,
                        "%s: byte 16: the header is damaged; nothing can be read from it", reader->name);
    reader->decoder.cursor = (struct rig_record_cursor){.at = frame.payload, .end = frame.payload + frame.size};
    if (frame.type != RIG_FRAME_HEADER)
        return rig_record_damaged(&reader->decoder, "a frame that does not belong here");
    reader->next = RIG_RECORD_START_BYTES + RIG_FRAME_HEAD_BYTES + frame.size;
    reader->frame_number = 1;
    return decode_header(reader);
}

static void reader_close(void *state)
{
    struct reader *reader = state;
    if (reader == NULL)
        return;
    rig_record_decoder_done(&reader->decoder);
    free(reader->meta);
    free(reader->name);
    free(reader);
}

static enum rig_rc reader_open(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                               struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL || (reader->name = strdup(name)) == NULL) {
        free(reader);
        return rig_fail(err, RIG_E_LIMIT, "%s: no memory for reading it", name);
    }
    reader->data = (const uint8_t *)data;
    reader->size = size;
    reader->options = *options;
    reader->facts = facts;
    reader->shape = (struct rig_record_shape){
        .name = reader->name,
        .version = 1,
        .limit_bytes = options->limit_bytes == 0 ? SIZE_MAX : options->limit_bytes,
    };
    rig_record_decoder_init(&reader->decoder, &reader->shape);
    reader->decoder.data = reader->data;
    reader->decoder.err = err;
    facts->form = RIG_FORM_RIG;
    facts->workload = options->workload_given ? options->workload : RIG_WORKLOAD_LIST_APPEND;
    enum rig_rc rc = check_start(name, reader->data, size, err);
    if (rc == RIG_OK)
        rc = read_header(reader);
    if (rc == RIG_OK)
        *state = reader;
    else
        reader_close(reader);
    return rc;
}

/* ---- Parts ---- */

/* Behind the last of the whole frames that make a part; `begin` when there is no whole frame. */
static size_t reader_cut(void *state, size_t begin)
{
    const struct reader *reader = state;
    size_t end = begin == 0 && reader->has_header ? reader->next : begin;
    while (end < reader->size && end - begin < part_bytes) {
        const uint8_t *at = reader->data + end;
        if (!rig_frame_is_whole(at, reader->size - end))
            break;
        end += RIG_FRAME_HEAD_BYTES + rig_frame_size(at);
    }
    return end;
}

static enum rig_rc decode_close(struct reader *reader)
{
    struct rig_record_decoder *decoder = &reader->decoder;
    uint64_t flags = rig_cursor_number(&decoder->cursor);
    uint64_t event_count = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (flags > RIG_CLOSE_FLAGS_KNOWN || rig_cursor_left(&decoder->cursor) != 0)
        return rig_record_damaged(decoder, "a closing frame that this version does not have");
    if (event_count != decoder->event_count)
        return rig_record_damaged(decoder, "another number of events than the closing frame says");
    reader->closed = true;
    reader->was_cut = (flags & RIG_CLOSE_CUT) != 0;
    return RIG_OK;
}

static enum rig_rc decode_frame(struct reader *reader, const struct rig_frame *frame)
{
    reader->decoder.cursor = (struct rig_record_cursor){.at = frame->payload, .end = frame->payload + frame->size};
    if (frame->type == RIG_FRAME_EVENTS)
        return rig_record_decode_events(&reader->decoder);
    if (frame->type == RIG_FRAME_CLOSE)
        return decode_close(reader);
    return rig_record_damaged(&reader->decoder, "a frame that does not belong here");
}

static enum rig_rc reader_parse(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err)
{
    struct reader *reader = state;
    enum rig_rc rc = RIG_OK;
    RIG_INVARIANT(!reader->has_header || reader->stopped || begin == 0 || begin == reader->next);
    reader->decoder.err = err;
    rig_record_decoder_begin(&reader->decoder, segment);
    while (rc == RIG_OK && reader->has_header && !reader->stopped && reader->next < end) {
        struct rig_frame frame;
        const uint8_t *at = reader->data + reader->next;
        reader->decoder.cursor.at = at;
        if (reader->closed)
            return rig_record_damaged(&reader->decoder, "data behind the closing frame");
        if (!rig_frame_read(at, end - reader->next, reader->frame_number, &frame)) {
            reader->stopped = true;
            break;
        }
        rc = decode_frame(reader, &frame);
        reader->next += RIG_FRAME_HEAD_BYTES + frame.size;
        reader->frame_number++;
    }
    return rc == RIG_OK ? rig_record_decoder_end(&reader->decoder) : rc;
}

static enum rig_rc reader_finish(void *state, struct rig_source_facts *facts, struct rig_err *err)
{
    struct reader *reader = state;
    (void)err;
    facts->truncated = !reader->closed || reader->was_cut;
    facts->has_invocations = !reader->decoder.has_lone;
    return RIG_OK;
}

static void reader_grow(void *state, const char *data, size_t size)
{
    struct reader *reader = state;
    reader->data = (const uint8_t *)data;
    reader->decoder.data = reader->data;
    reader->size = size;
}

const struct rig_form_reader rig_record_reader = {
    .parallel = false,
    .open = reader_open,
    .cut = reader_cut,
    .parse = reader_parse,
    .finish = reader_finish,
    .grow = reader_grow,
    .close = reader_close,
};

/* ---- A whole record at once ---- */

static enum rig_rc read_parts(void *state, size_t size, struct rig_window *window, struct rig_segment *segment,
                              struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t begin = 0, end = 0; rc == RIG_OK && begin < size; begin = end) {
        end = reader_cut(state, begin);
        if (end == begin)
            end = size;
        rig_segment_reset(segment);
        rc = reader_parse(state, begin, end, segment, err);
        if (rc == RIG_OK)
            rc = rig_window_add(window, segment, err);
    }
    return rc;
}

enum rig_rc rig_record_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                             struct rig_history **history, struct rig_err *err)
{
    struct rig_source_facts facts = {0};
    struct rig_segment segment;
    struct rig_window *window = NULL;
    void *state = NULL;
    rig_segment_init(&segment, options->limit_bytes);
    enum rig_rc rc = reader_open(name, data, size, options, &facts, &state, err);
    if (rc == RIG_OK && (window = rig_window_new(facts.workload, options->limit_bytes)) == NULL)
        rc = rig_fail(err, RIG_E_LIMIT, "%s: no memory for the history", name);
    if (rc == RIG_OK)
        rc = read_parts(state, size, window, &segment, err);
    if (rc == RIG_OK)
        rc = reader_finish(state, &facts, err);
    if (rc == RIG_OK)
        rc = rig_window_give(window, &facts, history, err);
    else
        rig_window_free(window);
    reader_close(state);
    rig_segment_done(&segment);
    return rc;
}
