/*
 * Comparing answers with what a file expects.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_write.h"
#include "run/scenario/told.h"

/* ---- cells ---- */

static bool is_number(const char *text)
{
    char *end = NULL;
    if (text[0] == '\0' || isspace((unsigned char)text[0]) || strpbrk(text, "xXnN") != NULL)
        return false; /* neither hexadecimal numbers nor infinity */
    (void)strtod(text, &end);
    return *end == '\0';
}

static bool is_integer(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Whole numbers digit by digit: a double would lose some. */
static bool equal_numbers(const char *one, const char *other)
{
    if (!is_number(one) || !is_number(other))
        return false;
    if (is_integer(one) && is_integer(other)) {
        const bool negative = *one == '-', other_negative = *other == '-';
        one += strspn(one, "+-0"), other += strspn(other, "+-0");
        return strcmp(one, other) == 0 && (negative == other_negative || *one == '\0');
    }
    const double number = strtod(one, NULL), second = strtod(other, NULL);
    return !(number < second) && !(number > second);
}

/* The next part of a date or time: a number without zeros that mean nothing, or one other character. */
static const char *next_part(const char *text, bool *fraction, const char **start, size_t *length)
{
    *start = text;
    if (isdigit((unsigned char)*text) == 0) {
        *fraction = *text == '.';
        *length = *text != '\0';
        return text + *length;
    }
    size_t digits = strspn(text, "0123456789");
    const char *after = text + digits;
    if (*fraction) {
        while (digits > 0 && text[digits - 1] == '0')
            digits--;
    } else {
        while (digits > 1 && **start == '0')
            ++*start, digits--;
    }
    *length = digits;
    return after;
}

/* Behind a point with nothing but zeros, and behind a whole number of hours of a time zone. */
static const char *skip_nothing(const char *text)
{
    const size_t zeros = text[0] == '.' ? strspn(text + 1, "0") : 0;
    if (text[0] == '.' && isdigit((unsigned char)text[1 + zeros]) == 0)
        text += 1 + zeros;
    return strcmp(text, ":00") == 0 ? text + 3 : text;
}

static bool equal_moments(const char *one, const char *other)
{
    bool fraction = false, other_fraction = false, has_zone = false;
    for (;;) {
        const char *start, *other_start;
        size_t length, other_length;
        one += *one == ',', other += *other == ','; /* "1 day, 2:00:00" is "1 day 02:00:00" */
        if (*one == '\0' && *other == '\0')
            return true;
        one = has_zone || *one == '.' ? skip_nothing(one) : one;
        other = has_zone || *other == '.' ? skip_nothing(other) : other;
        has_zone |= *one == '+';
        one = next_part(one, &fraction, &start, &length);
        other = next_part(other, &other_fraction, &other_start, &other_length);
        const bool blank =
            length == 1 && other_length == 1 && strchr(" T", *start) != NULL && strchr(" T", *other_start) != NULL;
        if (!blank && (length != other_length || strncmp(start, other_start, length) != 0))
            return false;
    }
}

/* As JSON without blanks. */
static void write_json(const struct rig_yaml_node *node, struct rig_buf *out)
{
    if (node->kind == RIG_YAML_SCALAR && (node->is_null || node->plain)) {
        const char *text = node->is_null ? "null" : node->text;
        const bool is_literal =
            is_number(text) || strcmp(text, "null") == 0 || strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
        if (is_literal)
            rig_buf_add_text(out, text);
        else
            rig_json_quote(out, text, strlen(text));
        return;
    }
    if (node->kind == RIG_YAML_SCALAR) {
        rig_json_quote(out, node->text, strlen(node->text));
        return;
    }
    rig_buf_add_char(out, node->kind == RIG_YAML_MAPPING ? '{' : '[');
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        rig_buf_add_text(out, entry == node->first ? "" : ",");
        if (entry->key != NULL) {
            rig_json_quote(out, entry->key, strlen(entry->key));
            rig_buf_add_char(out, ':');
        }
        write_json(entry->value, out);
    }
    rig_buf_add_char(out, node->kind == RIG_YAML_MAPPING ? '}' : ']');
}

