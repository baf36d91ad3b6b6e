#include "history/record/record_annotations.h"

/* ---- Errors ---- */

static enum rig_rc use_text(struct rig_record_decoder *decoder, const char *text, uint32_t length, uint32_t *id)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_segment_error error = {.text = rig_arena_text(&segment->texts, text, length), .length = length};
    if (error.text == NULL || segment->errors.count >= UINT32_MAX - 1 ||
        !rig_segment_errors_add(&segment->errors, error))
        return rig_record_no_memory(decoder);
    *id = (uint32_t)segment->errors.count;
    return RIG_OK;
}

enum rig_rc rig_record_get_error(struct rig_record_decoder *decoder, uint32_t *id)
{
    uint64_t code = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (code < RIG_ERROR_FIRST_ID) {
        const char *at = NULL;
        uint32_t length = 0;
        enum rig_rc rc = rig_record_get_text(decoder, &at, &length);
        if (rc != RIG_OK || code == RIG_ERROR_INLINE)
            return rc != RIG_OK ? rc : use_text(decoder, at, length, id);
        struct rig_record_text text = {.at = rig_arena_text(&decoder->texts, at, length), .length = length};
        if (text.at == NULL || !rig_record_text_vec_add(&decoder->errors, text))
            return rig_record_no_memory(decoder);
        code = decoder->errors.count - 1 + RIG_ERROR_FIRST_ID;
    }
    if (code - RIG_ERROR_FIRST_ID >= decoder->errors.count)
        return rig_record_damaged(decoder, "an error text that is not defined");
    struct rig_record_text *text = &decoder->errors.at[code - RIG_ERROR_FIRST_ID];
    if (text->stamp != decoder->stamp) {
        enum rig_rc rc = use_text(decoder, text->at, text->length, &text->id);
        if (rc != RIG_OK)
            return rc;
        text->stamp = decoder->stamp;
    }
    *id = text->id;
    return RIG_OK;
}

/* ---- Side columns ---- */

static enum rig_rc get_new_name(struct rig_record_decoder *decoder, int64_t *number)
{
    struct rig_columns_name name = {0};
    enum rig_rc rc = rig_record_get_text(decoder, &name.text, &name.length);
    if (rc != RIG_OK)
        return rc;
    if (!rig_column_name_fits(name.text, name.length))
        return rig_record_damaged(decoder, "a name that is empty, too long, or has control characters");
    name.text = rig_arena_text(&decoder->texts, name.text, name.length);
    if (name.text == NULL || !rig_columns_name_vec_add(&decoder->columns.names, name))
        return rig_record_no_memory(decoder);
    *number = (int64_t)decoder->columns.names.count - 1;
    return RIG_OK;
}

/* A value that differs from the last one, which was expected. */
static enum rig_rc get_other(struct rig_record_decoder *decoder, enum rig_column column, struct rig_column_row *last)
{
    const uint64_t code = rig_cursor_number(&decoder->cursor);
    int64_t value = 0;
    enum rig_rc rc = RIG_OK;
    if (code == RIG_COLUMN_CODE_NONE) {
        last->given &= ~RIG_COLUMN_BIT(column);
        return RIG_OK;
    }
    if (rig_column_infos[column].type == RIG_COLUMN_NUMBER)
        value = rig_unzigzag(code - 1);
    else if (code == RIG_COLUMN_CODE_NEW_NAME)
        rc = get_new_name(decoder, &value);
    else if (code - RIG_COLUMN_CODE_FIRST_NAME < decoder->columns.names.count)
        value = (int64_t)(code - RIG_COLUMN_CODE_FIRST_NAME);
    else
        return rig_record_damaged(decoder, "a name that is not defined");
    rig_column_give(last, column, value);
    return rc;
}

/* The columns of the segment's transaction `txn` that are not as expected; keeps the others in `last`. */
static enum rig_rc get_unexpected(struct rig_record_decoder *decoder, uint64_t differs, struct rig_column_row *last,
                                  size_t txn)
{
    struct rig_columns_decoder *columns = &decoder->columns;
    if (differs >> columns->columns.count != 0)
        return rig_record_damaged(decoder, "a side column that the header does not name");
    for (; differs != 0; differs &= differs - 1) {
        const enum rig_column column = (enum rig_column)columns->columns.at[__builtin_ctzll(differs)];
        const enum rig_column_expected expected = rig_column_infos[column].expected;
        if (expected == RIG_COLUMN_EXPECT_LAST) {
            enum rig_rc rc = get_other(decoder, column, last);
            if (rc != RIG_OK)
                return rc;
            continue;
        }
        int64_t value = rig_cursor_signed(&decoder->cursor);
        if (expected == RIG_COLUMN_EXPECT_NEXT)
            value = columns->next[column] = rig_sum(columns->next[column], value);
        if (!rig_columns_set(&decoder->segment->columns, column, txn, value))
            return rig_record_no_memory(decoder);
    }
    return RIG_OK;
}

/* The number in the segment of a name of the block; RIG_COLUMN_NONE when memory runs out. */
static int64_t name_in_segment(struct rig_record_decoder *decoder, int64_t number)
{
    struct rig_columns_name *name = &decoder->columns.names.at[number];
    if (name->stamp != decoder->stamp) {
        name->number = rig_columns_name(&decoder->segment->columns, name->text, name->length);
        name->stamp = decoder->stamp;
    }
    return name->number;
}

static bool set_lasting(struct rig_record_decoder *decoder, const struct rig_column_row *last, size_t txn)
{
    for (uint32_t i = 0; i < decoder->columns.lasting_count; i++) {
        const enum rig_column column = (enum rig_column)decoder->columns.lasting[i];
        int64_t value = last->at[column];
        if ((last->given & RIG_COLUMN_BIT(column)) == 0)
            continue;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
            value = name_in_segment(decoder, value);
            if (value == RIG_COLUMN_NONE)
                return false;
        }
        if (!rig_columns_set(&decoder->segment->columns, column, txn, value))
            return false;
    }
    return true;
}

enum rig_rc rig_record_get_columns(struct rig_record_decoder *decoder, const struct rig_record_slot *slot)
{
    const size_t txn = decoder->segment->txns.count;
    const uint64_t differs = rig_cursor_number(&decoder->cursor);
    struct rig_column_row *last = slot == &decoder->lone
                                      ? &decoder->columns.last_lone
                                      : rig_columns_last(&decoder->columns, (size_t)(slot - decoder->slots.at));
    if (last == NULL)
        return rig_record_no_memory(decoder);
    enum rig_rc rc = differs == 0 ? RIG_OK : get_unexpected(decoder, differs, last, txn);
    if (rc == RIG_OK && !set_lasting(decoder, last, txn))
        return rig_record_no_memory(decoder);
    return rc;
}
