#include "history/text/operation_text.h"

#include <string.h>

#include "base/json_write.h"
#include "history/model/columns.h"
#include "history/model/history.h"
#include "history/model/read_list.h"
#include "history/model/shared_value.h"
#include "history/model/value_texts.h"
#include "history/source/event_walk.h"
#include "history/text/certificate_text.h"
#include "history/text/fault_text.h"
#include "history/text/operation_parser.h"
#include "history/types/types.h"

static const size_t most_kept_bytes = (size_t)64 << 20;

const struct rig_syntax rig_syntax_json = {
    .field_open = ",\"",
    .field_close = "\":",
    .index = "{\"index\":",
    .type = ",\"type\":\"",
    .process = "\",\"process\":",
    .time = ",\"time\":",
    .value = ",\"f\":\"txn\",\"value\":",
    .error = ",\"error\":",
    .end = "}\n",
    .name_open = "[\"",
    .name_close = "\"",
    .separator = ",",
    .null = "null",
    .empty = "[]\n",
};

const struct rig_syntax rig_syntax_edn = {
    .field_open = ", :",
    .field_close = " ",
    .index = "{:index ",
    .type = ", :type :",
    .process = ", :process ",
    .time = ", :time ",
    .value = ", :f :txn, :value ",
    .error = ", :error ",
    .end = "}\n",
    .name_open = "[:",
    .name_close = "",
    .separator = " ",
    .null = "nil",
    .empty = "()\n",
    .has_keywords = true,
};

void rig_operation_text_init(struct rig_operation_text *text, const struct rig_syntax *dialect,
                             const struct rig_history *history)
{
    *text = (struct rig_operation_text){.dialect = dialect};
    if (history != NULL) {
        text->key_texts = history->key_texts;
        text->keyword_keys = history->keyword_keys;
        text->value_keys = history->value_keys;
    }
    rig_buf_init(&text->buf, (size_t)1 << 36);
    rig_table_init(&text->list_ids);
}

static void drop_lists(struct rig_operation_text *text)
{
    for (size_t i = 0; i < text->lists.count; i++) {
        rig_buf_done(&text->lists.at[i].text);
        rig_text_ends_done(&text->lists.at[i].ends);
    }
    text->lists.count = 0;
    text->free_lists.count = 0;
    text->kept_bytes = 0;
    rig_table_clear(&text->list_ids);
}

void rig_operation_text_done(struct rig_operation_text *text)
{
    drop_lists(text);
    rig_list_texts_done(&text->lists);
    rig_text_ends_done(&text->free_lists);
    rig_table_done(&text->list_ids);
    rig_buf_done(&text->buf);
}

/* ---- lists ---- */

/* The element at `index`, which need not be aligned. */
static int64_t element_at(const struct rig_record_read *read, uint32_t index)
{
    int64_t element;
    memcpy(&element, (const char *)read->elements + (size_t)index * sizeof element, sizeof element);
    return element;
}

static void put_value(const struct rig_operation_text *text, struct rig_buf *out, int64_t value)
{
    if (value >= RIG_VALUE_TEXTS_BELOW)
        rig_buf_add_int(out, value);
    else if (text->dialect->has_keywords)
        rig_value_add(out, value);
    else
        rig_value_add_json(out, value);
}

static void put_elements(struct rig_operation_text *text, const struct rig_record_read *read, uint32_t from)
{
    for (uint32_t i = from; i < read->count; i++) {
        if (i > 0)
            rig_buf_add_text(&text->buf, text->dialect->separator);
        put_value(text, &text->buf, element_at(read, i));
    }
}

static size_t list_bytes(const struct rig_list_text *list)
{
    return list->text.capacity + list->ends.capacity * sizeof list->ends.at[0];
}

/* The kept list of the key, new if it had none; NULL when memory runs out. */
static struct rig_list_text *find_list(struct rig_operation_text *text, int64_t key)
{
    if (text->kept_bytes > most_kept_bytes)
        drop_lists(text);
    uint32_t *id = rig_table_put(&text->list_ids, (uint64_t)key);
    if (id == NULL)
        return NULL;
    if (*id != RIG_TABLE_NONE)
        return &text->lists.at[*id];
    if (text->free_lists.count > 0) {
        *id = text->free_lists.at[--text->free_lists.count];
        return &text->lists.at[*id];
    }
    struct rig_list_text fresh = {0};
    rig_buf_init(&fresh.text, UINT32_MAX);
    if (!rig_list_texts_add(&text->lists, fresh)) {
        rig_table_remove(&text->list_ids, (uint64_t)key);
        return NULL;
    }
    *id = (uint32_t)text->lists.count - 1;
    return &text->lists.at[*id];
}