/* JSON, with or without blanks between its parts. */
static bool equal_json(const struct rig_text_cell *cell, const struct rig_yaml_node *node)
{
    struct rig_buf wanted;
    rig_buf_init(&wanted, 1 << 20);
    write_json(node, &wanted);
    const char *at = rig_buf_text(&wanted);
    bool equal = !wanted.failed, in_text = false;
    for (const char *c = cell->text; equal && *c != '\0'; c++) {
        if (!in_text && isspace((unsigned char)*c) != 0)
            continue;
        in_text ^= *c == '"' && (c == cell->text || c[-1] != '\\');
        equal = *at == *c;
        at += equal;
    }
    equal = equal && *at == '\0';
    rig_buf_done(&wanted);
    return equal;
}

/* An array of PostgreSQL, {1,NULL,a}, of a list. */
static bool equal_list(const struct rig_text_cell *cell, const struct rig_yaml_node *node)
{
    struct rig_buf text;
    rig_buf_init(&text, 1 << 16);
    rig_buf_add_char(&text, '{');
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        if (entry != node->first)
            rig_buf_add_char(&text, ',');
        const bool is_null = entry->value->kind != RIG_YAML_SCALAR || entry->value->is_null;
        rig_buf_add_text(&text, is_null ? "NULL" : entry->value->text);
    }
    rig_buf_add_char(&text, '}');
    const bool equal = !text.failed && strcmp(rig_buf_text(&text), cell->text) == 0;
    rig_buf_done(&text);
    return equal;
}

static bool equal_untyped(const struct rig_text_cell *cell, const struct rig_yaml_node *node)
{
    const char *text = cell->text, *wanted = node->text;
    if (strcmp(text, wanted) == 0 || equal_numbers(text, wanted) || equal_moments(text, wanted))
        return true;
    if (node->plain && strcmp(wanted, "true") == 0)
        return strcasecmp(text, "t") == 0 || strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0;
    if (node->plain && strcmp(wanted, "false") == 0)
        return strcasecmp(text, "f") == 0 || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0;
    return false;
}

static bool equal_cell(const struct rig_text_cell *cell, const struct rig_yaml_node *node)
{
    if (cell->kind == RIG_TEXT_NULL || (node->kind == RIG_YAML_SCALAR && node->is_null))
        return cell->kind == RIG_TEXT_NULL && node->kind == RIG_YAML_SCALAR && node->is_null;
    if (node->kind == RIG_YAML_SEQUENCE)
        return equal_list(cell, node) || equal_json(cell, node);
    if (node->kind != RIG_YAML_SCALAR)
        return equal_json(cell, node);
    switch (cell->kind) {
    case RIG_TEXT_INTEGER:
    case RIG_TEXT_REAL:
        return node->plain && equal_numbers(cell->text, node->text);
    case RIG_TEXT_DECIMAL:
        return strcmp(cell->text, node->text) == 0 || (node->plain && equal_numbers(cell->text, node->text));
    case RIG_TEXT_BOOLEAN:
        return node->plain && strcmp(cell->text, node->text) == 0;
    case RIG_TEXT_MOMENT:
        return equal_moments(cell->text, node->text);
    case RIG_TEXT_UNTYPED:
        return equal_untyped(cell, node);
    case RIG_TEXT_OTHER:
        return strcmp(cell->text, node->text) == 0 && !(node->plain && is_number(node->text));
    case RIG_TEXT_NULL:
    default:
        return false;
    }
}

/* ---- rows ---- */

static bool equal_row(const struct rig_told *told, size_t row, const struct rig_yaml_node *node)
{
    const struct rig_text_cell *cells = told->cells + row * told->column_count;
    if (node->kind != RIG_YAML_SEQUENCE || node->count != told->column_count)
        return false;
    uint32_t at = 0;
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        if (!equal_cell(&cells[at++], entry->value))
            return false;
    }
    return true;
}

