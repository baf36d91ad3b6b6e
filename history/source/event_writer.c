#include "history/source/event_writer.h"

#include <stdlib.h>

#include "base/bug.h"
#include "history/text/certificate_text.h"
#include "history/record/packing.h"

static const size_t block_bytes = (size_t)1 << 20;

struct rig_event_writer {
    struct rig_event_writer_options options;
    struct rig_output *output;
    struct rig_record_encoder *encoder; /* NULL: text */
    struct rig_operation_text text;
    struct rig_clock_samples clock; /* not written yet */
    uint64_t event_count;
    uint64_t byte_count;
};

static enum rig_rc no_memory(const struct rig_event_writer *writer, struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", writer->output->path);
}

static enum rig_rc write_bytes(struct rig_event_writer *writer, const struct rig_buf *buf, struct rig_err *err)
{
    if (buf == NULL || buf->failed)
        return no_memory(writer, err);
    writer->byte_count += buf->size;
    return rig_output_write(writer->output, buf->data, buf->size, err);
}

static enum rig_rc start_record(struct rig_event_writer *writer, struct rig_err *err)
{
    bool pack = writer->options.save.pack;
    const struct rig_rank *rank = writer->options.rank;
    const struct rig_record_head head = {.workload = writer->options.workload,
                                         .flags = (pack ? RIG_RECORD_PACKED : 0U) |
                                                  (writer->options.certificate ? RIG_RECORD_CERTIFICATE : 0U) |
                                                  (rank != NULL ? RIG_RECORD_RANK : 0U),
                                         .meta = writer->options.meta,
                                         .columns = writer->options.columns,
                                         .rank = rank != NULL ? *rank : (struct rig_rank){0}};
    struct rig_buf header;
    if (pack && !rig_packing_available())
        return rig_fail(err, RIG_E_USAGE, "this rig was built without zstd; leave compression out");
    writer->encoder = rig_record_encoder_new(&head);
    if (writer->encoder == NULL)
        return no_memory(writer, err);
    rig_buf_init(&header, 0);
    rig_record_encoder_header(writer->encoder, &header);
    enum rig_rc rc = write_bytes(writer, &header, err);
    rig_buf_done(&header);
    return rc;
}

enum rig_rc rig_event_writer_new(const struct rig_event_writer_options *options, struct rig_output *output,
                                 struct rig_event_writer **writer, struct rig_err *err)
{
    RIG_REQUIRE(options->save.form != RIG_FORM_AUTO &&
                (options->save.form == RIG_FORM_RIG || (!options->save.pack && options->rank == NULL)));
    struct rig_event_writer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "writing a history");
    made->options = *options;
    made->output = output;
    rig_operation_text_init(&made->text, options->save.form == RIG_FORM_EDN ? &rig_syntax_edn : &rig_syntax_json, NULL);
    enum rig_rc rc = options->save.form == RIG_FORM_RIG ? start_record(made, err) : RIG_OK;
    if (rc == RIG_OK)
        *writer = made;
    else
        rig_event_writer_free(made);
    return rc;
}

void rig_event_writer_free(struct rig_event_writer *writer)
{
    if (writer == NULL)
        return;
    rig_record_encoder_free(writer->encoder);
    rig_operation_text_done(&writer->text);
    rig_clock_samples_done(&writer->clock);
    free(writer);
}

/* The pending events, and then the samples of the clock. */
static enum rig_rc write_frames(struct rig_event_writer *writer, struct rig_err *err)
{
    const struct rig_clock_samples *clock = &writer->clock;
    enum rig_rc rc = RIG_OK;
    if (rig_record_encoder_pending_bytes(writer->encoder) > 0)
        rc = write_bytes(writer, rig_record_encoder_frame(writer->encoder), err);
    if (rc == RIG_OK && clock->count > 0)
        rc = write_bytes(writer, rig_record_encoder_clock(writer->encoder, clock->at, clock->count), err);
    writer->clock.count = 0;
    return rc;
}

static enum rig_rc write_block(struct rig_event_writer *writer, struct rig_err *err)
{
    if (writer->encoder != NULL)
        return write_frames(writer, err);
    enum rig_rc rc = write_bytes(writer, &writer->text.buf, err);
    rig_buf_clear(&writer->text.buf);
    return rc;
}

