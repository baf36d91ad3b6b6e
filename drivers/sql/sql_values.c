#include "drivers/sql/sql_values.h"

#include <string.h>

/* One number at `*at`, ending before `end`; moves `*at` behind it. */
static bool parse_number(const char **at, const char *end, int64_t *number)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    if (negative)
        p++;
    const char *first = p;
    uint64_t magnitude = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        /* 19 digits cannot overflow 64 unsigned bits; a 20th can. */
        if (p - first >= 19)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (p == first || magnitude > most)
        return false;
    *number = negative ? (int64_t)(~magnitude + 1) : (int64_t)magnitude;
    *at = p;
    return true;
}

/* Takes the braces off an array; false when they are missing. */
static bool strip_braces(const char **text, size_t *length)
{
    if (*length < 2 || (*text)[0] != '{' || (*text)[*length - 1] != '}')
        return false;
    (*text)++;
    *length -= 2;
    return true;
}

size_t rig_sql_list_count(enum rig_sql_list_form form, const char *text, size_t length)
{
    if (form == RIG_SQL_LIST_ARRAY && length == 2 && memcmp(text, "{}", 2) == 0)
        return 0;
    size_t commas = 0;
    for (size_t i = 0; i < length; i++)
        commas += text[i] == ',';
    return commas + 1;
}

bool rig_sql_list_parse(enum rig_sql_list_form form, const char *text, size_t length, int64_t *elements)
{
    if (form == RIG_SQL_LIST_ARRAY) {
        if (!strip_braces(&text, &length))
            return false;
        if (length == 0)
            return true;
    }
    const char *end = text + length;
    for (const char *at = text;; at++) {
        if (!parse_number(&at, end, elements++))
            return false;
        if (at == end)
            return true;
        if (*at != ',')
            return false;
    }
}

bool rig_sql_int_parse(const char *text, size_t length, int64_t *number)
{
    const char *at = text;
    const char *end = text + length;
    int64_t parsed;
    if (!parse_number(&at, end, &parsed) || at != end)
        return false;
    *number = parsed;
    return true;
}

bool rig_sql_timestamp_parse(const char *text, size_t length, int64_t *timestamp)
{
    const char *point = memchr(text, '.', length);
    const size_t whole = point == NULL ? length : (size_t)(point - text);
    int64_t parsed;
    if (!rig_sql_int_parse(text, whole, &parsed) || parsed < 0)
        return false;
    for (size_t i = whole + 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
    }
    *timestamp = parsed;
    return true;
}

size_t rig_sql_int_print(int64_t number, char *text)
{
    char digits[RIG_SQL_INT_BYTES];
    size_t count = 0;
    uint64_t magnitude = number < 0 ? ~(uint64_t)number + 1 : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude > 0);
    size_t length = 0;
    if (number < 0)
        text[length++] = '-';
    while (count > 0)
        text[length++] = digits[--count];
    text[length] = '\0';
    return length;
}
