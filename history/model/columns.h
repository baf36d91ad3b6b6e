/*
 * Side columns of transactions (history/model/transaction.h): values parallel to the transactions of a segment, a
 * window or a history, the texts of names, and the spans of operations.
 *
 * Each column is a vector that ends with the last transaction that has a value. So an unused column takes no memory,
 * and without columns copying and dropping transactions costs nothing.
 *
 * Space: 8 bytes a transaction and column in use; the names; 16 bytes a span. Time: O(1) a value. Threads: one writer
 * or many readers.
 */
#ifndef RIG_HISTORY_MODEL_COLUMNS_H
#define RIG_HISTORY_MODEL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "history/text/text_table.h"
#include "history/model/transaction.h"

/* Spans: a start and an end for each of the transaction's first operations; the value is their place in
 * rig_columns.spans. */
enum rig_column_type { RIG_COLUMN_NUMBER, RIG_COLUMN_NAME, RIG_COLUMN_SPANS };
enum rig_column_expected {
    RIG_COLUMN_EXPECT_LAST,
    RIG_COLUMN_EXPECT_NOTHING,
    RIG_COLUMN_EXPECT_NEXT,
    RIG_COLUMN_EXPECT_DERIVED,
};

struct rig_column_info {
    const char *name; /* in files */
    enum rig_column_type type;
    enum rig_column_expected expected;
    const char *help;
};

extern const struct rig_column_info rig_column_infos[RIG_COLUMN_COUNT];

/* The columns that files hold: all except derived ones. */
enum {
    RIG_COLUMN_KEEP_LAST = 1,
    RIG_COLUMN_KEEP_NOTHING = 1,
    RIG_COLUMN_KEEP_NEXT = 1,
    RIG_COLUMN_KEEP_DERIVED = 0,
#define RIG_COLUMN_KEPT_BIT(name, text, type, expected, help) +RIG_COLUMN_KEEP_##expected *(1 << name)
    RIG_COLUMNS_KEPT = 0 RIG_COLUMN_TABLE(RIG_COLUMN_KEPT_BIT)
#undef RIG_COLUMN_KEPT_BIT
};

/* The column with this name in files, or RIG_COLUMN_COUNT; derived ones have no name there. */
enum rig_column rig_column_find(const char *name, size_t length);

/* Whether files may hold the name: 1 to RIG_COLUMN_NAME_BYTES - 1 bytes without control characters. */
bool rig_column_name_fits(const char *text, size_t length);

RIG_VEC(int64_t, rig_column_values)

/* Pairs of a start and an end. In files each number is from 0 to RIG_SPAN_MOST. */
struct rig_spans {
    const int64_t *at; /* 2 * count */
    uint32_t count;
};

#define RIG_SPAN_MOST (INT64_MAX / 4)

struct rig_columns {
    struct rig_column_values of[RIG_COLUMN_COUNT]; /* per transaction; RIG_COLUMN_NONE, or past the end: none */
    struct rig_text_table names;                   /* of columns of names, by their values */
    struct rig_column_values spans;                /* of columns of spans: a count, and that many pairs */
    struct rig_column_values map;                  /* for rig_columns_append(): names of one to those of the other */
};

/* `limit_bytes` bounds the names; 0: no limit. */
void rig_columns_init(struct rig_columns *columns, size_t limit_bytes);
void rig_columns_done(struct rig_columns *columns);
/* Empties them; keeps the memory of the values. */
void rig_columns_clear(struct rig_columns *columns, size_t limit_bytes);
size_t rig_columns_bytes(const struct rig_columns *columns);
size_t rig_columns_used_bytes(const struct rig_columns *columns);

static inline bool rig_columns_any(const struct rig_columns *columns)
{
    size_t any = 0;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        any |= columns->of[column].count;
    return any != 0;
}

static inline int64_t rig_columns_get(const struct rig_columns *columns, enum rig_column column, size_t txn)
{
    const struct rig_column_values *values = &columns->of[column];
    return txn < values->count ? values->at[txn] : RIG_COLUMN_NONE;
}

/* RIG_COLUMN_BIT()s of the columns that files hold and in which some transaction may have a value. */
uint32_t rig_columns_given(const struct rig_columns *columns);
/* The row of a transaction. */
struct rig_column_row rig_columns_row(const struct rig_columns *columns, size_t txn);
/* Sets the value of a transaction; RIG_COLUMN_NONE removes it. False when memory runs out. */
bool rig_columns_set(struct rig_columns *columns, enum rig_column column, size_t txn, int64_t value);
/* Sets the values that the row gives. */
bool rig_columns_set_row(struct rig_columns *columns, size_t txn, const struct rig_column_row *row);
/* The number of a name; RIG_COLUMN_NONE when memory or the limit is spent. No NUL inside. */
int64_t rig_columns_name(struct rig_columns *columns, const char *text, size_t length);
/* Adds spans; their place, or RIG_COLUMN_NONE when memory runs out. They stay until rig_columns_fit_names(). */
int64_t rig_columns_spans_add(struct rig_columns *columns, struct rig_spans spans);
/* Those of a place, borrowed until the next ones are added. RIG_COLUMN_NONE: none. */
struct rig_spans rig_columns_spans(const struct rig_columns *columns, int64_t place);
/* Appends the values of `count` transactions of `from` after the first `first` of `columns`. */
bool rig_columns_append(struct rig_columns *columns, size_t first, const struct rig_columns *from, size_t count);
/* Gives transaction `from` the number `to`, at most `from`. Moving transactions in ascending order keeps a subset of
 * them. */
void rig_columns_move(struct rig_columns *columns, size_t to, size_t from);
/* Makes `count` transactions without values, the first one at `at`; later ones move up. False when memory runs out. */
bool rig_columns_insert(struct rig_columns *columns, size_t at, size_t count);
/* Removes unused names and spans and renumbers the others. Without memory for it all stay. */
void rig_columns_fit_names(struct rig_columns *columns, size_t limit_bytes);
/* Swaps the values of both; names and spans stay where they are. */
void rig_columns_swap_values(struct rig_columns *a, struct rig_columns *b);
/* Removes all transactions after the first `count`. */
void rig_columns_cut(struct rig_columns *columns, size_t count);

#endif
