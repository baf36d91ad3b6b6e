#include "base/option_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/command_line.h"
#include "base/nearest.h"
#include "base/option_number.h"
#include "base/secret.h"

enum { QUOTE_BYTES = 60, SENTENCE_BYTES = 512 };

/* By type: the accepted text, and how the value is stored. */
static const struct {
    const char *text;
    size_t size;
    size_t alignment;
} type_table[] = {
#define TYPE_ROW(name, type, text) {text, sizeof(type), alignof(type)},
    RIG_OPTION_TYPE_TABLE(TYPE_ROW)
#undef TYPE_ROW
};

enum { TYPE_COUNT = sizeof type_table / sizeof type_table[0] };

static void *member(const struct rig_option *option, void *object)
{
    return (char *)object + option->offset;
}

static const void *const_member(const struct rig_option *option, const void *object)
{
    return (const char *)object + option->offset;
}

static bool has_range(const struct rig_option *option)
{
    /* A share is from 0 to 1 by itself. */
    if (option->type == RIG_OPTION_SHARE && option->least == 0 && option->most == 1)
        return false;
    return option->least != 0 || option->most != 0;
}

const struct rig_option *rig_option_find(const struct rig_option *table, const char *name)
{
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

/* -- words --------------------------------------------------------------------------------------------------------- */

void rig_option_quote(const char *text, struct rig_buf *out)
{
    const size_t length = strlen(text);
    size_t shown = length;
    if (length > QUOTE_BYTES) {
        shown = QUOTE_BYTES;
        while (shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80)
            shown--; /* not in the middle of a character */
    }
    rig_buf_add_char(out, '`');
    for (size_t i = 0; i < shown; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7F || (byte == 0xC2 && (unsigned char)text[i + 1] < 0xA0))
            rig_buf_printf(out, "\\x%02X", byte);
        else
            rig_buf_add_char(out, text[i]);
    }
    rig_buf_add_text(out, shown < length ? "...`" : "`");
}

/* The largest unit that divides `value`; zero is shown in the most usual unit, seconds or bytes. */
static const struct rig_unit *unit_of(int64_t value, const struct rig_unit *units)
{
    return value == 0 && units == rig_duration_units ? &units[3] : rig_number_unit_of(value, units);
}

/* A bound of the range, in the form that a person writes. */
static void add_bound(const struct rig_option *option, double bound, struct rig_buf *out)
{
    char number[RIG_NUMBER_TEXT_BYTES];
    const bool duration = option->type == RIG_OPTION_DURATION;
    if (duration || option->type == RIG_OPTION_SIZE) {
        const struct rig_unit *units = duration ? rig_duration_units : rig_size_units;
        const struct rig_unit *unit = unit_of((int64_t)bound, units);
        rig_buf_printf(out, "%" PRId64 "%s", (int64_t)bound / unit->size, unit->name);
        return;
    }
    const bool share = option->type == RIG_OPTION_SHARE;
    if (option->type == RIG_OPTION_INT && fabs(bound) < 0x1p63)
        rig_buf_printf(out, "%" PRId64, (int64_t)bound);
    else if (option->type == RIG_OPTION_INT)
        rig_buf_printf(out, "%" PRId64, bound < 0 ? INT64_MIN : INT64_MAX);
    else {
        rig_number_shortest(share ? bound * 100 : bound, number);
        rig_buf_printf(out, "%s%s", number, share ? "%" : "");
    }
}