/* Extends the kept text to the part of the origin that the read has; false when there is no room. */
static bool extend_list(struct rig_operation_text *text, struct rig_list_text *list, const struct rig_record_read *read)
{
    if (list->origin != read->origin) {
        list->origin = read->origin;
        list->ends.count = 0;
        rig_buf_clear(&list->text);
    }
    if (list->ends.count >= read->origin_count)
        return true;
    text->kept_bytes -= list_bytes(list);
    bool fits = rig_text_ends_reserve(&list->ends, read->origin_count);
    for (uint32_t i = (uint32_t)list->ends.count; fits && i < read->origin_count; i++) {
        if (i > 0)
            rig_buf_add_text(&list->text, text->dialect->separator);
        put_value(text, &list->text, element_at(read, i));
        fits = !list->text.failed;
        if (fits)
            list->ends.at[list->ends.count++] = (uint32_t)list->text.size;
    }
    if (!fits) {
        list->origin = 0;
        list->ends.count = 0;
        rig_buf_clear(&list->text);
    }
    text->kept_bytes += list_bytes(list);
    return fits;
}

static void put_list(struct rig_operation_text *text, int64_t key, const struct rig_record_read *read)
{
    uint32_t from = 0;
    rig_buf_add_char(&text->buf, '[');
    if (read->origin != 0 && read->origin_count > 0) {
        struct rig_list_text *list = find_list(text, key);
        if (list != NULL && extend_list(text, list, read)) {
            from = read->origin_count;
            rig_buf_add(&text->buf, list->text.data, list->ends.at[from - 1]);
        }
    }
    put_elements(text, read, from);
    rig_buf_add_char(&text->buf, ']');
}

void rig_operation_text_forget(struct rig_operation_text *text, int64_t key)
{
    uint32_t id = rig_table_get(&text->list_ids, (uint64_t)key);
    if (id == RIG_TABLE_NONE)
        return;
    rig_table_remove(&text->list_ids, (uint64_t)key);
    text->lists.at[id].origin = 0;
    text->lists.at[id].ends.count = 0;
    rig_buf_clear(&text->lists.at[id].text);
    (void)rig_text_ends_add(&text->free_lists, id); /* without memory it is lost until all are dropped */
}

/* ---- operations ---- */

static void put_key(struct rig_operation_text *text, int64_t key)
{
    if (text->key_texts == NULL) {
        rig_buf_add_int(&text->buf, key);
    } else if (text->value_keys && text->dialect->has_keywords) {
        rig_buf_add_text(&text->buf, text->key_texts[key]);
    } else if (text->value_keys) {
        rig_value_text_add_json(&text->buf, text->key_texts[key]);
    } else if (text->keyword_keys && text->dialect->has_keywords) {
        rig_buf_add_char(&text->buf, ':');
        rig_buf_add_text(&text->buf, text->key_texts[key]);
    } else {
        rig_json_quote(&text->buf, text->key_texts[key], strlen(text->key_texts[key]));
    }
}

/* `read` NULL: of an invocation. */
static void put_read(struct rig_operation_text *text, const struct rig_op *op, const struct rig_record_read *read,
                     enum rig_outcome outcome)
{
    if (read != NULL && read->state == RIG_READ_UNKNOWN && outcome == RIG_OUTCOME_OK)
        return;
    rig_buf_add_text(&text->buf, text->dialect->separator);
    if (read == NULL || read->state != RIG_READ_SEEN)
        rig_buf_add_text(&text->buf, text->dialect->null);
    else if (rig_op_reads_sequence(op->kind))
        put_list(text, op->key, read);
    else
        put_value(text, &text->buf, read->value);
}

static void put_micro(struct rig_operation_text *text, const struct rig_op *op, const struct rig_record_read *read,
                      enum rig_outcome outcome)
{
    const struct rig_syntax *dialect = text->dialect;
    rig_buf_add_text(&text->buf, dialect->name_open);
    rig_buf_add_text(&text->buf, rig_op_infos[op->kind].name);
    rig_buf_add_text(&text->buf, dialect->name_close);
    rig_buf_add_text(&text->buf, dialect->separator);
    put_key(text, op->key);
    if (rig_op_reads(op->kind)) {
        put_read(text, op, read, outcome);
    } else {
        rig_buf_add_text(&text->buf, dialect->separator);
        put_value(text, &text->buf, op->value);
    }
    rig_buf_add_char(&text->buf, ']');
}

/* Writes the line up to the operations. */
static void put_head(struct rig_operation_text *text, const struct rig_operation_head *head, const char *type)
{
    const struct rig_syntax *dialect = text->dialect;
    rig_buf_add_text(&text->buf, dialect->index);
    rig_buf_add_int(&text->buf, (long long)head->index);
    rig_buf_add_text(&text->buf, dialect->type);
    rig_buf_add_text(&text->buf, type);
    rig_buf_add_text(&text->buf, dialect->process);
    rig_buf_add_int(&text->buf, head->process);
    if (head->time_ns != RIG_NO_TIME) {
        rig_buf_add_text(&text->buf, dialect->time);
        rig_buf_add_int(&text->buf, head->time_ns);
    }
    rig_buf_add_text(&text->buf, dialect->value);
    rig_buf_add_char(&text->buf, '[');
}

