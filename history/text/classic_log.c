/*
 * Histories of rows that are inserted with ascending values and the database's timestamps (classic_operations.h), as
 * Jepsen's tests of CockroachDB record them. All rows in the order of their timestamps are a list:
 *
 *   {:f :add}   ok: {:val 4, :sts 117, :proc 2, ...}     [[:append "rows" 4]]
 *   {:f :read}  ok: [{:val 4, :sts 117, ...} {:val 5...}]  [[:r "rows" [4 5]]]
 *
 * Without a process (`proc`) in the rows, an addition shows the row with the highest value before it, and inserted the
 * next one. It then also reads that row, and takes its place as the last one:
 *
 *   {:f :add}   ok: {:val 3, :sts 115}                   [[:r "row 3" [3]] [:append "row 3" <a number of its own>]
 *                                                         [:append "row 4" 4] [:append "rows" 4]]
 *
 * So two additions after the same row are a lost update, and additions whose timestamps contradict their values a
 * cycle. Rows below 0 are there before the load. A row that reads show and that no acknowledged addition inserted has a
 * writer of unknown outcome, at most as many as there are additions of unknown outcome.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/text/classic_private.h"

/*
 * Histories of transactions without any process (classic_operations.h): as they are, each with a client of its own. A
 * completion belongs to the invocation directly before it, so operations may not overlap.
 */

static bool have_no_process(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->is_client && (item->has_process || (!item->is_txn && !rig_classic_is_null(&item->value))))
            return false;
        found |= item->is_client && item->is_txn;
    }
    return found;
}

static enum rig_rc put_transaction(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *given = item->is_txn ? item : rig_classic_asked(r, item);
    if (!item->is_txn && (item->type == RIG_OPERATION_OK || !given->is_txn))
        return rig_classic_refuse(r, item, "without a process and a value");
    rig_buf_add(r->out, given->value.at + 1, given->value.length - 2);
    return RIG_OK;
}

const struct rig_classic_form rig_classic_no_process = {
    .is_any_workload = true, .is_it = have_no_process, .put = put_transaction};

/* Goes through the values that a read shows; false at the end, or where an item is no row (*valid). */
struct rows {
    struct rig_text_cursor cursor;
    char closer;
    bool is_first;
};

struct log {
    struct rig_table rows;    /* value -> acknowledged additions of it */
    bool shows_previous;      /* rows have no process */
    int64_t missing, highest; /* additions of unknown outcome; the highest value */
};

static bool adds(const struct rig_classic_item *item)
{
    return rig_slice_is(&item->function, "add");
}

static bool value_of(const struct rig_classic *r, const struct rig_text_slice *row, int64_t *value)
{
    struct rig_text_slice text;
    return rig_classic_field(r, row, "val", &text) && rig_classic_number(&text, value);
}

static bool has_process(const struct rig_classic *r, const struct rig_text_slice *row)
{
    struct rig_text_slice text;
    return rig_classic_field(r, row, "proc", &text) || rig_classic_field(r, row, "process", &text);
}

/* The value of the row that an acknowledged addition inserted; false: it is not known. */
static bool inserted(const struct rig_classic *r, const struct rig_classic_item *item, int64_t *value)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    if (answer->type != RIG_OPERATION_OK || !value_of(r, &answer->value, value))
        return false;
    *value += !has_process(r, &answer->value);
    return true;
}

static struct rows rows_of(const struct rig_classic *r, const struct rig_text_slice *value)
{
    struct rows rows = {.is_first = true};
    if (value->length == 0)
        return rows;
    rows.cursor = rig_classic_cursor(r, value->at);
    rows.closer = rig_classic_enter(r, &rows.cursor, false);
    return rows;
}

static bool next_row(const struct rig_classic *r, struct rows *rows, struct rig_text_slice *row, int64_t *value,
                     bool *valid)
{
    if (rows->closer == '\0' || !rig_classic_next(r, &rows->cursor, rows->closer, rows->is_first, row))
        return false;
    rows->is_first = false;
    *valid = value_of(r, row, value);
    return true;
}

/* ---- what the file shows ---- */

static bool note(struct log *log, int64_t value, uint32_t additions)
{
    if (value < 0)
        return true;
    uint32_t *known = rig_table_put(&log->rows, (uint64_t)value);
    if (known == NULL)
        return false;
    *known = (*known == RIG_TABLE_NONE ? 0 : *known) + additions;
    log->highest = value > log->highest ? value : log->highest;
    return true;
}

static bool note_item(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct log *log = r->numbers;
    struct rig_text_slice row;
    int64_t value;
    bool valid, done = true;
    if (item != rig_classic_answer(r, item) || item->type == RIG_OPERATION_FAIL)
        return true;
    if (adds(item) && inserted(r, item, &value)) {
        const bool previous = !has_process(r, &item->value);
        log->shows_previous |= previous;
        return note(log, value, 1) && (!previous || note(log, value - 1, 0));
    }
    log->missing += adds(item);
    if (adds(item) || item->type != RIG_OPERATION_OK)
        return true;
    struct rows rows = rows_of(r, &item->value);
    while (done && next_row(r, &rows, &row, &value, &valid))
        done = !valid || note(log, value, 0);
    return done;
}

static uint32_t additions_of(const struct rig_classic *r, int64_t value)
{
    const struct log *log = r->numbers;
    const uint32_t additions = value < 0 ? 0 : rig_table_get(&log->rows, (uint64_t)value);
    return additions == RIG_TABLE_NONE ? 0 : additions;
}

/* ---- writing ---- */

enum { NO_NUMBER = -2 };