static void add_choices(const struct rig_option *option, struct rig_buf *out)
{
    for (size_t i = 0; option->choices[i] != NULL; i++)
        rig_buf_printf(out, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
}

void rig_option_describe(const struct rig_option *option, struct rig_buf *out)
{
    RIG_REQUIRE((size_t)option->type < TYPE_COUNT);
    /* The phrases of the type table, without the note on how the value is stored. */
    const char *phrase = type_table[option->type].text;
    if (option->type == RIG_OPTION_CHOICE) {
        rig_buf_add_text(out, "one of ");
        add_choices(option, out);
        return;
    }
    const char *end = strchr(phrase, ';');
    const size_t length = end == NULL ? strlen(phrase) : (size_t)(end - phrase);
    rig_buf_add(out, phrase, length);
    if (option->type == RIG_OPTION_TEXT_LIST && option->choices != NULL) {
        rig_buf_add_text(out, ", each one of ");
        add_choices(option, out);
    }
    if (has_range(option)) {
        rig_buf_add_text(out, ", from ");
        add_bound(option, option->least, out);
        rig_buf_add_text(out, " to ");
        add_bound(option, option->most, out);
    }
}

/* "expected <what>, not `text`", then `hint`. */
static enum rig_rc refuse(const struct rig_option *option, const char *text, const char *hint, struct rig_err *err)
{
    struct rig_buf sentence;
    rig_buf_init(&sentence, SENTENCE_BYTES);
    rig_buf_add_text(&sentence, "expected ");
    rig_option_describe(option, &sentence);
    rig_buf_add_text(&sentence, ", not ");
    rig_option_quote(text, &sentence);
    if (hint != NULL)
        rig_buf_printf(&sentence, "; %s", hint);
    const enum rig_rc rc = rig_fail(err, RIG_E_PLAN, "%s", rig_buf_text(&sentence));
    rig_buf_done(&sentence);
    return rc;
}

static enum rig_rc refuse_did_you_mean(const struct rig_option *option, const char *text, const char *before,
                                       const char *after, struct rig_err *err)
{
    struct rig_buf hint;
    rig_buf_init(&hint, SENTENCE_BYTES);
    rig_buf_printf(&hint, "did you mean `%s%s`?", before, after);
    const enum rig_rc rc = refuse(option, text, rig_buf_text(&hint), err);
    rig_buf_done(&hint);
    return rc;
}

/* -- parsing ------------------------------------------------------------------------------------------------------- */

static enum rig_rc check_range(const struct rig_option *option, const char *text, double value, struct rig_err *err)
{
    if (has_range(option) && (value < option->least || value > option->most))
        return refuse(option, text, NULL, err);
    return RIG_OK;
}

static enum rig_rc parse_bool(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    static const char *const said_true[] = {"yes", "on", "True", "TRUE", "1", "y", NULL};
    static const char *const said_false[] = {"no", "off", "False", "FALSE", "0", "n", NULL};
    const bool value = strcmp(text, "true") == 0;
    if (value || strcmp(text, "false") == 0) {
        *(bool *)member(option, object) = value;
        return RIG_OK;
    }
    for (size_t i = 0; said_true[i] != NULL; i++) {
        if (strcmp(said_true[i], text) == 0)
            return refuse_did_you_mean(option, text, "", "true", err);
        if (strcmp(said_false[i], text) == 0)
            return refuse_did_you_mean(option, text, "", "false", err);
    }
    return refuse(option, text, NULL, err);
}

static enum rig_rc parse_int(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    int64_t value = 0;
    if (rig_number_whole(text, &value) != RIG_NUMBER_FINE)
        return refuse(option, text, NULL, err);
    const enum rig_rc rc = check_range(option, text, (double)value, err);
    if (rc == RIG_OK)
        *(int64_t *)member(option, object) = value;
    return rc;
}

static enum rig_rc parse_double(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    double value = 0;
    if (rig_number_decimal(text, NULL, &value) != RIG_NUMBER_FINE)
        return refuse(option, text, NULL, err);
    const enum rig_rc rc = check_range(option, text, value, err);
    if (rc == RIG_OK)
        *(double *)member(option, object) = value;
    return rc;
}

static enum rig_rc parse_share(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    double value = 0;
    const size_t length = strlen(text);
    const bool percent = length > 0 && text[length - 1] == '%';
    if (rig_number_decimal(text, percent ? text + length - 1 : NULL, &value) != RIG_NUMBER_FINE)
        return refuse(option, text, NULL, err);
    if (!percent && value > 1 && value <= 100)
        return refuse_did_you_mean(option, text, text, "%", err);
    if (percent)
        value /= 100;
    if (value < 0 || value > 1)
        return refuse(option, text, NULL, err);
    const enum rig_rc rc = check_range(option, text, value, err);
    if (rc == RIG_OK)
        *(double *)member(option, object) = value + 0.0; /* -0 becomes 0 */
    return rc;
}

static enum rig_rc refuse_unit(const struct rig_option *option, const char *text, const char *rest, struct rig_err *err)
{
    const struct rig_unit *units = option->type == RIG_OPTION_DURATION ? rig_duration_units : rig_size_units;
    /* For decimal units (64MB, 64m) in place of binary ones, and units in words. */
    static const struct {
        const char *said, *meant;
    } habits[] = {
        {"sec", "s"},     {"secs", "s"},  {"second", "s"}, {"seconds", "s"}, {"min", "m"},   {"mins", "m"},
        {"minutes", "m"}, {"hours", "h"}, {"hour", "h"},   {"msec", "ms"},   {"usec", "us"}, {"k", "KiB"},
        {"m", "MiB"},     {"g", "GiB"},   {"kb", "KiB"},   {"mb", "MiB"},    {"gb", "GiB"},  {"tb", "TiB"},
        {"bytes", "B"},   {"K", "KiB"},   {"M", "MiB"},    {"G", "GiB"},     {"T", "TiB"},   {"KB", "KiB"},
        {"MB", "MiB"},    {"GB", "GiB"},  {"TB", "TiB"},
    };
    while (*rest == ' ')
        rest++;
    const char *meant = NULL;
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, rest);
    for (const struct rig_unit *unit = units; unit->name != NULL && meant == NULL; unit++) {
        if (strcmp(unit->name, rest) == 0)
            meant = unit->name; /* only the blank was wrong */
        for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
            if (strcmp(habits[i].meant, unit->name) == 0 && strcmp(habits[i].said, rest) == 0)
                meant = unit->name;
        }
        rig_nearest_offer(&nearest, unit->name);
    }
    if (meant == NULL)
        meant = nearest.best;
    if (meant == NULL)
        return refuse(option, text, NULL, err);
    char number[RIG_NUMBER_TEXT_BYTES];
    const size_t digits = strspn(text, "0123456789.");
    if (digits >= sizeof number)
        return refuse(option, text, NULL, err);
    memcpy(number, text, digits);
    number[digits] = '\0';
    return refuse_did_you_mean(option, text, number, meant, err);
}

