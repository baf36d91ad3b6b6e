#include "history/record/record_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "history/model/read_list.h"
#include "history/model/shared_value.h"
#include "history/record/packing.h"
#include "history/record/record_decoder.h"
#include "history/record/record_encoder.h"
#include "history/source/event_walk.h"
#include "history/types/object_kinds.h"

static const size_t usual_frame_bytes = (size_t)1 << 20;

RIG_VEC(uint32_t, slot_vec)
RIG_VEC(struct rig_op, op_vec)
RIG_VEC(struct rig_record_read, read_vec)

struct writer {
    const struct rig_history *history;
    struct rig_output *output;
    struct rig_record_encoder *encoder;
    size_t frame_bytes;
    uint32_t *slots;            /* transaction -> the client that has it while it is open */
    struct slot_vec free_slots; /* of completed transactions */
    uint32_t slot_count;
    struct op_vec ops;
    struct read_vec reads;
    struct rig_column_row columns;
    struct rig_arena lists; /* of the current transaction's lists in two pieces */
};

static bool gather_ops(struct writer *writer, uint32_t txn)
{
    const struct rig_history *history = writer->history;
    uint32_t count = rig_txn_op_count(history, txn);
    const struct rig_txn_op *mops = rig_txn_ops(history, txn);
    writer->ops.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool reads = rig_op_reads(mops[i].kind);
        struct rig_op op = {
            .kind = (enum rig_op_kind)mops[i].kind,
            .key = history->keys[mops[i].key],
            .value = reads ? 0 : mops[i].value,
        };
        if (!op_vec_add(&writer->ops, op))
            return false;
    }
    return true;
}

static bool gather_completion(struct writer *writer, uint32_t txn, struct rig_record_completion *completion)
{
    const struct rig_history *history = writer->history;
    const struct rig_txn_op *mops = rig_txn_ops(history, txn);
    uint32_t count = rig_txn_op_count(history, txn);
    uint32_t error = history->txns[txn].error;
    if (!read_vec_reserve(&writer->reads, count))
        return false;
    bool any = false;
    rig_arena_reset(&writer->lists);
    for (uint32_t i = 0; i < count; i++) {
        bool is_list = rig_op_reads_sequence(mops[i].kind);
        struct rig_read_list list = is_list ? rig_txn_op_list(history, &mops[i]) : (struct rig_read_list){0};
        const int64_t *elements = rig_read_whole(&list, &writer->lists);
        if (elements == NULL)
            return false;
        writer->reads.at[i] = (struct rig_record_read){
            .state = (enum rig_read_state)mops[i].read_state,
            .count = list.count,
            .elements = elements,
            .value = is_list ? 0 : mops[i].value,
            .origin = 1, /* the spine is the origin of all lists that begin with it */
            .origin_count = list.shared,
        };
        any = any || mops[i].read_state != RIG_READ_UNKNOWN || rig_op_is_ambiguous(&mops[i]);
    }
    *completion = (struct rig_record_completion){
        .outcome = (enum rig_outcome)history->txns[txn].outcome,
        .error = error == 0 ? NULL : history->errors[error - 1],
        .error_length = error == 0 ? 0 : strlen(history->errors[error - 1]),
        .reads = any ? writer->reads.at : NULL,
    };
    if (history->columns != NULL) {
        writer->columns = rig_columns_row(history->columns, txn);
        completion->columns = &writer->columns;
        completion->names = (const char *const *)history->columns->names.texts;
        completion->spans = rig_history_times(history, txn);
    }
    return true;
}

static uint32_t take_slot(struct writer *writer)
{
    return writer->free_slots.count > 0 ? writer->free_slots.at[--writer->free_slots.count] : writer->slot_count++;
}

static bool put_event(struct writer *writer, struct rig_event event)
{
    if (event.fault != NULL) {
        const struct rig_record_moment moment = {.time_ns = event.fault->time_ns, .position = event.position};
        rig_record_encoder_fault(writer->encoder, moment, event.fault);
        return true;
    }
    const struct rig_txn *txn = &writer->history->txns[event.txn];
    struct rig_record_moment when = {.time_ns = event.is_completion ? txn->complete_ns : txn->invoke_ns,
                                     .position = event.position};
    struct rig_record_completion completion;
    if (!event.is_completion) {
        if (!gather_ops(writer, event.txn))
            return false;
        writer->slots[event.txn] = take_slot(writer);
        rig_record_encoder_invoke(writer->encoder, writer->slots[event.txn], when, txn->process, when.time_ns,
                                  writer->ops.at, (uint32_t)writer->ops.count);
        return true;
    }
    if (!gather_completion(writer, event.txn, &completion))
        return false;
    if (txn->invoke_at != RIG_POSITION_NONE) {
        rig_record_encoder_complete(writer->encoder, writer->slots[event.txn], when, &completion);
        return slot_vec_add(&writer->free_slots, writer->slots[event.txn]);
    }
    if (!gather_ops(writer, event.txn))
        return false;
    rig_record_encoder_lone(writer->encoder, when, txn->process, writer->ops.at, (uint32_t)writer->ops.count,
                            &completion);
    return true;
}

static enum rig_rc write_frame(struct writer *writer, const struct rig_buf *frame, struct rig_err *err)
{
    if (frame == NULL || frame->failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "a frame", writer->output->path);
    return rig_output_write(writer->output, frame->data, frame->size, err);
}

static enum rig_rc write_certificate(struct writer *writer, struct rig_err *err)
{
    const struct rig_certificate *certificate = writer->history->certificate;
    size_t item = 0;
    bool last = certificate == NULL;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !last)
        rc = write_frame(writer, rig_record_encoder_certificate(writer->encoder, certificate, &item, &last), err);
    return rc;
}

