#include "history/record/record_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "history/record/record_decoder.h"
#include "history/record/record_events.h"
#include "history/record/record_frame.h"
#include "history/record/record_reader.h"

/*
 * A checkpoint of the binary record: the state that the events of its block refer to. Private to the record's readers.
 */

/* A count of items; each takes at least one of the remaining bytes. */
static enum rig_rc get_count(struct rig_record_decoder *decoder, uint64_t *count)
{
    *count = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    return *count <= rig_cursor_left(&decoder->cursor) ? RIG_OK
                                                       : rig_record_damaged(decoder, "a count larger than the frame");
}

static enum rig_rc get_spine(struct rig_record_decoder *decoder, struct rig_record_key *key)
{
    uint64_t count = 0;
    enum rig_rc rc = get_count(decoder, &count);
    if (rc != RIG_OK)
        return rc;
    if (count > UINT32_MAX ||
        (count > RIG_RECORD_FEW && !rig_record_may_take(decoder, 2 * count * sizeof *key->spine.at)) ||
        !rig_growing_list_reserve(&decoder->pool, &key->spine, (uint32_t)count))
        return rig_record_no_memory(decoder);
    struct rig_record_cursor cursor = decoder->cursor;
    int64_t last = 0;
    for (uint64_t i = 0; i < count; i++)
        key->spine.at[i] = last = rig_sum(last, rig_cursor_signed(&cursor));
    decoder->cursor = cursor;
    key->spine.count = key->good = (uint32_t)count;
    return cursor.bad == NULL ? RIG_OK : rig_record_no_number(decoder);
}

static enum rig_rc get_keys(struct rig_record_decoder *decoder)
{
    uint64_t count = 0;
    enum rig_rc rc = get_count(decoder, &count);
    for (uint64_t i = 0; rc == RIG_OK && i < count; i++) {
        rc = rig_record_define_key(decoder);
        if (rc != RIG_OK)
            return rc;
        struct rig_record_key *key = &decoder->keys.at[i];
        key->last_value = rig_cursor_signed(&decoder->cursor);
        rc = get_spine(decoder, key);
        if (rc == RIG_OK && i % RIG_RECORD_FEW == 0 && !rig_record_may_take(decoder, 0))
            rc = rig_record_no_memory(decoder);
    }
    return rc;
}

static enum rig_rc get_open_op(struct rig_record_decoder *decoder, struct rig_txn_op *op, uint32_t *key)
{
    uint64_t code = rig_cursor_number(&decoder->cursor);
    bool reads = (code & 1) != 0;
    if (code >> 1 >= decoder->keys.count)
        return rig_record_damaged(decoder, "an operation on a key that is not defined");
    *key = (uint32_t)(code >> 1);
    *op = (struct rig_txn_op){
        .kind = (uint8_t)((unsigned)decoder->shape->type->write_op + (unsigned)reads),
        .value = reads ? 0 : rig_cursor_signed(&decoder->cursor),
    };
    return RIG_OK;
}

static enum rig_rc get_open_txn(struct rig_record_decoder *decoder)
{
    uint64_t client = rig_cursor_number(&decoder->cursor);
    uint64_t back = rig_cursor_number(&decoder->cursor);
    int64_t process = rig_cursor_signed(&decoder->cursor);
    uint64_t flags = rig_cursor_number(&decoder->cursor);
    int64_t time_ns =
        flags != 0 ? RIG_NO_TIME : rig_difference(decoder->last_time, rig_cursor_signed(&decoder->cursor));
    uint64_t op_count = 0;
    enum rig_rc rc = get_count(decoder, &op_count);
    if (rc != RIG_OK)
        return rc;
    if (client > INT32_MAX || process < INT32_MIN || process > INT32_MAX || flags > 1 || back == 0 ||
        back > decoder->next_position)
        return rig_record_damaged(decoder, "an impossible open transaction");
    struct rig_record_slot *slot = rig_record_find_slot(decoder, (uint32_t)client);
    if (slot == NULL || (slot->open && !rig_record_abandon(decoder, slot)) ||
        !rig_record_slot_reserve(decoder, slot, op_count))
        return rig_record_no_memory(decoder);
    slot->open = true;
    slot->process = process;
    slot->invoke_ns = time_ns;
    slot->invoke_at = decoder->next_position - (uint32_t)back;
    slot->op_count = 0;
    slot->stamp = 0;
    for (uint64_t i = 0; rc == RIG_OK && i < op_count; i++)
        rc = get_open_op(decoder, &slot->ops[i], &slot->keys[i]);
    slot->op_count = (uint32_t)op_count;
    return rc;
}