void rig_operation_text_invoke(struct rig_operation_text *text, const struct rig_operation_head *head,
                               const struct rig_op *ops, uint32_t op_count)
{
    put_head(text, head, "invoke");
    for (uint32_t i = 0; i < op_count; i++) {
        if (i > 0)
            rig_buf_add_text(&text->buf, text->dialect->separator);
        put_micro(text, &ops[i], NULL, RIG_OUTCOME_OK);
    }
    rig_buf_add_char(&text->buf, ']');
    rig_buf_add_text(&text->buf, text->dialect->end);
}

static void put_field(struct rig_operation_text *text, const char *name)
{
    rig_buf_add_text(&text->buf, text->dialect->field_open);
    rig_buf_add_text(&text->buf, name);
    rig_buf_add_text(&text->buf, text->dialect->field_close);
}

/* [[start end] ...] */
static void put_spans(struct rig_operation_text *text, struct rig_spans spans)
{
    rig_buf_add_char(&text->buf, '[');
    for (uint32_t i = 0; i < spans.count; i++) {
        rig_buf_add_text(&text->buf, i == 0 ? "[" : text->dialect->separator);
        if (i > 0)
            rig_buf_add_char(&text->buf, '[');
        rig_buf_add_int(&text->buf, spans.at[2 * i]);
        rig_buf_add_text(&text->buf, text->dialect->separator);
        rig_buf_add_int(&text->buf, spans.at[2 * i + 1]);
        rig_buf_add_char(&text->buf, ']');
    }
    rig_buf_add_char(&text->buf, ']');
}

static void put_columns(struct rig_operation_text *text, const struct rig_record_completion *completion)
{
    const uint32_t given = completion->columns == NULL ? 0 : completion->columns->given & RIG_COLUMNS_KEPT;
    for (uint32_t left = given; left != 0; left &= left - 1) {
        const enum rig_column column = (enum rig_column)__builtin_ctz(left);
        const int64_t value = completion->columns->at[column];
        if (value == RIG_COLUMN_NONE)
            continue;
        put_field(text, rig_column_infos[column].name);
        if (rig_column_infos[column].type == RIG_COLUMN_NUMBER)
            rig_buf_add_int(&text->buf, value);
        else if (rig_column_infos[column].type == RIG_COLUMN_SPANS)
            put_spans(text, completion->spans);
        else
            rig_json_quote(&text->buf, completion->names[value], strlen(completion->names[value]));
    }
}

/* Appends the wall clock's time when times were 0 to the operation written last; 0: nothing. */
static void operation_text_start(struct rig_operation_text *text, int64_t start_utc_ns)
{
    const size_t end_bytes = strlen(text->dialect->end);
    if (start_utc_ns == 0 || text->buf.failed || text->buf.size < end_bytes)
        return;
    text->buf.size -= end_bytes;
    put_field(text, RIG_START_FIELD);
    rig_buf_add_int(&text->buf, start_utc_ns);
    rig_buf_add_text(&text->buf, text->dialect->end);
}

void rig_operation_text_complete(struct rig_operation_text *text, const struct rig_operation_head *head,
                                 const struct rig_op *ops, uint32_t op_count,
                                 const struct rig_record_completion *completion)
{
    static const char *const outcomes[] = {"ok", "fail", "info"};
    static const struct rig_record_read unknown = {.state = RIG_READ_UNKNOWN};
    put_head(text, head, outcomes[completion->outcome]);
    for (uint32_t i = 0; i < op_count; i++) {
        if (i > 0)
            rig_buf_add_text(&text->buf, text->dialect->separator);
        put_micro(text, &ops[i], completion->reads == NULL ? &unknown : &completion->reads[i], completion->outcome);
    }
    rig_buf_add_char(&text->buf, ']');
    put_columns(text, completion);
    if (completion->error != NULL) {
        rig_buf_add_text(&text->buf, text->dialect->error);
        rig_json_quote(&text->buf, completion->error, completion->error_length);
    }
    rig_buf_add_text(&text->buf, text->dialect->end);
}

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
    if (rig_op_is_ambiguous(mop)) /* the reader of the file knows it by its value */
        *out = (struct rig_record_read){.state = RIG_READ_SEEN, .value = mop->value};
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
        completion.spans = rig_history_times(history, event.txn);
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
            operation_text_start(&writer->text, writer->history->start_utc_ns);
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
