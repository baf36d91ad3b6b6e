#include "history/record/record_texts.h"

#include <string.h>

#include "base/table.h"
#include "history/model/value_texts.h"
#include "history/record/record_cursor.h"
#include "history/text/value_reader.h"

/* ---- Writing ---- */

struct finding {
    struct rig_table known;
    struct rig_value_numbers *numbers;
    bool failed;
};

static void find_one(struct finding *finding, int64_t value)
{
    if (finding->failed || value >= RIG_VALUE_TEXTS_BELOW || rig_value_text(value) == NULL)
        return;
    uint32_t *place = rig_table_put(&finding->known, (uint64_t)value);
    finding->failed = place == NULL || (*place == RIG_TABLE_NONE && !rig_value_numbers_add(finding->numbers, value));
    if (place != NULL)
        *place = 0;
}

static void find_all(struct finding *finding, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        find_one(finding, values[i]);
}

bool rig_record_texts_find(const struct rig_history *history, struct rig_value_numbers *numbers)
{
    struct finding finding = {.numbers = numbers};
    if (rig_value_texts_bytes() == 0)
        return true;
    rig_table_init(&finding.known);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (!rig_op_reads_sequence(op->kind))
            find_one(&finding, op->value);
    }
    for (uint32_t i = 0; rig_workload_has_sequences(history->workload) && i < history->key_count; i++)
        find_all(&finding, history->spines[i].at, history->spines[i].count);
    for (uint32_t i = 0; i < history->branch_count; i++)
        find_all(&finding, history->branches[i].tail, history->branches[i].count - history->branches[i].shared);
    rig_table_done(&finding.known);
    return !finding.failed;
}

void rig_record_texts_put(struct rig_buf *header, const struct rig_value_numbers *numbers)
{
    rig_varint_put(header, numbers->count);
    for (size_t i = 0; i < numbers->count; i++) {
        const char *text = rig_value_text(numbers->at[i]);
        rig_varint_put_signed(header, numbers->at[i]);
        rig_varint_put(header, strlen(text));
        rig_buf_add_text(header, text);
    }
}

/* ---- Reading ---- */

bool rig_record_text_is_value(const char *text, size_t length, bool *is_integer)
{
    struct rig_operation_parser parser;
    int64_t number = 0;
    rig_operation_parser_init(&parser, &rig_text_syntax_edn, "", text, length, NULL);
    const bool is_value = rig_value_read(&parser, &parser.value_text, is_integer, &number) == RIG_OK &&
                          parser.cursor.at == text + length && parser.value_text.size == length &&
                          memcmp(rig_buf_text(&parser.value_text), text, length) == 0;
    rig_operation_parser_done(&parser);
    return is_value;
}

enum rig_rc rig_record_texts_read(struct rig_record_decoder *decoder, size_t limit_bytes)
{
    uint64_t count = rig_cursor_number(&decoder->cursor);
    for (; count > 0 && decoder->cursor.bad == NULL; count--) {
        const int64_t told = rig_cursor_signed(&decoder->cursor);
        const char *text = NULL;
        uint32_t length = 0;
        int64_t number = 0;
        bool is_integer = false;
        const enum rig_rc rc = rig_record_get_text(decoder, &text, &length);
        if (rc != RIG_OK)
            return rc;
        if (!rig_record_text_is_value(text, length, &is_integer) || is_integer)
            return rig_record_damaged(decoder, "a text that is no value");
        if (!rig_value_number(text, length, &number) || (limit_bytes != 0 && rig_value_texts_bytes() > limit_bytes))
            return rig_record_no_memory(decoder);
        if (number != told)
            return rig_record_damaged(decoder, "a value with another number than its text has here");
    }
    return decoder->cursor.bad == NULL ? RIG_OK : rig_record_no_number(decoder);
}