static enum rig_rc write_events(struct writer *writer, struct rig_event_walk *walk, struct rig_err *err)
{
    struct rig_event event;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && rig_event_walk_next(walk, &event)) {
        if (!put_event(writer, event))
            return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "a transaction", writer->output->path);
        if (rig_record_encoder_pending_bytes(writer->encoder) >= writer->frame_bytes)
            rc = write_frame(writer, rig_record_encoder_frame(writer->encoder), err);
    }
    if (rc == RIG_OK && rig_record_encoder_pending_bytes(writer->encoder) > 0)
        rc = write_frame(writer, rig_record_encoder_frame(writer->encoder), err);
    if (rc == RIG_OK)
        rc = write_certificate(writer, err);
    if (rc == RIG_OK) {
        unsigned flags = writer->history->truncated ? RIG_CLOSE_CUT : 0;
        rc = write_frame(writer, rig_record_encoder_close(writer->encoder, flags), err);
    }
    return rc;
}

/* The header, and all samples of the clock. */
static enum rig_rc write_header(struct writer *writer, struct rig_err *err)
{
    struct rig_buf header;
    rig_buf_init(&header, 0);
    rig_record_encoder_header(writer->encoder, &header);
    enum rig_rc rc = write_frame(writer, &header, err);
    rig_buf_done(&header);
    const struct rig_history *history = writer->history;
    if (rc == RIG_OK && history->clock_count > 0)
        rc = write_frame(writer, rig_record_encoder_clock(writer->encoder, history->clock, history->clock_count), err);
    return rc;
}

static bool has_shared_reads(const struct rig_history *history)
{
    for (uint32_t op = 0; rig_workload_repeats_values(history->workload) && op < history->op_count; op++) {
        if (rig_op_is_ambiguous(&history->ops[op]))
            return true;
    }
    return false;
}

/* Sets the header's flags from the events. False when memory runs out. */
static bool find_flags(const struct rig_history *history, unsigned *flags)
{
    struct rig_event_walk walk;
    struct rig_event event;
    int64_t last = INT64_MIN;
    uint64_t next = 0;
    *flags =
        (history->key_texts != NULL ? RIG_RECORD_TEXT_KEYS : 0U) |
        (history->keyword_keys ? RIG_RECORD_KEYWORD_KEYS : 0U) | (history->value_keys ? RIG_RECORD_VALUE_KEYS : 0U) |
        (history->fault_count > 0 ? RIG_RECORD_FAULTS : 0U) |
        (history->certificate != NULL ? RIG_RECORD_CERTIFICATE : 0U) |
        (history->rank.count > 0 ? RIG_RECORD_RANK : 0U) | (history->reads_at_once ? RIG_RECORD_READS_AT_ONCE : 0U) |
        (history->has_all_rows ? RIG_RECORD_ALL_ROWS : 0U) | (has_shared_reads(history) ? RIG_RECORD_SHARED_READS : 0U);
    if (!rig_event_walk_init(&walk, history))
        return false;
    while (rig_event_walk_next(&walk, &event)) {
        const struct rig_txn *txn = &history->txns[event.txn];
        int64_t time_ns = event.fault != NULL   ? event.fault->time_ns
                          : event.is_completion ? txn->complete_ns
                                                : txn->invoke_ns;
        if (event.position != next++)
            *flags |= RIG_RECORD_POSITIONS;
        if (time_ns == RIG_NO_TIME)
            continue;
        if (time_ns < last)
            *flags |= RIG_RECORD_TIMES_DESCEND;
        last = time_ns;
    }
    rig_event_walk_done(&walk);
    return true;
}

enum rig_rc rig_record_write(const struct rig_history *history, const struct rig_record_write_options *options,
                             struct rig_output *output, struct rig_err *err)
{
    if (options->pack && !rig_packing_available())
        return rig_fail(err, RIG_E_USAGE, "this rig was built without zstd; leave compression out");
    struct rig_record_head head = {
        .workload = history->workload,
        .skipped_count = history->skipped_count,
        .meta = history->meta,
        .start_utc_ns = history->start_utc_ns,
        .columns = history->columns == NULL ? 0 : rig_columns_given(history->columns),
        .key_texts = history->key_texts,
        .rank = history->rank,
        .block_bytes = options->block_bytes,
    };
    struct rig_value_numbers numbers = {0};
    bool fits = find_flags(history, &head.flags) && rig_record_texts_find(history, &numbers);
    head.flags |= numbers.count > 0 ? RIG_RECORD_VALUE_TEXTS : 0U;
    head.numbers = numbers.count > 0 ? &numbers : NULL;
    head.flags |= options->pack ? RIG_RECORD_PACKED : 0U;
    struct writer writer = {.history = history, .output = output, .encoder = rig_record_encoder_new(&head)};
    rig_arena_init(&writer.lists, 0);
    writer.frame_bytes = options->frame_bytes == 0 ? usual_frame_bytes : options->frame_bytes;
    struct rig_event_walk walk = {0};
    writer.slots = malloc((history->txn_count + (size_t)1) * sizeof *writer.slots);
    enum rig_rc rc;
    if (!fits || writer.encoder == NULL || writer.slots == NULL || !rig_event_walk_init(&walk, history))
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", output->path);
    else
        rc = write_header(&writer, err);
    if (rc == RIG_OK)
        rc = write_events(&writer, &walk, err);
    rig_event_walk_done(&walk);
    rig_record_encoder_free(writer.encoder);
    rig_value_numbers_done(&numbers);
    free(writer.slots);
    slot_vec_done(&writer.free_slots);
    op_vec_done(&writer.ops);
    read_vec_done(&writer.reads);
    rig_arena_done(&writer.lists);
    return rc;
}
