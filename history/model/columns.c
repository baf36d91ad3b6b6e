#include "history/model/columns.h"

#include <string.h>

#include "base/bug.h"

const struct rig_column_info rig_column_infos[RIG_COLUMN_COUNT] = {
#define COLUMN_INFO(column, text, type, expected, help)                                                                \
    [column] = {text, RIG_COLUMN_##type, RIG_COLUMN_EXPECT_##expected, help},
    RIG_COLUMN_TABLE(COLUMN_INFO)
#undef COLUMN_INFO
};

enum rig_column rig_column_find(const char *name, size_t length)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const struct rig_column_info *info = &rig_column_infos[column];
        if (info->expected != RIG_COLUMN_EXPECT_DERIVED && strlen(info->name) == length &&
            memcmp(info->name, name, length) == 0)
            return (enum rig_column)column;
    }
    return RIG_COLUMN_COUNT;
}

bool rig_column_name_fits(const char *text, size_t length)
{
    if (length == 0 || length >= RIG_COLUMN_NAME_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    }
    return true;
}

void rig_columns_init(struct rig_columns *columns, size_t limit_bytes)
{
    *columns = (struct rig_columns){0};
    rig_text_table_init(&columns->names, limit_bytes);
}

void rig_columns_done(struct rig_columns *columns)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        rig_column_values_done(&columns->of[column]);
    rig_column_values_done(&columns->spans);
    rig_column_values_done(&columns->map);
    rig_text_table_done(&columns->names);
}

void rig_columns_clear(struct rig_columns *columns, size_t limit_bytes)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        columns->of[column].count = 0;
    columns->spans.count = 0;
    if (columns->names.count == 0)
        return;
    rig_text_table_done(&columns->names);
    rig_text_table_init(&columns->names, limit_bytes);
}

size_t rig_columns_bytes(const struct rig_columns *columns)
{
    size_t bytes =
        rig_text_table_bytes(&columns->names) + (columns->map.capacity + columns->spans.capacity) * sizeof(int64_t);
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        bytes += columns->of[column].capacity * sizeof(int64_t);
    return bytes;
}

size_t rig_columns_used_bytes(const struct rig_columns *columns)
{
    size_t bytes = columns->names.arena.used_bytes + columns->spans.count * sizeof(int64_t);
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        bytes += columns->of[column].count * sizeof(int64_t);
    return bytes;
}

uint32_t rig_columns_given(const struct rig_columns *columns)
{
    uint32_t given = 0;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++)
        given |= columns->of[column].count > 0 ? RIG_COLUMN_BIT(column) : 0;
    return given & RIG_COLUMNS_KEPT;
}

struct rig_column_row rig_columns_row(const struct rig_columns *columns, size_t txn)
{
    struct rig_column_row row = {0};
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const int64_t value = rig_columns_get(columns, (enum rig_column)column, txn);
        if (value != RIG_COLUMN_NONE)
            rig_column_give(&row, (enum rig_column)column, value);
    }
    return row;
}

/* Room for `count` values; missing ones are RIG_COLUMN_NONE. */
static bool extend(struct rig_column_values *values, size_t count)
{
    if (!rig_column_values_reserve(values, count))
        return false;
    while (values->count < count)
        values->at[values->count++] = RIG_COLUMN_NONE;
    return true;
}

bool rig_columns_set(struct rig_columns *columns, enum rig_column column, size_t txn, int64_t value)
{
    struct rig_column_values *values = &columns->of[column];
    if (txn >= values->count && value == RIG_COLUMN_NONE)
        return true;
    if (txn >= values->count && !extend(values, txn + 1))
        return false;
    values->at[txn] = value;
    return true;
}

bool rig_columns_set_row(struct rig_columns *columns, size_t txn, const struct rig_column_row *row)
{
    for (uint32_t left = row->given; left != 0; left &= left - 1) {
        const int column = __builtin_ctz(left);
        RIG_REQUIRE(column < RIG_COLUMN_COUNT);
        if (!rig_columns_set(columns, (enum rig_column)column, txn, row->at[column]))
            return false;
    }
    return true;
}

int64_t rig_columns_name(struct rig_columns *columns, const char *text, size_t length)
{
    const uint32_t number = rig_text_table_put(&columns->names, text, length);
    return number == RIG_TABLE_NONE ? RIG_COLUMN_NONE : (int64_t)number;
}

int64_t rig_columns_spans_add(struct rig_columns *columns, struct rig_spans spans)
{
    struct rig_column_values *to = &columns->spans;
    const size_t place = to->count, numbers = 2 * (size_t)spans.count;
    if (!rig_column_values_reserve(to, place + 1 + numbers))
        return RIG_COLUMN_NONE;
    to->at[place] = spans.count;
    if (numbers > 0)
        memcpy(to->at + place + 1, spans.at, numbers * sizeof *spans.at);
    to->count += 1 + numbers;
    return (int64_t)place;
}

struct rig_spans rig_columns_spans(const struct rig_columns *columns, int64_t place)
{
    if (place == RIG_COLUMN_NONE)
        return (struct rig_spans){0};
    RIG_REQUIRE(place >= 0 && (uint64_t)place < columns->spans.count);
    const int64_t *at = columns->spans.at + place;
    return (struct rig_spans){.at = at + 1, .count = (uint32_t)*at};
}

static bool map_names(struct rig_columns *columns, const struct rig_columns *from)
{
    columns->map.count = 0;
    for (uint32_t i = 0; i < from->names.count; i++) {
        const char *text = from->names.texts[i];
        const int64_t number = rig_columns_name(columns, text, strlen(text));
        if (number == RIG_COLUMN_NONE || !rig_column_values_add(&columns->map, number))
            return false;
    }
    return true;
}

