#include "history/text/operation_text.h"

#include <string.h>

#include "base/json_write.h"
#include "history/model/columns.h"
#include "history/model/history.h"
#include "history/text/operation_parser.h"
#include "history/types/types.h"
#include "history/model/value_texts.h"

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
        else
            rig_json_quote(&text->buf, completion->names[value], strlen(completion->names[value]));
    }
}

void rig_operation_text_start(struct rig_operation_text *text, int64_t start_utc_ns)
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
