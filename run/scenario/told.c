#include "run/scenario/told.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/printable.h"

enum { CELLS_MOST = 1 << 20, SHOWN_CELL_BYTES = 120 };

/* ---- taking an answer ---- */

/* The callbacks of an answer write to it. */
struct taking {
    struct rig_told *told;
    struct rig_arena *arena;
    pthread_mutex_t *lock;
};

static void lock_arena(const struct taking *taking)
{
    if (taking->lock != NULL)
        (void)pthread_mutex_lock(taking->lock);
}

static void unlock_arena(const struct taking *taking)
{
    if (taking->lock != NULL)
        (void)pthread_mutex_unlock(taking->lock);
}

static bool take_columns(void *context, const char *const *names, uint32_t count)
{
    const struct taking *taking = context;
    struct rig_told *told = taking->told;
    bool kept = true;
    told->column_count = count;
    told->row_count = 0;
    told->columns = NULL;
    if (names == NULL)
        return true;
    lock_arena(taking);
    told->columns = rig_arena_array(taking->arena, count + 1, sizeof *told->columns);
    kept = told->columns != NULL;
    for (uint32_t i = 0; kept && i < count; i++) {
        told->columns[i] = rig_arena_text(taking->arena, names[i], strlen(names[i]));
        kept = told->columns[i] != NULL;
    }
    unlock_arena(taking);
    told->cut |= !kept;
    return kept;
}

static bool grow(const struct taking *taking, size_t needed)
{
    struct rig_told *told = taking->told;
    if (needed <= told->cell_capacity)
        return true;
    const size_t capacity = needed * 2 < 64 ? 64 : needed * 2;
    struct rig_text_cell *cells = needed > CELLS_MOST ? NULL : rig_arena_array(taking->arena, capacity, sizeof *cells);
    if (cells == NULL)
        return false;
    if (told->row_count > 0)
        memcpy(cells, told->cells, told->row_count * told->column_count * sizeof *cells);
    told->cells = cells;
    told->cell_capacity = capacity;
    return true;
}

static bool take_row(void *context, const struct rig_text_cell *cells, uint32_t count)
{
    const struct taking *taking = context;
    struct rig_told *told = taking->told;
    if (told->row_count == 0)
        told->column_count = count;
    lock_arena(taking);
    bool kept = count == told->column_count && grow(taking, (told->row_count + 1) * count);
    struct rig_text_cell *row = kept ? told->cells + told->row_count * count : NULL;
    for (uint32_t i = 0; kept && i < count; i++) {
        row[i] = cells[i];
        row[i].text = cells[i].text == NULL ? NULL : rig_arena_text(taking->arena, cells[i].text, cells[i].length);
        kept = (cells[i].text == NULL) == (row[i].text == NULL);
    }
    unlock_arena(taking);
    told->row_count += kept;
    told->cut |= !kept;
    return kept;
}

void rig_told_execute(const struct rig_driver *driver, void *session, const char *sql, struct rig_arena *arena,
                      pthread_mutex_t *lock, struct rig_told *told)
{
    struct taking taking = {told, arena, lock};
    struct rig_text_answer answer = {.columns = take_columns, .row = take_row, .context = &taking, .count = -1};
    *told = (struct rig_told){.sent = true, .count = -1, .statement = sql};
    driver->texts->execute(session, sql, &answer);
    told->returned = true;
    told->has_rows = answer.has_rows;
    told->count = answer.count;
    told->untagged = answer.untagged;
    told->rolled_back = answer.rolled_back;
    told->failed = answer.failed;
    told->ended = answer.ended;
    told->conflict = answer.conflict;
    told->lost = answer.session_lost;
    told->native = answer.native;
    memcpy(told->code, answer.code, sizeof told->code);
    memcpy(told->state, answer.state, sizeof told->state);
    memcpy(told->text, answer.text, sizeof told->text);
    rig_printable_line(told->text);
    if (!rig_told_is_ordered(sql))
        rig_told_sort(told);
}

void rig_told_take(struct rig_told *told, const struct rig_told *answer, uint32_t last)
{
    const struct rig_told before = *told;
    *told = *answer;
    told->starts_after = before.starts_after;
    told->waits = before.waits;
    told->after = before.waits ? last : RIG_AFTER_NOTHING;
    told->statement = before.statement;
}

/* ---- rows without an order ---- */

