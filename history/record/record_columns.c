#include "history/record/record_columns.h"

#include <string.h>

#include "base/bug.h"
#include "history/record/record_cursor.h"

/* From RIG_COLUMN_BIT()s, without those that no record holds. */
static struct rig_record_columns columns_of(uint32_t bits)
{
    struct rig_record_columns columns = {0};
    for (bits &= RIG_COLUMNS_KEPT; bits != 0; bits &= bits - 1)
        columns.at[columns.count++] = (uint8_t)__builtin_ctz(bits);
    return columns;
}

/* ---- writing ---- */

void rig_columns_encoder_init(struct rig_columns_encoder *encoder, uint32_t bits)
{
    *encoder = (struct rig_columns_encoder){.columns = columns_of(bits)};
    rig_text_table_init(&encoder->names, 0);
}

void rig_columns_encoder_done(struct rig_columns_encoder *encoder)
{
    rig_column_row_vec_done(&encoder->last);
    rig_text_table_done(&encoder->names);
}

void rig_columns_encoder_restart(struct rig_columns_encoder *encoder)
{
    for (size_t i = 0; i < encoder->last.count; i++)
        encoder->last.at[i].given = 0;
    encoder->last_lone.given = 0;
    memset(encoder->next, 0, sizeof encoder->next);
    rig_text_table_done(&encoder->names);
    rig_text_table_init(&encoder->names, 0);
}

void rig_columns_encoder_header(const struct rig_columns_encoder *encoder, struct rig_buf *frame)
{
    rig_varint_put(frame, encoder->columns.count);
    for (uint32_t i = 0; i < encoder->columns.count; i++)
        rig_varint_put(frame, encoder->columns.at[i]);
}

static bool put_name(struct rig_columns_encoder *encoder, const char *name, struct rig_buf *frame)
{
    const size_t length = strlen(name);
    const uint32_t known = encoder->names.count;
    const uint32_t number = rig_text_table_put(&encoder->names, name, length);
    if (number == RIG_TABLE_NONE)
        return false;
    if (number < known) {
        rig_varint_put(frame, number + (uint64_t)RIG_COLUMN_CODE_FIRST_NAME);
        return true;
    }
    rig_varint_put(frame, RIG_COLUMN_CODE_NEW_NAME);
    rig_varint_put(frame, length);
    rig_buf_add(frame, name, length);
    return true;
}

static int64_t value_of(const struct rig_column_row *row, enum rig_column column)
{
    return (row->given & RIG_COLUMN_BIT(column)) != 0 ? row->at[column] : RIG_COLUMN_NONE;
}

/* A count, and each number as the difference to the one before. */
static void put_spans(struct rig_spans spans, struct rig_buf *frame)
{
    int64_t last = 0;
    rig_varint_put(frame, spans.count);
    for (size_t i = 0; i < 2 * (size_t)spans.count; i++) {
        rig_varint_put_signed(frame, rig_difference(spans.at[i], last));
        last = spans.at[i];
    }
}

static bool put_value(struct rig_columns_encoder *encoder, enum rig_column column, int64_t value,
                      const struct rig_record_completion *completion, struct rig_buf *frame)
{
    const struct rig_column_info *info = &rig_column_infos[column];
    if (info->type == RIG_COLUMN_SPANS) {
        put_spans(completion->spans, frame);
    } else if (info->expected == RIG_COLUMN_EXPECT_NEXT) {
        rig_varint_put_signed(frame, rig_difference(value, encoder->next[column]));
        encoder->next[column] = value;
    } else if (info->expected == RIG_COLUMN_EXPECT_NOTHING) {
        rig_varint_put_signed(frame, value);
    } else if (value == RIG_COLUMN_NONE) {
        rig_varint_put(frame, RIG_COLUMN_CODE_NONE);
    } else if (info->type == RIG_COLUMN_NAME) {
        return put_name(encoder, completion->names[value], frame);
    } else {
        rig_varint_put(frame, rig_zigzag(value) + 1); /* no number is above RIG_COLUMN_NONE */
    }
    return true;
}

static struct rig_column_row *last_of(struct rig_columns_encoder *encoder, uint32_t client)
{
    if (client == UINT32_MAX)
        return &encoder->last_lone;
    while (encoder->last.count <= client) {
        if (!rig_column_row_vec_add(&encoder->last, (struct rig_column_row){0}))
            return NULL;
    }
    return &encoder->last.at[client];
}

bool rig_columns_encoder_put(struct rig_columns_encoder *encoder, uint32_t client,
                             const struct rig_record_completion *completion, struct rig_buf *frame)
{
    static const struct rig_column_row nothing = {0};
    const struct rig_column_row *row = completion->columns == NULL ? &nothing : completion->columns;
    struct rig_column_row *last = last_of(encoder, client);
    uint64_t differs = 0;
    if (last == NULL)
        return false;
    for (uint32_t i = 0; i < encoder->columns.count; i++) {
        const enum rig_column column = (enum rig_column)encoder->columns.at[i];
        const bool lasts = rig_column_infos[column].expected == RIG_COLUMN_EXPECT_LAST;
        const int64_t expected = lasts ? value_of(last, column) : RIG_COLUMN_NONE;
        differs |= (uint64_t)(value_of(row, column) != expected) << i;
    }
    rig_varint_put(frame, differs);
    for (; differs != 0; differs &= differs - 1) {
        const enum rig_column column = (enum rig_column)encoder->columns.at[__builtin_ctzll(differs)];
        if (!put_value(encoder, column, value_of(row, column), completion, frame))
            return false;
    }
    *last = *row;
    return true;
}

/* ---- reading ---- */

void rig_columns_decoder_init(struct rig_columns_decoder *decoder, const struct rig_record_columns *columns)
{
    *decoder = (struct rig_columns_decoder){.columns = *columns};
    for (uint32_t i = 0; i < columns->count; i++) {
        if (rig_column_infos[columns->at[i]].expected == RIG_COLUMN_EXPECT_LAST)
            decoder->lasting[decoder->lasting_count++] = columns->at[i];
    }
}

void rig_columns_decoder_done(struct rig_columns_decoder *decoder)
{
    rig_column_row_vec_done(&decoder->last);
    rig_columns_name_vec_done(&decoder->names);
    rig_column_values_done(&decoder->spans);
}

void rig_columns_decoder_restart(struct rig_columns_decoder *decoder)
{
    for (size_t i = 0; i < decoder->last.count; i++)
        decoder->last.at[i].given = 0;
    decoder->last_lone.given = 0;
    memset(decoder->next, 0, sizeof decoder->next);
    decoder->names.count = 0;
}

bool rig_record_columns_read(struct rig_record_cursor *cursor, struct rig_record_columns *columns)
{
    uint32_t bits = 0;
    const uint64_t count = rig_cursor_number(cursor);
    for (uint64_t i = 0; i < count && cursor->bad == NULL; i++) {
        const uint64_t column = rig_cursor_number(cursor);
        const bool known = column < RIG_COLUMN_COUNT && (RIG_COLUMNS_KEPT & RIG_COLUMN_BIT(column)) != 0;
        if (!known || (bits & ~(RIG_COLUMN_BIT(column) - 1)) != 0)
            return false;
        bits |= RIG_COLUMN_BIT(column);
    }
    *columns = columns_of(bits);
    return cursor->bad == NULL && count > 0;
}

struct rig_column_row *rig_columns_last(struct rig_columns_decoder *decoder, size_t slot)
{
    while (decoder->last.count <= slot) {
        if (!rig_column_row_vec_add(&decoder->last, (struct rig_column_row){0}))
            return NULL;
    }
    return &decoder->last.at[slot];
}