/* In order, or each with one of its own. */
static bool equal_rows(const struct rig_told *told, const struct rig_yaml_node *node)
{
    if (node->kind != RIG_YAML_SEQUENCE || told->cut || told->row_count != node->count)
        return false;
    if (told->row_count == 0)
        return true;
    bool *used = calloc(told->row_count, sizeof *used);
    const bool ordered = rig_told_is_ordered(told->statement);
    size_t matched = 0, at = 0;
    for (const struct rig_yaml_entry *entry = node->first; used != NULL && entry != NULL; entry = entry->next, at++) {
        for (size_t row = ordered ? at : 0; row < (ordered ? at + 1 : told->row_count); row++) {
            if (!used[row] && equal_row(told, row, entry->value)) {
                used[row] = true;
                matched++;
                break;
            }
        }
    }
    free(used);
    return matched == told->row_count;
}

static void write_node(const struct rig_yaml_node *node, struct rig_buf *out)
{
    if (node->kind == RIG_YAML_SCALAR) {
        rig_buf_printf(out, node->is_null || node->plain ? "%s" : "'%s'", node->is_null ? "null" : node->text);
        return;
    }
    rig_buf_add_char(out, '(');
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        rig_buf_add_text(out, entry == node->first ? "" : ", ");
        write_node(entry->value, out);
    }
    rig_buf_add_char(out, ')');
}

static void write_expected_rows(const struct rig_yaml_node *node, struct rig_buf *out)
{
    if (node->count == 0)
        rig_buf_add_text(out, "no rows");
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        rig_buf_add_text(out, entry == node->first ? "" : " ");
        write_node(entry->value, out);
    }
}

/* ---- errors ---- */

bool rig_told_is_error(const struct rig_told *told, const char *error)
{
    const char *under = strchr(error, '_');
    if (!told->failed)
        return false;
    if (strcmp(error, told->state) == 0 || strcasecmp(error, told->code) == 0)
        return error[0] != '\0';
    if (told->native != 0 && is_integer(error) && strtoll(error, NULL, 10) == told->native)
        return true;
    if (under != NULL && strncasecmp(error, "SQLITE_", 7) == 0 && strcasecmp(error + 7, told->code) == 0)
        return true;
    if (strpbrk(error, " ") == NULL)
        return false;
    for (const char *at = told->text; *at != '\0'; at++) {
        if (strncasecmp(at, error, strlen(error)) == 0)
            return true;
    }
    return false;
}

/* ---- steps ---- */

/* One after the other: the separator comes before all but the first. */
struct differences {
    struct rig_buf *out;
    size_t begin;
    bool any;
};

static struct rig_buf *next_difference(struct differences *differences)
{
    if (differences->any)
        rig_buf_add_text(differences->out, "; ");
    differences->any = true;
    return differences->out;
}

static void compare_answer(const struct rig_told *told, const struct rig_expected *expected,
                           struct differences *differences)
{
    const bool wants_error = expected->error != NULL;
    if (wants_error && !rig_told_is_error(told, expected->error)) {
        rig_buf_printf(next_difference(differences), "expected error %s, not ", expected->error);
        rig_told_write(told, differences->out);
        return;
    }
    if (!wants_error && told->failed) {
        rig_buf_printf(next_difference(differences), "expected no error, not %s: %s", told->code, told->text);
        return;
    }
    if (expected->rows != NULL && (!told->has_rows || !equal_rows(told, expected->rows))) {
        rig_buf_add_text(next_difference(differences), "expected ");
        write_expected_rows(expected->rows, differences->out);
        rig_buf_add_text(differences->out, ", not ");
        rig_told_write(told, differences->out);
    } else if (expected->rows == NULL && expected->strict && told->has_rows) {
        rig_buf_add_text(next_difference(differences), "expected no answer with rows, not ");
        rig_told_write(told, differences->out);
    }
    const bool untold = told->untagged && told->count < 0 && !told->has_rows;
    if (expected->has_count && told->count != expected->count && !untold) {
        rig_buf_printf(next_difference(differences), "expected %" PRId64 " rows changed, not ", expected->count);
        rig_told_write(told, differences->out);
    } else if (!expected->has_count && expected->strict && told->count >= 0) {
        rig_buf_printf(next_difference(differences), "expected no count of rows, not %" PRId64, told->count);
    }
    if (!told->untagged && told->rolled_back != expected->rolled_back && (expected->strict || expected->rolled_back))
        rig_buf_add_text(next_difference(differences), expected->rolled_back
                                                           ? "expected a commit that rolls back, not one that commits"
                                                           : "expected a commit, not one that rolls back");
}

