#include "history/record/record_clock.h"

#include <string.h>

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

enum rig_rc rig_clock_samples_find(const struct rig_record_file *file, struct rig_clock_samples *samples,
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