bool rig_told_is_ordered(const char *sql)
{
    for (; *sql != '\0'; sql++) {
        if (strncasecmp(sql, "order", 5) != 0)
            continue;
        const char *by = sql + 5 + strspn(sql + 5, " \t\r\n");
        if (by > sql + 5 && strncasecmp(by, "by", 2) == 0)
            return true;
    }
    return false;
}

static int compare_numbers(double one, double other)
{
    return one < other ? -1 : one > other;
}

/* Nulls last, then by type. */
static int compare_cells(const struct rig_text_cell *one, const struct rig_text_cell *other)
{
    const bool is_null = one->kind == RIG_TEXT_NULL, other_is_null = other->kind == RIG_TEXT_NULL;
    if (is_null || other_is_null)
        return is_null - other_is_null;
    const bool is_number = one->kind == RIG_TEXT_INTEGER || one->kind == RIG_TEXT_REAL;
    const bool other_is_number = other->kind == RIG_TEXT_INTEGER || other->kind == RIG_TEXT_REAL;
    if (is_number != other_is_number)
        return other_is_number - is_number;
    if (is_number && one->kind == RIG_TEXT_INTEGER && other->kind == RIG_TEXT_INTEGER) {
        const long long number = strtoll(one->text, NULL, 10), second = strtoll(other->text, NULL, 10);
        return number < second ? -1 : number > second;
    }
    return is_number ? compare_numbers(strtod(one->text, NULL), strtod(other->text, NULL))
                     : strcmp(one->text, other->text);
}

static int compare_rows(const struct rig_text_cell *one, const struct rig_text_cell *other, uint32_t count)
{
    int order = 0;
    for (uint32_t i = 0; order == 0 && i < count; i++)
        order = compare_cells(&one[i], &other[i]);
    return order;
}

/* By insertion: answers of scenarios are short. */
void rig_told_sort(struct rig_told *told)
{
    const uint32_t count = told->column_count;
    for (size_t row = 1; count > 0 && row < told->row_count; row++) {
        for (size_t at = row; at > 0; at--) {
            struct rig_text_cell *here = told->cells + at * count, *before = here - count;
            if (compare_rows(before, here, count) <= 0)
                break;
            for (uint32_t i = 0; i < count; i++) {
                const struct rig_text_cell moved = here[i];
                here[i] = before[i];
                before[i] = moved;
            }
        }
    }
}

/* ---- as text ---- */

static void write_cell(const struct rig_text_cell *cell, struct rig_buf *out)
{
    char line[SHOWN_CELL_BYTES];
    if (cell->kind == RIG_TEXT_NULL) {
        rig_buf_add_text(out, "null");
        return;
    }
    (void)snprintf(line, sizeof line, "%s", cell->text);
    rig_printable_line(line);
    const bool is_text = cell->kind == RIG_TEXT_OTHER || cell->kind == RIG_TEXT_MOMENT;
    rig_buf_printf(out, is_text ? "'%s'" : "%s", line);
}

static void write_rows(const struct rig_told *told, struct rig_buf *out)
{
    enum { ROWS_SHOWN = 20 };
    if (told->row_count == 0)
        rig_buf_add_text(out, "no rows");
    for (size_t row = 0; row < told->row_count && row < ROWS_SHOWN; row++) {
        rig_buf_add_text(out, row > 0 ? " (" : "(");
        for (uint32_t i = 0; i < told->column_count; i++) {
            rig_buf_add_text(out, i > 0 ? ", " : "");
            write_cell(&told->cells[row * told->column_count + i], out);
        }
        rig_buf_add_char(out, ')');
    }
    if (told->row_count > ROWS_SHOWN)
        rig_buf_printf(out, " and %zu more", told->row_count - ROWS_SHOWN);
}

void rig_told_write(const struct rig_told *told, struct rig_buf *out)
{
    if (!told->sent)
        rig_buf_add_text(out, told->skipped ? "no such step on this engine" : "not sent");
    else if (told->stuck)
        rig_buf_add_text(out, "did not return, and was interrupted");
    else if (told->failed)
        rig_buf_printf(out, "%s: %s", told->code, told->text);
    else if (told->has_rows)
        write_rows(told, out);
    else if (told->count >= 0)
        rig_buf_printf(out, "%" PRId64 " row%s changed", told->count, told->count == 1 ? "" : "s");
    else
        rig_buf_add_text(out, told->rolled_back ? "rolled back" : "ok");
}