/* A micro-operation on the list "<name>" or "<name> <number>", with this text as its value; empty: without. */
static void put_micro(struct rig_classic *r, const char *operation, const char *name, int64_t number, const char *value)
{
    char list[64];
    const int length = number == NO_NUMBER ? snprintf(list, sizeof list, "\"%s\"", name)
                                           : snprintf(list, sizeof list, "\"%s %lld\"", name, (long long)number);
    rig_classic_begin_micro(r, operation, &(struct rig_text_slice){.at = list, .length = (size_t)length});
    const struct rig_text_slice text = {.at = value, .length = strlen(value)};
    rig_classic_end_micro(r, text.length > 0 ? &text : NULL);
}

static void put_append(struct rig_classic *r, const char *name, int64_t number, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    put_micro(r, "append", name, number, text);
}

/* The read of the row before, which becomes the second to last. `own` is a number that no other addition has. */
static void put_row_before(struct rig_classic *r, int64_t value, bool answered, size_t own)
{
    char text[32] = "[]";
    if (value > 0)
        (void)snprintf(text, sizeof text, "[%lld]", (long long)value - 1);
    if (!answered)
        (void)snprintf(text, sizeof text, "%s", r->edn ? "nil" : "null");
    put_micro(r, "r", "row", value - 1, additions_of(r, value - 1) <= 1 ? text : "");
    put_append(r, "row", value - 1, -2 - (int64_t)own);
}

/* An addition of a value that others added, too, is no element of the list: reads do not tell them apart. */
static void put_insertion(struct rig_classic *r, int64_t value, bool previous, bool answered, size_t own)
{
    if (previous) {
        put_row_before(r, value, answered, own);
        if (additions_of(r, value) <= 1)
            put_append(r, "row", value, value);
    }
    if (additions_of(r, value) <= 1)
        put_append(r, "rows", NO_NUMBER, value);
}

static enum rig_rc put_rows(struct rig_classic *r, const struct rig_classic_item *item)
{
    static const struct rig_text_slice name = {.at = "\"rows\"", .length = 6};
    struct rig_text_slice row;
    int64_t value;
    bool valid = true, known = item->type == RIG_OPERATION_OK, is_first = true;
    if (known && !rig_classic_is_sequence(r, &item->value))
        return rig_classic_refuse(r, item, "whose value is not a list of rows");
    rig_classic_begin_micro(r, "r", &name);
    struct rows rows = rows_of(r, known ? &item->value : &(struct rig_text_slice){0});
    while (next_row(r, &rows, &row, &value, &valid))
        known &= valid && additions_of(r, value) <= 1;
    if (!valid)
        return rig_classic_refuse(r, item, "with a row that has no integer `val`");
    if (!known) {
        rig_classic_end_micro(r, NULL);
        return RIG_OK;
    }
    rig_buf_add_text(r->out, r->edn ? " [" : ", [");
    rows = rows_of(r, &item->value);
    while (next_row(r, &rows, &row, &value, &valid)) {
        if (value < 0)
            continue;
        rig_buf_add_text(r->out, is_first ? "" : r->edn ? " " : ", ");
        rig_buf_add_int(r->out, value);
        is_first = false;
    }
    rig_buf_add_char(r->out, ']');
    rig_classic_end_micro(r, NULL);
    return RIG_OK;
}

static enum rig_rc put_item(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    int64_t value = 0;
    if (rig_classic_reads(item))
        return put_rows(r, item);
    if (!adds(item) || !inserted(r, item, &value))
        return rig_classic_refuse(r, item,
                                  adds(item) ? "whose value is not a row with an integer `val`" : "is not known");
    put_insertion(r, value, !has_process(r, &answer->value), item->type == RIG_OPERATION_OK,
                  (size_t)(answer - r->items.at));
    return RIG_OK;
}

/* An addition of which no client knows the row. */
static bool shows_nothing(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return adds(item) && rig_classic_answer(r, item)->type != RIG_OPERATION_OK;
}

/* Writers of the rows that are shown, without an acknowledged addition: as many as may have been. */
static bool put_missing(struct rig_classic *r)
{
    struct log *log = r->numbers;
    for (int64_t value = 0; value <= log->highest && log->missing > 0; value++) {
        if (rig_table_get(&log->rows, (uint64_t)value) != 0)
            continue;
        if (!rig_classic_begin_unseen(r, r->items.at[0].at))
            return false;
        log->missing--;
        put_insertion(r, value, log->shows_previous, false, r->items.count + r->shift);
        rig_classic_end(r);
    }
    return true;
}

static bool find_rows(struct rig_classic *r)
{
    struct log *log = r->numbers = calloc(1, sizeof *log);
    bool done = log != NULL;
    if (!done)
        return false;
    rig_table_init(&log->rows);
    log->highest = -1;
    r->workload = RIG_WORKLOAD_LIST_APPEND;
    for (size_t i = 0; done && i < r->items.count; i++)
        done = !r->items.at[i].is_client || note_item(r, &r->items.at[i]);
    return done && put_missing(r);
}

static void free_log(struct rig_classic *r)
{
    struct log *log = r->numbers;
    if (log != NULL)
        rig_table_done(&log->rows);
    free(log);
}

static bool is_log(const struct rig_classic *r)
{
    struct rig_text_slice time;
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        int64_t value;
        if (item->is_client && (item->is_txn || (!adds(item) && !rig_classic_reads(item))))
            return false;
        found |= item->is_client && adds(item) && item->type == RIG_OPERATION_OK && value_of(r, &item->value, &value) &&
                 rig_classic_field(r, &item->value, "sts", &time);
    }
    return found;
}

const struct rig_classic_form rig_classic_log = {.workload = RIG_WORKLOAD_MONOTONIC,
                                                 .is_it = is_log,
                                                 .prepare = find_rows,
                                                 .skips = shows_nothing,
                                                 .put = put_item,
                                                 .done = free_log};