static void write_after(uint32_t after, struct rig_buf *out)
{
    if (after == RIG_AFTER_THE_END)
        rig_buf_add_text(out, "the last step");
    else
        rig_buf_printf(out, "step %u", (unsigned)after);
}

static void compare_wait(const struct rig_told *told, const struct rig_expected *expected,
                         struct differences *differences)
{
    if ((expected->has_wait || expected->strict) && told->waits != expected->waits) {
        if (!told->waits) {
            rig_buf_add_text(next_difference(differences), "expected a wait, not a step that returns at once");
        } else {
            rig_buf_add_text(next_difference(differences), "expected a step that returns at once, not a wait until ");
            write_after(told->after, differences->out);
        }
        return;
    }
    if (told->stuck != expected->stuck && (expected->strict || expected->stuck)) {
        rig_buf_add_text(next_difference(differences),
                         told->stuck ? "expected to return, and it did not" : "expected not to return, and it did");
        return;
    }
    if (expected->has_after && told->after != expected->after) {
        rig_buf_add_text(next_difference(differences), "expected to return after ");
        write_after(expected->after, differences->out);
        rig_buf_add_text(differences->out, ", not after ");
        write_after(told->after, differences->out);
    }
    if ((expected->has_start || expected->strict) && told->starts_after != expected->starts_after) {
        struct rig_buf *out = next_difference(differences);
        if (expected->starts_after == RIG_AFTER_NOTHING) {
            rig_buf_add_text(out, "expected to be sent at once, not after ");
            write_after(told->starts_after, out);
        } else {
            rig_buf_add_text(out, "expected to be sent after ");
            write_after(expected->starts_after, out);
            rig_buf_add_text(out, told->starts_after == RIG_AFTER_NOTHING ? ", not at once" : ", not after ");
            if (told->starts_after != RIG_AFTER_NOTHING)
                write_after(told->starts_after, out);
        }
    }
}

/* A step that was never sent has nothing but that. */
static bool expects_nothing(const struct rig_expected *expected)
{
    return expected->rows == NULL && !expected->has_count && expected->error == NULL && !expected->rolled_back &&
           !expected->waits && !expected->has_start;
}

bool rig_told_compare(const struct rig_told *told, const struct rig_expected *expected, struct rig_buf *out)
{
    struct differences differences = {.out = out};
    if (!expected->given || told->skipped)
        return true;
    if (!told->sent) {
        if (!expects_nothing(expected))
            rig_buf_add_text(next_difference(&differences), "expected an answer, and the step was not sent");
        return !differences.any;
    }
    compare_wait(told, expected, &differences);
    if (!told->stuck)
        compare_answer(told, expected, &differences);
    return !differences.any;
}

bool rig_told_compare_final(const struct rig_told *told, const struct rig_yaml_node *expected, struct rig_buf *out)
{
    struct rig_expected rows = {.given = true, .rows = expected};
    if (expected->kind == RIG_YAML_SEQUENCE)
        return rig_told_compare(told, &rows, out);
    rows.rows = rig_yaml_value(expected, "rows");
    const struct rig_yaml_node *error = rig_yaml_value(expected, "error"), *count = rig_yaml_value(expected, "count");
    rows.error = error == NULL ? NULL : error->text;
    rows.has_count = count != NULL && count->text != NULL;
    rows.count = rows.has_count ? strtoll(count->text, NULL, 10) : 0;
    return rig_told_compare(told, &rows, out);
}
