#include "history/model/certificate_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

enum { FRACTION_DIGITS = 18, SHOWN_BYTES = 80 };

struct version {
    uint64_t place, fraction; /* the fraction in units of 10^-18 */
    int64_t key;
    const char *value; /* behind it a blank, or the end of the line */
    uint32_t line;
};

RIG_VEC(struct version, version_vec)

struct reading {
    const char *at, *end; /* the rest of the text */
    struct version_vec versions;
    uint32_t line;
    bool ended; /* by the line `end` */
};

/* ---- one line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Digits; false without one, and beyond 64 bits. */
static bool take_digits(const char **at, const char *end, uint64_t *number)
{
    const char *from = *at;
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        if (__builtin_mul_overflow(*number, 10U, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
            return false;
    }
    return *at > from;
}

static bool take_number(const char **at, const char *end, int64_t *number)
{
    uint64_t digits;
    const bool negative = *at < end && **at == '-';
    *at += negative;
    if (!take_digits(at, end, &digits) || digits > (uint64_t)INT64_MAX)
        return false;
    *number = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

static bool take_place(const char **at, const char *end, struct version *version)
{
    if (!take_digits(at, end, &version->place))
        return false;
    if (*at == end || **at != '.')
        return true;
    const char *from = ++*at;
    if (!take_digits(at, end, &version->fraction) || *at - from > FRACTION_DIGITS)
        return false;
    for (ptrdiff_t i = *at - from; i < FRACTION_DIGITS; i++)
        version->fraction *= 10;
    return true;
}

/* Numbers with commas between them, or `-`. False: something else. `elements` NULL: they are counted only. */
static bool take_value(const char *at, const char *end, int64_t *elements, uint32_t *count)
{
    *count = 0;
    if (end - at == 1 && *at == '-')
        return true;
    for (;;) {
        int64_t element;
        if (!take_number(&at, end, &element))
            return false;
        if (elements != NULL)
            elements[*count] = element;
        ++*count;
        if (at == end)
            return true;
        if (*at++ != ',')
            return false;
    }
}

static const char *end_of_value(const char *value, const char *end)
{
    while (value < end && !is_blank(*value) && *value != '\n')
        value++;
    return value;
}

static bool take_version(const char *at, const char *end, struct version *version)
{
    uint32_t count;
    if (!take_place(&at, end, version) || at == end || !is_blank(*at))
        return false;
    at = skip_blanks(at, end);
    if (!take_number(&at, end, &version->key) || at == end || !is_blank(*at))
        return false;
    version->value = skip_blanks(at, end);
    at = end_of_value(version->value, end);
    return take_value(version->value, at, NULL, &count) && skip_blanks(at, end) == end;
}

/* ---- all lines ---- */

static enum rig_rc refuse(const struct reading *reading, const char *from, const char *end, struct rig_err *err)
{
    char shown[SHOWN_BYTES];
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(end - from), from);
    rig_printable_line(shown);
    return rig_fail(err, RIG_E_INPUT,
                    "database.versions-source: line %" PRIu32
                    " is `%s`; expected a place, a key and a value (5 or 5,6 or -), or the last line `end`",
                    reading->line, shown);
}

static enum rig_rc take_line(struct reading *reading, const char *from, const char *end, struct rig_err *err)
{
    struct version version = {.line = ++reading->line};
    const char *at = skip_blanks(from, end);
    if (at == end || *at == '#')
        return RIG_OK;
    if (reading->ended)
        return refuse(reading, from, end, err);
    const char *word = end_of_value(at, end);
    if (word - at == 3 && memcmp(at, "end", 3) == 0 && skip_blanks(word, end) == end) {
        reading->ended = true;
        return RIG_OK;
    }
    if (!take_version(at, end, &version))
        return refuse(reading, from, end, err);
    return version_vec_add(&reading->versions, version) ? RIG_OK : rig_no_memory(err, "the certificate");
}

static enum rig_rc take_lines(struct reading *reading, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    while (reading->at < reading->end && rc == RIG_OK) {
        const char *from = reading->at;
        const char *line = memchr(from, '\n', (size_t)(reading->end - from));
        reading->at = line == NULL ? reading->end : line + 1;
        rc = take_line(reading, from, line == NULL ? reading->end : line, err);
    }
    if (rc == RIG_OK && !reading->ended)
        rc = rig_fail(err, RIG_E_INPUT,
                      "database.versions-source: its last line is not `end`, so versions may be missing");
    return rc;
}

/* ---- commits ---- */

static int compare_places(const struct version *a, const struct version *b)
{
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->fraction < b->fraction ? -1 : a->fraction > b->fraction;
}

/* By place, key and line: the versions of a key at a place follow each other. */
static int compare_versions(const void *left, const void *right)
{
    const struct version *a = left, *b = right;
    const int places = compare_places(a, b);
    if (places != 0)
        return places;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool add_version(struct rig_certificate_builder *builder, const struct version *version, const char *end)
{
    uint32_t count;
    const char *value_end = end_of_value(version->value, end);
    (void)take_value(version->value, value_end, NULL, &count);
    if (count == 0)
        return rig_certificate_add_version(builder, version->key, NULL, 0);
    int64_t *elements = malloc(count * sizeof *elements);
    if (elements == NULL)
        return false;
    (void)take_value(version->value, value_end, elements, &count);
    const bool added = rig_certificate_add_version(builder, version->key, elements, count);
    free(elements);
    return added;
}

static bool add_commits(const struct version_vec *versions, const char *end, struct rig_certificate *certificate)
{
    struct rig_certificate_builder builder;
    uint64_t commits = 0;
    bool good = true;
    rig_certificate_builder_init(&builder, certificate);
    for (size_t i = 0; i < versions->count && good; i++) {
        const struct version *at = &versions->at[i], *next = i + 1 < versions->count ? at + 1 : NULL;
        if (i == 0 || compare_places(&at[-1], at) != 0)
            good = rig_certificate_add_commit(&builder, ++commits, 0, 0);
        if (good && (next == NULL || compare_places(at, next) != 0 || next->key != at->key))
            good = add_version(&builder, at, end);
    }
    rig_certificate_builder_done(&builder);
    return good;
}

enum rig_rc rig_certificate_of_lines(const char *text, size_t size, struct rig_certificate *certificate,
                                     struct rig_err *err)
{
    struct reading reading = {.at = text, .end = text + size};
    enum rig_rc rc = take_lines(&reading, err);
    if (rc == RIG_OK && reading.versions.count > 0)
        qsort(reading.versions.at, reading.versions.count, sizeof *reading.versions.at, compare_versions);
    if (rc == RIG_OK && !add_commits(&reading.versions, reading.end, certificate))
        rc = rig_no_memory(err, "the certificate");
    certificate->complete = rc == RIG_OK;
    certificate->last_only = true;
    version_vec_done(&reading.versions);
    return rc;
}
