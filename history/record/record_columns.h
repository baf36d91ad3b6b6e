/*
 * Side columns in the binary record (docs/history-format.md): in the header, and with each completion.
 *
 * A completion has the columns that differ from what the client's last transaction in the block makes expected
 * (history/model/transaction.h): usually none, which takes one byte.
 *
 * Private to the record's readers and writers. Space: 136 bytes a client, and the names of a block.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_COLUMNS_H
#define RIG_HISTORY_RECORD_RECORD_COLUMNS_H

#include "base/buf.h"
#include "base/err.h"
#include "history/model/columns.h"
#include "history/record/record_cursor.h"
#include "history/record/record_encoder.h"

/* Encodings of a column whose expected value is that of the client's last transaction. */
enum { RIG_COLUMN_CODE_NONE = 0, RIG_COLUMN_CODE_NEW_NAME = 1, RIG_COLUMN_CODE_FIRST_NAME = 2 };

/* The columns of a record, in the order of the header. */
struct rig_record_columns {
    uint8_t at[RIG_COLUMN_COUNT]; /* enum rig_column */
    uint32_t count;
};

RIG_VEC(struct rig_column_row, rig_column_row_vec)

/* ---- writing ---- */

struct rig_columns_encoder {
    struct rig_record_columns columns;
    struct rig_column_row_vec last; /* by client: the columns of its last transaction in this block */
    struct rig_column_row last_lone;
    int64_t next[RIG_COLUMN_COUNT]; /* last value in this block, for columns that expect the next number */
    struct rig_text_table names;    /* of this block */
};

void rig_columns_encoder_init(struct rig_columns_encoder *encoder, uint32_t bits);
void rig_columns_encoder_done(struct rig_columns_encoder *encoder);
/* A block begins. */
void rig_columns_encoder_restart(struct rig_columns_encoder *encoder);
void rig_columns_encoder_header(const struct rig_columns_encoder *encoder, struct rig_buf *frame);
/* The columns of a transaction of `client` (UINT32_MAX: it has no invocation). False when memory runs out. */
bool rig_columns_encoder_put(struct rig_columns_encoder *encoder, uint32_t client,
                             const struct rig_record_completion *completion, struct rig_buf *frame);

/* ---- reading ---- */

struct rig_columns_name {
    const char *text;
    uint32_t length;
    uint32_t stamp; /* the segment to which `number` belongs */
    int64_t number;
};

RIG_VEC(struct rig_columns_name, rig_columns_name_vec)

struct rig_columns_decoder {
    struct rig_record_columns columns;
    uint8_t lasting[RIG_COLUMN_COUNT]; /* those whose last value is expected */
    uint32_t lasting_count;
    struct rig_column_row_vec last; /* by slot; names by their number in the block */
    struct rig_column_row last_lone;
    int64_t next[RIG_COLUMN_COUNT];
    struct rig_columns_name_vec names; /* of this block */
    struct rig_column_values spans;    /* those that are being read */
};

void rig_columns_decoder_init(struct rig_columns_decoder *decoder, const struct rig_record_columns *columns);
void rig_columns_decoder_done(struct rig_columns_decoder *decoder);
void rig_columns_decoder_restart(struct rig_columns_decoder *decoder);

/* The header's columns; false for an unknown or repeated column and for a malformed number. */
bool rig_record_columns_read(struct rig_record_cursor *cursor, struct rig_record_columns *columns);

/* The last values of the client of `slot` in this block. NULL when memory runs out. */
struct rig_column_row *rig_columns_last(struct rig_columns_decoder *decoder, size_t slot);

#endif