static enum rig_rc parse_with_unit(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    const bool duration = option->type == RIG_OPTION_DURATION;
    const char *rest = NULL;
    int64_t value = 0;
    switch (rig_number_with_unit(text, duration ? rig_duration_units : rig_size_units, &value, &rest)) {
    case RIG_NUMBER_FINE:
        break;
    case RIG_NUMBER_NO_UNIT:
        return refuse(option, text, "the unit is missing", err);
    case RIG_NUMBER_WRONG_UNIT:
        return refuse_unit(option, text, rest, err);
    case RIG_NUMBER_NOT_EXACT:
        return refuse(option, text, duration ? "finer than a nanosecond" : "no whole number of bytes", err);
    case RIG_NUMBER_NONE:
    case RIG_NUMBER_TOO_LARGE:
        return refuse(option, text, NULL, err);
    }
    const enum rig_rc rc = check_range(option, text, (double)value, err);
    if (rc == RIG_OK)
        *(int64_t *)member(option, object) = value;
    return rc;
}

static enum rig_rc parse_rate(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    double value = 0;
    if (strcmp(text, "unlimited") != 0) {
        const size_t length = strlen(text);
        const bool per_second = length > 2 && strcmp(text + length - 2, "/s") == 0;
        if (rig_number_decimal(text, per_second ? text + length - 2 : NULL, &value) != RIG_NUMBER_FINE)
            return refuse(option, text, NULL, err);
        if (value <= 0)
            return refuse(option, text, "write `unlimited` for no limit", err);
        const enum rig_rc rc = check_range(option, text, value, err);
        if (rc != RIG_OK)
            return rc;
    }
    *(double *)member(option, object) = value;
    return RIG_OK;
}

