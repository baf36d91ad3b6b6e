#include "history/text/operation_writer.h"

#include <string.h>

#include "history/source/event_walk.h"
#include "history/text/certificate_text.h"
#include "history/text/fault_text.h"
#include "history/model/read_list.h"

static const size_t flush_bytes = (size_t)1 << 20;

RIG_VEC(struct rig_op, op_vec)
RIG_VEC(struct rig_record_read, read_vec)

struct writer {
    const struct rig_history *history;
    struct rig_operation_text text;
    bool started;  /* an operation was written */
    uint64_t next; /* index of the next operation */
    struct op_vec ops;
    struct read_vec reads;
    struct rig_arena lists; /* of the current transaction's lists in two pieces */
};

/* A spine is the origin of all lists that begin with it. False when memory runs out. */
static bool read_of(struct writer *writer, const struct rig_txn_op *mop, struct rig_record_read *out)
{
    *out = (struct rig_record_read){.state = (enum rig_read_state)mop->read_state};
    if (mop->read_state != RIG_READ_SEEN)
        return true;
    if (!rig_op_reads_sequence(mop->kind)) {
        out->value = mop->value;
        return true;
    }
    struct rig_read_list list = rig_txn_op_list(writer->history, mop);
    out->elements = rig_read_whole(&list, &writer->lists);
    out->count = list.count;
    out->origin = 1;
    out->origin_count = list.shared;
    return out->elements != NULL;
}

static bool gather(struct writer *writer, uint32_t txn)
{
    const struct rig_history *history = writer->history;
    const struct rig_txn_op *mops = rig_txn_ops(history, txn);
    uint32_t count = rig_txn_op_count(history, txn);
    if (!op_vec_reserve(&writer->ops, count) || !read_vec_reserve(&writer->reads, count))
        return false;
    rig_arena_reset(&writer->lists);
    for (uint32_t i = 0; i < count; i++) {
        bool reads = rig_op_reads(mops[i].kind);
        writer->ops.at[i] = (struct rig_op){.kind = (enum rig_op_kind)mops[i].kind,
                                            .key = history->keys[mops[i].key],
                                            .value = reads ? 0 : mops[i].value};
        writer->reads.at[i] = (struct rig_record_read){0};
        if (reads && !read_of(writer, &mops[i], &writer->reads.at[i]))
            return false;
    }
    return true;
}

static bool put_event(struct writer *writer, struct rig_event event)
{
    const struct rig_history *history = writer->history;
    if (event.fault != NULL) {
        rig_fault_text_write(writer->text.dialect, event.fault, &writer->text.buf);
        return true;
    }
    const struct rig_txn *txn = &history->txns[event.txn];
    uint32_t op_count = rig_txn_op_count(history, event.txn);
    const struct rig_operation_head head = {.index = event.position,
                                            .process = txn->process,
                                            .time_ns = event.is_completion ? txn->complete_ns : txn->invoke_ns};
    if (!gather(writer, event.txn))
        return false;
    if (!event.is_completion) {
        rig_operation_text_invoke(&writer->text, &head, writer->ops.at, op_count);
        return true;
    }
    const char *error = txn->error == 0 ? NULL : history->errors[txn->error - 1];
    struct rig_record_completion completion = {.outcome = (enum rig_outcome)txn->outcome,
                                               .error = error,
                                               .error_length = error == NULL ? 0 : strlen(error),
                                               .reads = writer->reads.at};
    struct rig_column_row columns;
    if (history->columns != NULL) {
        columns = rig_columns_row(history->columns, event.txn);
        completion.columns = &columns;
        completion.names = (const char *const *)history->columns->names.texts;
    }
    rig_operation_text_complete(&writer->text, &head, writer->ops.at, op_count, &completion);
    return true;
}

static enum rig_rc flush(struct writer *writer, struct rig_output *output, struct rig_err *err)
{
    struct rig_buf *buf = &writer->text.buf;
    if (buf->failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "a transaction's text", output->path);
    enum rig_rc rc = rig_output_write(output, buf->data, buf->size, err);
    rig_buf_clear(buf);
    return rc;
}

static enum rig_rc write_events(struct writer *writer, struct rig_event_walk *walk, struct rig_output *output,
                                struct rig_err *err)
{
    struct rig_event event;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && rig_event_walk_next(walk, &event)) {
        writer->next = (uint64_t)event.position + 1;
        if (!put_event(writer, event))
            return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "a transaction's operations", output->path);
        if (!writer->started)
            rig_operation_text_start(&writer->text, writer->history->start_utc_ns);
        writer->started = true;
        if (writer->text.buf.size >= flush_bytes || writer->text.buf.failed)
            rc = flush(writer, output, err);
    }
    return rc == RIG_OK ? flush(writer, output, err) : rc;
}

static enum rig_rc write_certificate(struct writer *writer, uint64_t index, struct rig_output *output,
                                     struct rig_err *err)
{
    const struct rig_certificate *certificate = writer->history->certificate;
    const size_t count = certificate == NULL || !writer->started ? 0 : rig_certificate_text_count(certificate);
    enum rig_rc rc = RIG_OK;
    if (index + count >= RIG_POSITION_NONE)
        return rig_fail(err, RIG_E_LIMIT, "%s: the history and its certificate have too many operations", output->path);
    for (size_t line = 0; line < count && rc == RIG_OK; line++) {
        rig_certificate_text_write(writer->text.dialect, certificate, line, (uint32_t)(index + line),
                                   &writer->text.buf);
        if (writer->text.buf.size >= flush_bytes || writer->text.buf.failed || line + 1 == count)
            rc = flush(writer, output, err);
    }
    return rc;
}

enum rig_rc rig_operation_write(const struct rig_history *history, const struct rig_syntax *dialect,
                                struct rig_output *output, struct rig_err *err)
{
    struct writer writer = {.history = history};
    struct rig_event_walk walk;
    if (!rig_event_walk_init(&walk, history))
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", output->path);
    rig_arena_init(&writer.lists, 0);
    rig_operation_text_init(&writer.text, dialect, history);
    if (history->txn_count == 0 && history->fault_count == 0)
        rig_buf_add_text(&writer.text.buf, dialect->empty);
    enum rig_rc rc = write_events(&writer, &walk, output, err);
    if (rc == RIG_OK)
        rc = write_certificate(&writer, writer.next, output, err);
    rig_event_walk_done(&walk);
    rig_operation_text_done(&writer.text);
    op_vec_done(&writer.ops);
    read_vec_done(&writer.reads);
    rig_arena_done(&writer.lists);
    return rc;
}