static void append_names(struct rig_column_values *to, const int64_t *from, size_t count,
                         const struct rig_column_values *map)
{
    for (size_t i = 0; i < count; i++) {
        RIG_REQUIRE(from[i] == RIG_COLUMN_NONE || (uint64_t)from[i] < map->count);
        to->at[to->count++] = from[i] == RIG_COLUMN_NONE ? RIG_COLUMN_NONE : map->at[from[i]];
    }
}

/* The places of spans that follow `base` numbers. */
static void append_places(struct rig_column_values *to, const int64_t *from, size_t count, size_t base)
{
    for (size_t i = 0; i < count; i++)
        to->at[to->count++] = from[i] == RIG_COLUMN_NONE ? RIG_COLUMN_NONE : from[i] + (int64_t)base;
}

static bool append_spans(struct rig_column_values *to, const struct rig_column_values *from)
{
    if (from->count == 0)
        return true;
    if (!rig_column_values_reserve(to, to->count + from->count))
        return false;
    memcpy(to->at + to->count, from->at, from->count * sizeof *from->at);
    to->count += from->count;
    return true;
}

bool rig_columns_append(struct rig_columns *columns, size_t first, const struct rig_columns *from, size_t count)
{
    const size_t base = columns->spans.count;
    if (!map_names(columns, from) || !append_spans(&columns->spans, &from->spans))
        return false;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const struct rig_column_values *given = &from->of[column];
        struct rig_column_values *values = &columns->of[column];
        const size_t given_count = given->count < count ? given->count : count;
        if (given_count == 0)
            continue;
        RIG_REQUIRE(values->count <= first);
        if (!extend(values, first) || !rig_column_values_reserve(values, first + given_count))
            return false;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
            append_names(values, given->at, given_count, &columns->map);
        } else if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
            append_places(values, given->at, given_count, base);
        } else {
            memcpy(values->at + first, given->at, given_count * sizeof *given->at);
            values->count = first + given_count;
        }
    }
    return true;
}

void rig_columns_move(struct rig_columns *columns, size_t to, size_t from)
{
    RIG_REQUIRE(to <= from);
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        struct rig_column_values *values = &columns->of[column];
        if (from < values->count)
            values->at[to] = values->at[from];
        else if (to < values->count)
            values->at[to] = RIG_COLUMN_NONE;
    }
}

bool rig_columns_insert(struct rig_columns *columns, size_t at, size_t count)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        struct rig_column_values *values = &columns->of[column];
        const size_t later = values->count > at ? values->count - at : 0;
        if (later == 0)
            continue;
        if (!extend(values, values->count + count))
            return false;
        memmove(values->at + at + count, values->at + at, later * sizeof *values->at);
        for (size_t i = at; i < at + count; i++)
            values->at[i] = RIG_COLUMN_NONE;
    }
    return true;
}

/* Copies the names in use into `kept`; the map has their new numbers. */
static bool keep_names(struct rig_columns *columns, struct rig_text_table *kept)
{
    if (!rig_column_values_reserve(&columns->map, columns->names.count))
        return false;
    for (columns->map.count = 0; columns->map.count < columns->names.count; columns->map.count++)
        columns->map.at[columns->map.count] = RIG_COLUMN_NONE;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const struct rig_column_values *values = &columns->of[column];
        for (size_t i = 0; rig_column_infos[column].type == RIG_COLUMN_NAME && i < values->count; i++) {
            int64_t *to = values->at[i] == RIG_COLUMN_NONE ? NULL : &columns->map.at[values->at[i]];
            if (to == NULL || *to != RIG_COLUMN_NONE)
                continue;
            const char *name = columns->names.texts[values->at[i]];
            const uint32_t number = rig_text_table_put(kept, name, strlen(name));
            if (number == RIG_TABLE_NONE)
                return false;
            *to = number;
        }
    }
    return true;
}

/* Spans move to new places, where all in use follow one another. */
static void fit_spans(struct rig_columns *columns)
{
    struct rig_columns kept = {0};
    struct rig_column_values *places = &columns->of[RIG_COLUMN_TIMES];
    size_t numbers = 0;
    for (size_t i = 0; i < places->count; i++)
        numbers +=
            places->at[i] == RIG_COLUMN_NONE ? 0 : 1 + 2 * (size_t)rig_columns_spans(columns, places->at[i]).count;
    if (numbers == columns->spans.count || !rig_column_values_reserve(&kept.spans, numbers))
        return;
    for (size_t i = 0; i < places->count; i++) {
        if (places->at[i] != RIG_COLUMN_NONE)
            places->at[i] = rig_columns_spans_add(&kept, rig_columns_spans(columns, places->at[i]));
    }
    rig_column_values_done(&columns->spans);
    columns->spans = kept.spans;
}

void rig_columns_fit_names(struct rig_columns *columns, size_t limit_bytes)
{
    struct rig_text_table kept;
    fit_spans(columns);
    rig_text_table_init(&kept, limit_bytes);
    if (!keep_names(columns, &kept)) {
        rig_text_table_done(&kept);
        return;
    }
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const struct rig_column_values *values = &columns->of[column];
        for (size_t i = 0; rig_column_infos[column].type == RIG_COLUMN_NAME && i < values->count; i++) {
            if (values->at[i] != RIG_COLUMN_NONE)
                values->at[i] = columns->map.at[values->at[i]];
        }
    }
    rig_text_table_done(&columns->names);
    columns->names = kept;
}

void rig_columns_swap_values(struct rig_columns *a, struct rig_columns *b)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        const struct rig_column_values values = a->of[column];
        a->of[column] = b->of[column];
        b->of[column] = values;
    }
}

void rig_columns_cut(struct rig_columns *columns, size_t count)
{
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        if (columns->of[column].count > count)
            columns->of[column].count = count;
    }
}