static enum rig_rc refuse_name(const struct rig_option *option, const char *text, struct rig_err *err)
{
    const char *near = rig_nearest_of(text, option->choices);
    if (near != NULL)
        return refuse_did_you_mean(option, text, "", near, err);
    return refuse(option, text, NULL, err);
}

static enum rig_rc parse_choice(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    for (int64_t i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *(int64_t *)member(option, object) = i;
            return RIG_OK;
        }
    }
    return refuse_name(option, text, err);
}

static enum rig_rc parse_text(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    if (option->required && text[0] == '\0')
        return refuse(option, text, "it must not be empty", err);
    *(const char **)member(option, object) = text;
    return RIG_OK;
}

enum rig_rc rig_option_parse(const struct rig_option *option, const char *text, void *object, struct rig_err *err)
{
    RIG_REQUIRE(!rig_option_is_list(option));
    switch (option->type) {
    case RIG_OPTION_BOOL:
        return parse_bool(option, text, object, err);
    case RIG_OPTION_INT:
        return parse_int(option, text, object, err);
    case RIG_OPTION_DOUBLE:
        return parse_double(option, text, object, err);
    case RIG_OPTION_SHARE:
        return parse_share(option, text, object, err);
    case RIG_OPTION_DURATION:
    case RIG_OPTION_SIZE:
        return parse_with_unit(option, text, object, err);
    case RIG_OPTION_RATE:
        return parse_rate(option, text, object, err);
    case RIG_OPTION_CHOICE:
        return parse_choice(option, text, object, err);
    case RIG_OPTION_TEXT:
    case RIG_OPTION_SECRET:
        return parse_text(option, text, object, err);
    case RIG_OPTION_TEXT_LIST:
    case RIG_OPTION_COMMAND:
    case RIG_OPTION_HEADERS:
        break;
    }
    rig_bug(__FILE__, __LINE__, "an option of a known type");
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_option_check_element(const struct rig_option *option, const char *text, struct rig_err *err)
{
    RIG_REQUIRE(rig_option_is_list(option));
    if (option->choices == NULL)
        return RIG_OK;
    for (size_t i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], text) == 0)
            return RIG_OK;
    }
    return refuse_name(option, text, err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

enum rig_rc rig_option_split_list(struct rig_arena *arena, const char *text, struct rig_text_list *list,
                                  struct rig_err *err)
{
    const char *start = text;
    const char *end = text + strlen(text);
    while (start < end && is_blank(*start))
        start++;
    while (end > start && is_blank(end[-1]))
        end--;
    const bool bracketed = end - start >= 2 && *start == '[' && end[-1] == ']';
    if (bracketed) {
        start++;
        end--;
    }
    size_t count = 1;
    for (const char *at = start; at < end; at++)
        count += *at == ',' ? 1 : 0;
    const char **elements = rig_arena_array(arena, count, sizeof *elements);
    if (elements == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "a list of %zu", count);
    size_t filled = 0;
    for (const char *at = start; at <= end; at++) {
        const char *stop = memchr(at, ',', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        const char *last = stop;
        while (at < last && is_blank(*at))
            at++;
        while (last > at && is_blank(last[-1]))
            last--;
        if (last == at && bracketed && count == 1)
            break; /* [] */
        if (last == at)
            return rig_fail(err, RIG_E_PLAN, "a list has an empty element: expected names between commas");
        char *element = rig_arena_text(arena, at, (size_t)(last - at));
        if (element == NULL)
            return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "a list of %zu", count);
        RIG_INVARIANT(filled < count);
        elements[filled++] = element;
        at = stop;
    }
    *list = (struct rig_text_list){.at = elements, .count = filled};
    return RIG_OK;
}

enum rig_rc rig_option_split(const struct rig_option *option, struct rig_arena *arena, const char *text,
                             struct rig_text_list *list, struct rig_err *err)
{
    return option->type == RIG_OPTION_COMMAND ? rig_command_line_split(arena, text, list, err)
                                              : rig_option_split_list(arena, text, list, err);
}

void rig_option_store_list(const struct rig_option *option, const struct rig_text_list *list, void *object)
{
    RIG_REQUIRE(rig_option_is_list(option));
    *(struct rig_text_list *)member(option, object) = *list;
}

/* -- whole objects ------------------------------------------------------------------------------------------------- */

static enum rig_rc apply_default(const struct rig_option *option, void *object, struct rig_arena *arena,
                                 struct rig_err *err)
{
    if (!rig_option_is_list(option))
        return rig_option_parse(option, option->default_text, object, err);
    struct rig_text_list list;
    enum rig_rc rc = rig_option_split(option, arena, option->default_text, &list, err);
    for (size_t i = 0; rc == RIG_OK && i < list.count; i++)
        rc = rig_option_check_element(option, list.at[i], err);
    if (rc == RIG_OK)
        rig_option_store_list(option, &list, object);
    return rc;
}

enum rig_rc rig_option_defaults(const struct rig_option *table, void *object, struct rig_arena *arena,
                                struct rig_err *err)
{
    for (const struct rig_option *option = table; option->name != NULL; option++) {
        if (option->default_text == NULL)
            continue;
        struct rig_err own = {0};
        const enum rig_rc rc = apply_default(option, object, arena, &own);
        if (rc == RIG_E_LIMIT)
            return rig_fail(err, RIG_E_LIMIT, "%s", own.text);
        if (rc != RIG_OK)
            return rig_fail(err, RIG_E_DRIVER, "the default of option `%s`: %s", option->name, own.text);
    }
    return RIG_OK;
}

static enum rig_rc check_entry(const struct rig_option *option, size_t object_size, struct rig_err *err)
{
    if (option->name[0] == '\0' || option->help == NULL || (size_t)option->type >= TYPE_COUNT)
        return rig_fail(err, RIG_E_DRIVER, "an option has no name, no help or an unknown type: `%s`", option->name);
    if (option->type == RIG_OPTION_CHOICE && (option->choices == NULL || option->choices[0] == NULL))
        return rig_fail(err, RIG_E_DRIVER, "option `%s` is a choice without choices", option->name);
    const size_t size = type_table[option->type].size;
    if (size > object_size || option->offset > object_size - size ||
        option->offset % type_table[option->type].alignment != 0)
        return rig_fail(err, RIG_E_DRIVER, "option `%s` lies outside of its object of %zu bytes, or is not aligned",
                        option->name, object_size);
    return RIG_OK;
}

static bool is_group_of(const char *group, const char *name)
{
    const size_t length = strlen(group);
    return strncmp(group, name, length) == 0 && name[length] == '.';
}

/* Parses each value that a hunt gives the option. */
static enum rig_rc check_variation(const struct rig_option *option, void *object, struct rig_err *err)
{
    const struct rig_option_variation *varied = option->varied;
    struct rig_buf value;
    struct rig_err own = {0};
    if (varied == NULL)
        return RIG_OK;
    if (!(varied->chance > 0 && varied->chance <= 1))
        return rig_fail(err, RIG_E_DRIVER, "option `%s` varies with a chance outside of 0 to 1", option->name);
    if (varied->values == NULL && option->type != RIG_OPTION_CHOICE && option->type != RIG_OPTION_BOOL)
        return rig_fail(err, RIG_E_DRIVER, "option `%s` varies without values", option->name);
    rig_buf_init(&value, 0);
    for (const char *at = varied->values; at != NULL && *at != '\0' && own.rc == RIG_OK;) {
        const size_t length = strcspn(at, " ");
        rig_buf_clear(&value);
        rig_buf_add(&value, at, length);
        if (!rig_option_is_list(option))
            (void)rig_option_parse(option, rig_buf_text(&value), object, &own);
        at += length + strspn(at + length, " ");
    }
    rig_buf_done(&value);
    return own.rc == RIG_OK
               ? RIG_OK
               : rig_fail(err, RIG_E_DRIVER, "a value that option `%s` varies to: %s", option->name, own.text);
}

static enum rig_rc check_variations(const struct rig_option *table, void *object, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (; rc == RIG_OK && table->name != NULL; table++)
        rc = check_variation(table, object, err);
    return rc;
}

enum rig_rc rig_option_check_table(const struct rig_option *table, size_t object_size, struct rig_err *err)
{
    for (const struct rig_option *option = table; option->name != NULL; option++) {
        const enum rig_rc rc = check_entry(option, object_size, err);
        if (rc != RIG_OK)
            return rc;
        for (const struct rig_option *other = table; other->name != NULL; other++) {
            if (other != option && strcmp(other->name, option->name) == 0)
                return rig_fail(err, RIG_E_DRIVER, "option `%s` is repeated in its table", option->name);
            if (is_group_of(option->name, other->name))
                return rig_fail(err, RIG_E_DRIVER, "option `%s` is also a group of options (`%s`)", option->name,
                                other->name);
        }
    }
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    void *object = rig_arena_alloc(&arena, object_size == 0 ? 1 : object_size);
    enum rig_rc rc = object == NULL ? rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%zu bytes", object_size)
                                    : rig_option_defaults(table, object, &arena, err);
    if (rc == RIG_OK)
        rc = check_variations(table, object, err);
    rig_arena_done(&arena);
    return rc;
}

/* -- formatting ---------------------------------------------------------------------------------------------------- */

static void format_share(double value, struct rig_buf *out)
{
    char text[RIG_NUMBER_TEXT_BYTES];
    /* The product is rounded (7.000000000000001), so the shortest percentage that parses to the value is searched for.
     * */
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value * 100);
        if (strtod(text, NULL) / 100 == value) {
            rig_buf_printf(out, "%s%%", text);
            return;
        }
    }
    rig_number_shortest(value, text);
    rig_buf_add_text(out, text);
}