static size_t pending_bytes(const struct rig_event_writer *writer)
{
    return writer->encoder != NULL ? rig_record_encoder_pending_bytes(writer->encoder) : writer->text.buf.size;
}

static enum rig_rc count_event(struct rig_event_writer *writer, struct rig_err *err)
{
    writer->event_count++;
    return pending_bytes(writer) < block_bytes ? RIG_OK : write_block(writer, err);
}

static struct rig_operation_head head_of(const struct rig_event_writer *writer, const struct rig_client_event *event)
{
    return (struct rig_operation_head){
        .index = writer->event_count, .process = event->process, .time_ns = event->time_ns};
}

enum rig_rc rig_event_writer_invoke(struct rig_event_writer *writer, const struct rig_client_event *event,
                                    struct rig_err *err)
{
    if (writer->encoder != NULL) {
        const struct rig_record_moment when = {.time_ns = event->time_ns};
        rig_record_encoder_invoke(writer->encoder, event->client, when, event->process, event->time_ns, event->ops,
                                  event->op_count);
    } else {
        const struct rig_operation_head head = head_of(writer, event);
        rig_operation_text_invoke(&writer->text, &head, event->ops, event->op_count);
    }
    return count_event(writer, err);
}

enum rig_rc rig_event_writer_complete(struct rig_event_writer *writer, const struct rig_client_event *event,
                                      const struct rig_record_completion *completion, struct rig_err *err)
{
    if (writer->encoder != NULL) {
        const struct rig_record_moment when = {.time_ns = event->time_ns};
        rig_record_encoder_complete(writer->encoder, event->client, when, completion);
    } else {
        const struct rig_operation_head head = head_of(writer, event);
        rig_operation_text_complete(&writer->text, &head, event->ops, event->op_count, completion);
    }
    return count_event(writer, err);
}

enum rig_rc rig_event_writer_clock(struct rig_event_writer *writer, const struct rig_clock_sample *sample,
                                   struct rig_err *err)
{
    RIG_REQUIRE(writer->encoder != NULL);
    if (!rig_clock_samples_add(&writer->clock, *sample))
        return no_memory(writer, err);
    return pending_bytes(writer) == 0 ? write_frames(writer, err) : RIG_OK;
}

void rig_event_writer_forget(struct rig_event_writer *writer, int64_t key)
{
    if (writer->encoder == NULL)
        rig_operation_text_forget(&writer->text, key);
    else
        rig_record_encoder_forget(writer->encoder, key);
}

static enum rig_rc certify_record(struct rig_event_writer *writer, const struct rig_certificate *certificate,
                                  struct rig_err *err)
{
    size_t item = 0;
    bool last = false;
    enum rig_rc rc = write_frames(writer, err);
    while (rc == RIG_OK && !last)
        rc = write_bytes(writer, rig_record_encoder_certificate(writer->encoder, certificate, &item, &last), err);
    return rc;
}

enum rig_rc rig_event_writer_certify(struct rig_event_writer *writer, const struct rig_certificate *certificate,
                                     struct rig_err *err)
{
    RIG_REQUIRE(writer->options.certificate);
    if (writer->encoder != NULL)
        return certify_record(writer, certificate, err);
    const size_t count = rig_certificate_text_count(certificate);
    enum rig_rc rc = RIG_OK;
    if (writer->event_count + count >= RIG_POSITION_NONE)
        return rig_fail(err, RIG_E_LIMIT, "%s: the history and its certificate have too many operations",
                        writer->output->path);
    for (size_t line = 0; rc == RIG_OK && line < count; line++) {
        rig_certificate_text_write(writer->text.dialect, certificate, line, (uint32_t)writer->event_count,
                                   &writer->text.buf);
        rc = count_event(writer, err);
    }
    return rc;
}

enum rig_rc rig_event_writer_finish(struct rig_event_writer *writer, struct rig_err *err)
{
    if (writer->encoder == NULL && writer->event_count == 0)
        rig_buf_add_text(&writer->text.buf, writer->text.dialect->empty);
    enum rig_rc rc = write_block(writer, err);
    if (rc == RIG_OK && writer->encoder != NULL)
        rc = write_bytes(writer, rig_record_encoder_close(writer->encoder, 0), err);
    return rc;
}

uint64_t rig_event_writer_bytes(const struct rig_event_writer *writer)
{
    return writer->byte_count;
}

uint64_t rig_event_writer_count(const struct rig_event_writer *writer)
{
    return writer->event_count;
}
