#include "history/operation_writer.h"

#include <string.h>

#include "base/bug.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "history/event_walk.h"

static const size_t flush_bytes = (size_t)1 << 20;

struct writer {
    const struct rig_history *history;
    const struct rig_dialect *dialect;
    struct rig_buf buf;
};

static const struct {
    const char *name;
    bool reads;
} kinds[] = {
#define KIND(kind, text, does_read, help) [kind] = {text, does_read},
    RIG_OP_TABLE(KIND)
#undef KIND
};

static void put_list(struct writer *writer, struct rig_list list)
{
    rig_buf_add_char(&writer->buf, '[');
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0)
            rig_buf_add_text(&writer->buf, writer->dialect->separator);
        rig_buf_add_int(&writer->buf, list.at[i]);
    }
    rig_buf_add_char(&writer->buf, ']');
}

static void put_key(struct writer *writer, uint32_t key)
{
    const struct rig_history *history = writer->history;
    int64_t number = history->keys[key];
    if (history->key_texts == NULL) {
        rig_buf_add_int(&writer->buf, number);
    } else if (history->keyword_keys && writer->dialect->has_keywords) {
        rig_buf_add_char(&writer->buf, ':');
        rig_buf_add_text(&writer->buf, history->key_texts[number]);
    } else {
        rig_json_quote(&writer->buf, history->key_texts[number], strlen(history->key_texts[number]));
    }
}

static void put_read(struct writer *writer, const struct rig_mop *mop, bool is_completion, enum rig_outcome outcome)
{
    bool is_list = mop->kind == RIG_OP_READ_LIST || mop->kind == RIG_OP_READ_SET;
    if (is_completion && mop->read_state == RIG_READ_UNKNOWN && outcome == RIG_OUTCOME_OK)
        return;
    rig_buf_add_text(&writer->buf, writer->dialect->separator);
    if (!is_completion || mop->read_state != RIG_READ_SEEN)
        rig_buf_add_text(&writer->buf, writer->dialect->null);
    else if (is_list)
        put_list(writer, rig_mop_list(writer->history, mop));
    else
        rig_buf_add_int(&writer->buf, mop->value);
}

static void put_micro(struct writer *writer, const struct rig_mop *mop, bool is_completion, enum rig_outcome outcome)
{
    const struct rig_dialect *dialect = writer->dialect;
    rig_buf_add_text(&writer->buf, dialect->name_open);
    rig_buf_add_text(&writer->buf, kinds[mop->kind].name);
    rig_buf_add_text(&writer->buf, dialect->name_close);
    rig_buf_add_text(&writer->buf, dialect->separator);
    put_key(writer, mop->key);
    if (kinds[mop->kind].reads) {
        put_read(writer, mop, is_completion, outcome);
    } else {
        rig_buf_add_text(&writer->buf, dialect->separator);
        rig_buf_add_int(&writer->buf, mop->value);
    }
    rig_buf_add_char(&writer->buf, ']');
}

static void put_event(struct writer *writer, struct rig_event event)
{
    static const char *const outcomes[] = {"ok", "fail", "info"};
    const struct rig_history *history = writer->history;
    const struct rig_dialect *dialect = writer->dialect;
    const struct rig_txn *txn = &history->txns[event.txn];
    int64_t time_ns = event.is_completion ? txn->complete_ns : txn->invoke_ns;
    rig_buf_add_text(&writer->buf, dialect->index);
    rig_buf_add_int(&writer->buf, event.position);
    rig_buf_add_text(&writer->buf, dialect->type);
    rig_buf_add_text(&writer->buf, event.is_completion ? outcomes[txn->outcome] : "invoke");
    rig_buf_add_text(&writer->buf, dialect->process);
    rig_buf_add_int(&writer->buf, txn->process);
    if (time_ns != RIG_NO_TIME) {
        rig_buf_add_text(&writer->buf, dialect->time);
        rig_buf_add_int(&writer->buf, time_ns);
    }
    rig_buf_add_text(&writer->buf, dialect->value);
    rig_buf_add_char(&writer->buf, '[');
    const struct rig_mop *mops = rig_txn_ops(history, event.txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, event.txn); i++) {
        if (i > 0)
            rig_buf_add_text(&writer->buf, dialect->separator);
        put_micro(writer, &mops[i], event.is_completion, (enum rig_outcome)txn->outcome);
    }
    rig_buf_add_char(&writer->buf, ']');
    if (event.is_completion && txn->error != 0) {
        const char *error = history->errors[txn->error - 1];
        rig_buf_add_text(&writer->buf, dialect->error);
        rig_json_quote(&writer->buf, error, strlen(error));
    }
    rig_buf_add_text(&writer->buf, dialect->end);
}

static enum rig_rc flush(struct writer *writer, struct rig_output *output, struct rig_err *err)
{
    if (writer->buf.failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: no memory for a transaction's text", output->path);
    enum rig_rc rc = rig_output_write(output, writer->buf.data, writer->buf.size, err);
    rig_buf_clear(&writer->buf);
    return rc;
}

enum rig_rc rig_operation_write(const struct rig_history *history, const struct rig_dialect *dialect,
                                struct rig_output *output, struct rig_err *err)
{
    struct writer writer = {.history = history, .dialect = dialect};
    struct rig_event_walk walk;
    struct rig_event event;
    enum rig_rc rc = RIG_OK;
    if (!rig_event_walk_init(&walk, history))
        return rig_fail(err, RIG_E_LIMIT, "%s: no memory for writing the history", output->path);
    rig_buf_init(&writer.buf, (size_t)1 << 36);
    if (history->txn_count == 0)
        rig_buf_add_text(&writer.buf, dialect->empty);
    while (rc == RIG_OK && rig_event_walk_next(&walk, &event)) {
        put_event(&writer, event);
        if (writer.buf.size >= flush_bytes || writer.buf.failed)
            rc = flush(&writer, output, err);
    }
    if (rc == RIG_OK)
        rc = flush(&writer, output, err);
    rig_event_walk_done(&walk);
    rig_buf_done(&writer.buf);
    return rc;
}