static void format_with_unit(int64_t value, const struct rig_unit *units, struct rig_buf *out)
{
    const struct rig_unit *unit = unit_of(value, units);
    rig_buf_printf(out, "%" PRId64 "%s", value / unit->size, unit->name);
}

static void format_list(const struct rig_text_list *list, struct rig_buf *out)
{
    rig_buf_add_char(out, '[');
    for (size_t i = 0; i < list->count; i++)
        rig_buf_printf(out, "%s%s", i == 0 ? "" : ", ", list->at[i]);
    rig_buf_add_char(out, ']');
}

static void format_double(double value, struct rig_buf *out)
{
    char text[RIG_NUMBER_TEXT_BYTES];
    rig_number_shortest(value, text);
    rig_buf_add_text(out, text);
}

void rig_option_format(const struct rig_option *option, const void *object, struct rig_buf *out)
{
    const void *value = const_member(option, object);
    switch (option->type) {
    case RIG_OPTION_BOOL:
        rig_buf_add_text(out, *(const bool *)value ? "true" : "false");
        return;
    case RIG_OPTION_INT:
        rig_buf_add_int(out, *(const int64_t *)value);
        return;
    case RIG_OPTION_DOUBLE:
        format_double(*(const double *)value, out);
        return;
    case RIG_OPTION_SHARE:
        format_share(*(const double *)value, out);
        return;
    case RIG_OPTION_DURATION:
        format_with_unit(*(const int64_t *)value, rig_duration_units, out);
        return;
    case RIG_OPTION_SIZE:
        format_with_unit(*(const int64_t *)value, rig_size_units, out);
        return;
    case RIG_OPTION_RATE:
        if (*(const double *)value > 0)
            format_double(*(const double *)value, out);
        else
            rig_buf_add_text(out, "unlimited");
        return;
    case RIG_OPTION_TEXT:
        if (*(const char *const *)value != NULL)
            rig_buf_add_text(out, *(const char *const *)value);
        return;
    case RIG_OPTION_SECRET:
        if (*(const char *const *)value != NULL)
            rig_buf_add_text(out, RIG_SECRET_MASK);
        return;
    case RIG_OPTION_CHOICE:
        rig_buf_add_text(out, option->choices[*(const int64_t *)value]);
        return;
    case RIG_OPTION_TEXT_LIST:
    case RIG_OPTION_COMMAND:
    case RIG_OPTION_HEADERS:
        format_list(value, out);
        return;
    }
    rig_bug(__FILE__, __LINE__, "an option of a known type");
}