static enum rig_rc get_counts(struct rig_record_decoder *decoder)
{
    decoder->event_count = rig_cursor_number(&decoder->cursor);
    decoder->txn_count = rig_cursor_number(&decoder->cursor);
    uint64_t next_position = decoder->event_count;
    if ((decoder->shape->flags & RIG_RECORD_POSITIONS) != 0)
        next_position = rig_cursor_number(&decoder->cursor);
    decoder->last_time = rig_cursor_signed(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (next_position > RIG_POSITION_NONE || decoder->event_count > next_position ||
        decoder->txn_count > decoder->event_count)
        return rig_record_damaged(decoder, "impossible counts");
    decoder->next_position = (uint32_t)next_position;
    return RIG_OK;
}

/*
 * Decodes the checkpoint at the decoder's cursor, after its frame's number. Afterwards the decoder is in the state
 * after all earlier blocks. The spines of the segment's keys must have been written.
 */
static enum rig_rc record_decode_checkpoint(struct rig_record_decoder *decoder)
{
    uint64_t open_count = 0;
    rig_record_decoder_restart(decoder);
    enum rig_rc rc = get_counts(decoder);
    if (rc == RIG_OK)
        rc = get_keys(decoder);
    if (rc == RIG_OK)
        rc = get_count(decoder, &open_count);
    for (uint64_t i = 0; rc == RIG_OK && i < open_count; i++) {
        rc = get_open_txn(decoder);
        if (rc == RIG_OK && i % RIG_RECORD_FEW == 0 && !rig_record_may_take(decoder, 0))
            rc = rig_record_no_memory(decoder);
    }
    if (rc == RIG_OK && decoder->cursor.bad != NULL)
        rc = rig_record_no_number(decoder);
    if (rc == RIG_OK && rig_cursor_left(&decoder->cursor) != 0)
        rc = rig_record_damaged(decoder, "a checkpoint of the wrong length");
    return rc;
}

static const char *const does_not_belong = "a frame out of place";

bool rig_record_recognise(const void *data, size_t size)
{
    size_t compared = size < RIG_RECORD_MAGIC_BYTES ? size : (size_t)RIG_RECORD_MAGIC_BYTES;
    return size > 0 && memcmp(data, RIG_RECORD_MAGIC, compared) == 0;
}

/* ---- The beginning ---- */

/* The file's version; the record may be cut anywhere. */
static enum rig_rc read_start(struct rig_record_file *file, struct rig_err *err)
{
    const uint8_t *data = file->data;
    if (!rig_record_recognise(data, file->size))
        return rig_fail(err, RIG_E_INPUT, "%s: byte 0: is not a record of rig; let rig recognise its form", file->name);
    if (file->size < RIG_RECORD_START_BYTES)
        return RIG_OK;
    uint32_t version = (uint32_t)data[8] | (uint32_t)data[9] << 8 | (uint32_t)data[10] << 16 | (uint32_t)data[11] << 24;
    if (version < RIG_RECORD_OLDEST_VERSION || version > RIG_RECORD_VERSION)
        return rig_fail(
            err, RIG_E_INPUT,
            "%s: byte 8: format version %u, and this rig reads versions %d to %d; use the rig that wrote it",
            file->name, (unsigned)version, RIG_RECORD_OLDEST_VERSION, RIG_RECORD_VERSION);
    static const uint8_t zero[4] = {0};
    if (memcmp(data + 12, zero, sizeof zero) != 0)
        return rig_fail(err, RIG_E_INPUT, "%s: byte 12: the start is damaged; nothing can be read from it", file->name);
    file->shape.version = version;
    return RIG_OK;
}

static enum rig_rc keep_meta(struct rig_record_file *file, struct rig_record_decoder *decoder, size_t length)
{
    file->meta = malloc(length + 1);
    if (file->meta == NULL)
        return rig_record_no_memory(decoder);
    if (length > 0)
        memcpy(file->meta, decoder->cursor.at, length);
    file->meta[length] = '\0';
    return RIG_OK;
}

static enum rig_rc decode_header(struct rig_record_file *file, struct rig_record_decoder *decoder)
{
    struct rig_record_cursor *cursor = &decoder->cursor;
    uint64_t workload = rig_cursor_number(cursor);
    uint64_t flags = rig_cursor_number(cursor);
    file->start_utc_ns = rig_cursor_signed(cursor);
    file->skipped_count = rig_cursor_number(cursor);
    unsigned known = file->shape.version == 1 ? RIG_RECORD_FLAGS_KNOWN_1 : RIG_RECORD_FLAGS_KNOWN;
    if (cursor->bad != NULL)
        return rig_record_no_number(decoder);
    if (workload >= RIG_WORKLOAD_COUNT || flags > known)
        return rig_record_damaged(decoder, "a workload or flag that this version does not have");
    if ((flags & RIG_RECORD_COLUMNS) != 0 && !rig_record_columns_read(cursor, &file->shape.columns))
        return cursor->bad != NULL ? rig_record_no_number(decoder)
                                   : rig_record_damaged(decoder, "a side column that this version does not have");
    if ((flags & RIG_RECORD_VALUE_TEXTS) != 0) {
        const enum rig_rc rc = rig_record_texts_read(decoder, file->texts_limit_bytes);
        if (rc != RIG_OK)
            return rc;
    }
    if ((flags & RIG_RECORD_RANK) != 0 && !rig_rank_get(cursor, &file->rank))
        return rig_record_damaged(decoder, "a place among the records of a run that this version does not have");
    const uint64_t meta_bytes = rig_cursor_number(cursor);
    if (cursor->bad != NULL)
        return rig_record_no_number(decoder);
    if ((flags & RIG_RECORD_KEYWORD_KEYS) != 0 && (flags & RIG_RECORD_TEXT_KEYS) == 0)
        return rig_record_damaged(decoder, "keyword keys that are not texts");
    if ((flags & RIG_RECORD_VALUE_KEYS) != 0 &&
        (flags & (RIG_RECORD_TEXT_KEYS | RIG_RECORD_KEYWORD_KEYS)) != RIG_RECORD_TEXT_KEYS)
        return rig_record_damaged(decoder, "keys that are values, and no texts or also keywords");
    size_t left = rig_cursor_left(cursor);
    if (meta_bytes != (meta_bytes == 0 ? left : left + 1))
        return rig_record_damaged(decoder, "a header of the wrong length");
    if ((flags & RIG_RECORD_PACKED) != 0 && !rig_packing_available())
        return rig_fail(decoder->err, RIG_E_INPUT,
                        "%s: is compressed with zstd, and this rig was built without it; build it where libzstd-dev is "
                        "installed",
                        file->name);
    file->shape.workload = (enum rig_workload)workload;
    file->shape.type = &rig_data_types[workload];
    file->shape.flags = (unsigned)flags;
    return meta_bytes == 0 ? RIG_OK : keep_meta(file, decoder, left);
}

/* Cut before the end of the header: nothing was recorded, which is not an error unless the header is damaged. */
static enum rig_rc read_header(struct rig_record_file *file, struct rig_err *err)
{
    struct rig_frame frame;
    const uint8_t *at = file->data + RIG_RECORD_START_BYTES;
    if (file->size <= RIG_RECORD_START_BYTES)
        return RIG_OK;
    if (!rig_frame_is_whole(at, file->size - RIG_RECORD_START_BYTES) &&
        !rig_record_damage_at(file->data, file->size, file->shape.version, RIG_RECORD_START_BYTES, 0).is_damaged)
        return RIG_OK;
    if (!rig_frame_read(at, file->size - RIG_RECORD_START_BYTES, 0, &frame))
        return rig_fail(err, RIG_E_INPUT, "%s: byte 16: the header is damaged; nothing can be read from it",
                        file->name);
    struct rig_record_decoder decoder = {.shape = &file->shape, .base = file->data, .err = err};
    decoder.cursor = (struct rig_record_cursor){.at = frame.payload, .end = frame.payload + frame.size};
    if (frame.type != RIG_FRAME_HEADER)
        return rig_record_damaged(&decoder, does_not_belong);
    enum rig_rc rc = decode_header(file, &decoder);
    if (rc == RIG_OK)
        file->header_end = RIG_RECORD_START_BYTES + RIG_FRAME_HEAD_BYTES + frame.size;
    return rc;
}

enum rig_rc rig_record_file_init(struct rig_record_file *file, const char *name, const void *data, size_t size,
                                 const struct rig_load_options *options, struct rig_err *err)
{
    const enum rig_workload assumed = options->workload_given ? options->workload : RIG_WORKLOAD_DEFAULT;
    *file = (struct rig_record_file){
        .name = strdup(name), .data = data, .size = size, .texts_limit_bytes = options->limit_bytes / 4};
    if (file->name == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", name);
    file->shape = (struct rig_record_shape){
        .name = file->name,
        .version = RIG_RECORD_VERSION,
        .workload = assumed,
        .type = &rig_data_types[assumed],
        .limit_bytes = options->decode_bytes == 0 ? SIZE_MAX : options->decode_bytes,
        .segment_limit_bytes = options->segment_bytes == 0 ? SIZE_MAX : options->segment_bytes,
    };
    enum rig_rc rc = read_start(file, err);
    if (rc == RIG_OK)
        rc = read_header(file, err);
    if (rc == RIG_OK && options->workload_given && options->workload != file->shape.workload)
        rc =
            rig_fail(err, RIG_E_INPUT, "%s: records another workload than the requested one; leave it out", file->name);
    return rc;
}

void rig_record_file_grow(struct rig_record_file *file, const void *data, size_t size)
{
    file->data = data;
    file->size = size;
    if (file->header_end == 0 && read_start(file, NULL) == RIG_OK)
        (void)read_header(file, NULL);
}

void rig_record_file_done(struct rig_record_file *file)
{
    free(file->meta);
    free(file->name);
}

/* ---- Frames ---- */

size_t rig_record_frame_end(const struct rig_record_file *file, size_t at)
{
    size_t left = file->size - at;
    if (left < RIG_FRAME_HEAD_BYTES || memcmp(file->data + at, "RIG", 3) != 0 ||
        !rig_frame_is_whole(file->data + at, left))
        return 0;
    return at + RIG_FRAME_HEAD_BYTES + rig_frame_size(file->data + at);
}

bool rig_record_frame_is(const struct rig_record_file *file, size_t at, enum rig_frame_type type)
{
    return rig_record_frame_end(file, at) != 0 && (file->data[at + 3] & ~RIG_FRAME_PACKED) == (int)type;
}

uint64_t rig_record_frame_weight(const struct rig_record_file *file, size_t at, size_t end)
{
    const uint8_t *payload = file->data + at + RIG_FRAME_HEAD_BYTES;
    size_t size = end - at - RIG_FRAME_HEAD_BYTES;
    const unsigned type = file->data[at + 3];
    if ((file->shape.flags & RIG_RECORD_PACKED) == 0 || (type & RIG_FRAME_PACKED) == 0)
        return end - at;
    const size_t skipped =
        (type & ~(unsigned)RIG_FRAME_PACKED) == RIG_FRAME_CHECKPOINT ? RIG_CHECKPOINT_NUMBER_BYTES : 0;
    const size_t unpacked = size < skipped ? 0 : rig_packed_size(payload + skipped, size - skipped);
    return unpacked > end - at ? unpacked : end - at;
}

uint64_t rig_record_checkpoint_number(const struct rig_record_file *file, size_t at)
{
    if (!rig_record_frame_is(file, at, RIG_FRAME_CHECKPOINT) ||
        rig_frame_size(file->data + at) < RIG_CHECKPOINT_NUMBER_BYTES)
        return 0;
    return rig_get_u64(file->data + at + RIG_FRAME_HEAD_BYTES);
}

void rig_record_run_init(struct rig_record_run *run, const struct rig_record_file *file)
{
    *run = (struct rig_record_run){.file = file};
    rig_record_decoder_init(&run->decoder, &file->shape);
    rig_buf_init(&run->unpacked, RIG_PACKING_MAX_BYTES);
}

void rig_record_run_done(struct rig_record_run *run)
{
    rig_record_decoder_done(&run->decoder);
    rig_packer_free(run->packer);
    rig_buf_done(&run->unpacked);
}

void rig_record_run_start(struct rig_record_run *run, const struct rig_record_file *file, size_t begin,
                          uint64_t frame_number)
{
    run->file = file;
    run->decoder.shape = &file->shape;
    run->next = begin;
    run->frame_number = run->first_number = frame_number;
    run->frame_end = 0;
    run->in_block = run->stopped = run->closed = run->was_cut = run->decoder.has_lone = false;
    run->err = (struct rig_err){0};
    run->decoder.event_count = run->decoder.txn_count = run->decoder.next_position = 0;
    run->decoder.last_time = 0;
    rig_record_decoder_restart(&run->decoder);
}

struct rig_record_counts rig_record_run_counts(const struct rig_record_run *run)
{
    return (struct rig_record_counts){
        .events = run->decoder.event_count,
        .txns = run->decoder.txn_count,
        .open = rig_record_open_digest(&run->decoder),
        .last_time = run->decoder.last_time,
        .next_position = run->decoder.next_position,
    };
}

static enum rig_rc check_counts(const struct rig_record_run *run, struct rig_record_counts before,
                                struct rig_record_counts told, struct rig_err *err)
{
    bool same_time = told.last_time == before.last_time || before.events == 0;
    if (told.events == before.events && told.txns == before.txns && told.next_position == before.next_position &&
        told.open == before.open && same_time)
        return RIG_OK;
    return rig_fail(err, RIG_E_INPUT,
                    "%s: a checkpoint after %llu event%s that does not continue the block before it; the record was "
                    "written wrongly, make it again",
                    run->file->name, (unsigned long long)before.events, rig_plural(before.events));
}

enum rig_rc rig_record_goes_on(const struct rig_record_run *last, const struct rig_record_run *run, struct rig_err *err)
{
    return check_counts(last, rig_record_run_counts(last), run->first, err);
}

static enum rig_rc decode_checkpoint(struct rig_record_run *run, struct rig_err *err)
{
    struct rig_record_decoder *decoder = &run->decoder;
    struct rig_record_counts before = rig_record_run_counts(run);
    enum rig_rc rc = rig_record_settle_keys(decoder);
    if (rc == RIG_OK)
        rc = record_decode_checkpoint(decoder);
    if (rc == RIG_OK && (run->in_block || run->next == run->file->header_end))
        rc = check_counts(run, before, rig_record_run_counts(run), err);
    if (!run->in_block)
        run->first = rig_record_run_counts(run);
    run->in_block = true;
    return rc;
}

/* The index for seeking readers; this one reads from the beginning, and only checks that it is an index. */
static enum rig_rc decode_index(struct rig_record_run *run)
{
    struct rig_record_decoder *decoder = &run->decoder;
    struct rig_record_cursor *cursor = &decoder->cursor;
    uint64_t txn_count = rig_cursor_number(cursor);
    uint64_t block_count = rig_cursor_number(cursor);
    uint64_t offset = 0, events = 0, txns = 0;
    for (uint64_t i = 0; i < block_count && cursor->bad == NULL; i++) {
        offset += rig_cursor_number(cursor);
        events += rig_cursor_number(cursor);
        txns += rig_cursor_number(cursor);
    }
    if (cursor->bad != NULL)
        return rig_record_no_number(decoder);
    if (txn_count != decoder->txn_count || offset > run->next || events > decoder->event_count || txns > txn_count)
        return rig_record_damaged(decoder, "an index that does not match the blocks of the record");
    if (rig_cursor_left(cursor) != sizeof(uint64_t) || rig_get_u64(cursor->at) != run->next)
        return rig_record_damaged(decoder, "a closing frame that this version does not have");
    cursor->at += sizeof(uint64_t);
    return RIG_OK;
}

static enum rig_rc decode_close(struct rig_record_run *run)
{
    struct rig_record_decoder *decoder = &run->decoder;
    uint64_t flags = rig_cursor_number(&decoder->cursor);
    uint64_t event_count = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (flags > RIG_CLOSE_FLAGS_KNOWN)
        return rig_record_damaged(decoder, "a closing frame that this version does not have");
    if (event_count != decoder->event_count)
        return rig_record_damaged(decoder, "a number of events that differs from the closing frame");
    enum rig_rc rc = run->file->shape.version == 1 ? RIG_OK : decode_index(run);
    if (rc == RIG_OK && rig_cursor_left(&decoder->cursor) != 0)
        rc = rig_record_damaged(decoder, "a closing frame that this version does not have");
    run->closed = true;
    run->was_cut = (flags & RIG_CLOSE_CUT) != 0;
    return rc;
}

/* The cursor continues in the unpacked rest of the frame. */
static enum rig_rc unpack(struct rig_record_run *run)
{
    struct rig_record_decoder *decoder = &run->decoder;
    if (run->packer == NULL)
        run->packer = rig_packer_new();
    const uint8_t *packed = decoder->cursor.at;
    const size_t size = rig_cursor_left(&decoder->cursor), unpacked_size = rig_packed_size(packed, size);
    const bool fits = unpacked_size <= run->unpacked.capacity || rig_record_may_take(decoder, unpacked_size);
    enum rig_unpacked unpacked = run->packer == NULL || !fits
                                     ? RIG_UNPACKED_NO_MEMORY
                                     : rig_packer_unpack(run->packer, packed, size, &run->unpacked);
    decoder->unpacked_bytes = run->unpacked.capacity;
    if (unpacked == RIG_UNPACKED_DAMAGED)
        return rig_record_damaged(decoder, "data that cannot be unpacked");
    if (unpacked == RIG_UNPACKED_NO_MEMORY)
        return rig_record_no_memory(decoder);
    decoder->base_at = rig_record_offset(decoder);
    decoder->base = (const uint8_t *)rig_buf_text(&run->unpacked);
    decoder->cursor = (struct rig_record_cursor){.at = decoder->base, .end = decoder->base + run->unpacked.size};
    return RIG_OK;
}

/* The whole frame, except events: for these it only finds where they are. */
static enum rig_rc decode_frame(struct rig_record_run *run, const struct rig_frame *frame, struct rig_err *err)
{
    const struct rig_record_shape *shape = &run->file->shape;
    bool packed = (shape->flags & RIG_RECORD_PACKED) != 0 && (frame->type & RIG_FRAME_PACKED) != 0;
    unsigned type = packed ? frame->type & ~(unsigned)RIG_FRAME_PACKED : frame->type;
    bool is_checkpoint = type == RIG_FRAME_CHECKPOINT && shape->version > 1;
    bool is_events = type == RIG_FRAME_EVENTS && (run->in_block || shape->version == 1);
    run->decoder.cursor = (struct rig_record_cursor){.at = frame->payload, .end = frame->payload + frame->size};
    if (type == RIG_FRAME_CLOSE && !packed)
        return decode_close(run);
    /* Decoded at the end, and only where it is wanted: history/record/record_certificate.h. */
    if (type == RIG_FRAME_CERTIFICATE && !packed && (shape->flags & RIG_RECORD_CERTIFICATE) != 0)
        return RIG_OK;
    if (type == RIG_FRAME_CLOCK && !packed && (shape->flags & RIG_RECORD_RANK) != 0)
        return RIG_OK; /* read when the file is opened: history/record/record_reader.h */
    if (!is_checkpoint && !is_events)
        return rig_record_damaged(&run->decoder, does_not_belong);
    run->decoder.cursor.at += is_checkpoint ? RIG_CHECKPOINT_NUMBER_BYTES : 0;
    enum rig_rc rc = packed ? unpack(run) : RIG_OK;
    if (rc != RIG_OK || is_checkpoint)
        return rc == RIG_OK ? decode_checkpoint(run, err) : rc;
    run->frame_end = run->next + RIG_FRAME_HEAD_BYTES + frame->size;
    run->events = run->decoder.cursor.at;
    return RIG_OK;
}

/* The next frame; false if it is incomplete, damaged, or a checkpoint that states another place. */
static bool read_frame(const struct rig_record_run *run, size_t end, struct rig_frame *frame)
{
    const struct rig_record_file *file = run->file;
    return rig_frame_read(file->data + run->next, end - run->next, run->frame_number, frame) &&
           (file->shape.version == 1 || !rig_record_frame_is(file, run->next, RIG_FRAME_CHECKPOINT) ||
            rig_record_checkpoint_number(file, run->next) == run->frame_number);
}

static void end_frame(struct rig_record_run *run, size_t frame_end)
{
    run->next = frame_end;
    run->frame_number++;
    run->frame_end = 0;
}

/* The frame at `next`, if it is complete and undamaged. */
static enum rig_rc begin_frame(struct rig_record_run *run, struct rig_err *err)
{
    const struct rig_record_file *file = run->file;
    struct rig_frame frame;
    run->decoder.base = file->data;
    run->decoder.base_at = 0;
    run->decoder.cursor.at = file->data + run->next;
    if (run->closed)
        return rig_record_damaged(&run->decoder, "data after the closing frame");
    run->stopped = !read_frame(run, file->size, &frame);
    if (run->stopped)
        return RIG_OK;
    enum rig_rc rc = decode_frame(run, &frame, err);
    if (run->frame_end == 0)
        end_frame(run, run->next + RIG_FRAME_HEAD_BYTES + frame.size);
    return rc;
}

/* The end of the frame's events for a segment that ends at offset `end` of the file. */
static const uint8_t *stop_at(const struct rig_record_run *run, size_t end)
{
    const uint8_t *last = run->decoder.cursor.end;
    size_t begin = run->next + RIG_FRAME_HEAD_BYTES;
    if (end >= run->frame_end)
        return last;
    size_t wanted = end > begin ? end - begin : 0;
    return run->events + (uint64_t)(last - run->events) * wanted / (run->frame_end - begin);
}

/* The next events of the frame; *behind says that the segment ends before the frame does. */
static enum rig_rc go_on(struct rig_record_run *run, size_t end, bool *behind)
{
    const uint8_t *stop = stop_at(run, end);
    struct rig_record_decoder *decoder = &run->decoder;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && decoder->cursor.at < stop) {
        const size_t left = (size_t)(stop - decoder->cursor.at);
        rc = rig_record_decode_events(decoder,
                                      left > RIG_RECORD_STEP_BYTES ? decoder->cursor.at + RIG_RECORD_STEP_BYTES : stop);
        if (rc == RIG_OK && !rig_record_may_take(decoder, 0))
            rc = rig_record_no_memory(decoder);
    }
    *behind = decoder->cursor.at < decoder->cursor.end;
    if (rc == RIG_OK && !*behind)
        end_frame(run, run->frame_end);
    return rc;
}

enum rig_rc rig_record_run_decode(struct rig_record_run *run, size_t end, struct rig_segment *segment,
                                  struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    bool behind = false;
    run->decoder.err = err;
    rig_record_decoder_begin(&run->decoder, segment);
    while (rc == RIG_OK && run->file->header_end != 0 && !run->stopped && !behind && run->next < end) {
        if (run->frame_end == 0)
            rc = begin_frame(run, err);
        if (rc == RIG_OK && run->frame_end != 0)
            rc = go_on(run, end, &behind);
    }
    return rc == RIG_OK ? rig_record_decoder_end(&run->decoder) : rc;
}
