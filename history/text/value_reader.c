#include "history/text/value_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/printable.h"
#include "history/model/value_texts.h"

/* The byte at the cursor; 0 past the end. */
static char look(const struct rig_text_cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the text is -?digits(.digits)?([eE][+-]?digits)?, with a fraction or an exponent. */
static bool has_fraction(const char *at)
{
    bool is_fraction = false;
    at += *at == '-';
    if (!is_digit(*at) || (at[0] == '0' && is_digit(at[1])))
        return false;
    at += strspn(at, "0123456789");
    if (*at == '.') {
        is_fraction = is_digit(*++at);
        at += strspn(at, "0123456789");
        if (!is_fraction)
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        is_fraction = is_digit(*at);
        at += strspn(at, "0123456789");
    }
    return is_fraction && *at == '\0';
}

bool rig_value_take_fraction(struct rig_text_cursor *cursor, double *fraction)
{
    char text[64];
    size_t length = 0;
    while (cursor->at + length < cursor->end && length + 1 < sizeof text &&
           strchr(" \t\r\n\f,[](){}\";", cursor->at[length]) == NULL)
        length++;
    memcpy(text, cursor->at, length);
    text[length] = '\0';
    if (strlen(text) != length || !has_fraction(text))
        return false;
    const double number = strtod(text, NULL);
    if (!isfinite(number))
        return false;
    *fraction = number;
    cursor->at += length;
    return true;
}

/* The shortest digits that give the same double; 0.0 and -0.0 are equal. */
static void add_fraction(struct rig_buf *text, double number)
{
    char digits[40];
    number = number == 0 ? 0 : number;
    for (int count = 15; count <= 17; count++) {
        (void)snprintf(digits, sizeof digits, "%.*g", count, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    rig_buf_add_text(text, digits);
    if (strpbrk(digits, ".e") == NULL)
        rig_buf_add_text(text, ".0");
}

static enum rig_rc add_string(struct rig_operation_parser *parser, struct rig_buf *text)
{
    struct rig_text_slice slice = {0};
    const size_t from = rig_cursor_offset(&parser->cursor);
    const char *at = NULL;
    size_t length = 0;
    enum rig_rc rc = rig_cursor_string(&parser->cursor, parser->syntax->long_strings, &slice);
    if (rc == RIG_OK)
        rc = rig_cursor_decode(&parser->cursor, &slice, &parser->texts, &at, &length);
    if (rc != RIG_OK)
        return rc;
    for (size_t i = 0; i < length;) {
        const size_t bytes = at[i] == '\0' ? 0 : rig_utf8_decode(at + i, length - i, NULL);
        if (bytes == 0)
            return rig_cursor_fail(&parser->cursor, from, "a value that is not UTF-8; rename it");
        i += bytes;
    }
    rig_json_quote(text, at, length);
    return RIG_OK;
}

/* The word at the cursor, if it is `word`. */
static bool take_word(struct rig_text_cursor *cursor, const char *word)
{
    const size_t length = strlen(word), left = (size_t)(cursor->end - cursor->at);
    if (left < length || memcmp(cursor->at, word, length) != 0 ||
        (left > length && strchr(" \t\r\n\f,[](){}\";", cursor->at[length]) == NULL))
        return false;
    cursor->at += length;
    return true;
}

static enum rig_rc add_keyword(struct rig_operation_parser *parser, struct rig_buf *text)
{
    struct rig_text_slice slice = {0};
    const enum rig_rc rc = parser->syntax->word(&parser->cursor, "a keyword", &slice);
    if (rc == RIG_OK && (slice.length == 0 || memchr(slice.at, '\0', slice.length) != NULL))
        return rig_cursor_unexpected(&parser->cursor, "a keyword");
    rig_buf_add_char(text, ':');
    rig_buf_add(text, slice.at, slice.length);
    return rc;
}

static enum rig_rc add_scalar(struct rig_operation_parser *parser, struct rig_buf *text, bool *is_integer,
                              int64_t *number)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    double fraction;
    *is_integer = false;
    if (look(cursor) == '"')
        return add_string(parser, text);
    if (look(cursor) == ':' && parser->syntax->keywords)
        return add_keyword(parser, text);
    if (parser->syntax->take_null(cursor)) {
        rig_buf_add_text(text, "nil");
    } else if (take_word(cursor, "true")) {
        rig_buf_add_text(text, "true");
    } else if (take_word(cursor, "false")) {
        rig_buf_add_text(text, "false");
    } else if (rig_value_take_fraction(cursor, &fraction)) {
        add_fraction(text, fraction);
    } else if (look(cursor) != '-' && look(cursor) != '+' && !is_digit(look(cursor))) {
        return rig_cursor_unexpected(cursor, "a value (a number, a text, null, or a list of these)");
    } else {
        const enum rig_rc rc = parser->syntax->integer(cursor, number);
        *is_integer = rc == RIG_OK;
        if (rc != RIG_OK)
            return rc;
        rig_buf_add_int(text, *number);
    }
    return RIG_OK;
}

/* The closer of the sequence that opens at the cursor, or 0. */
static char closer_here(const struct rig_operation_parser *parser)
{
    const char c = look(&parser->cursor);
    const char *opener = c == '\0' ? NULL : strchr(parser->syntax->openers, c);
    return opener == NULL ? '\0' : parser->syntax->closers[opener - parser->syntax->openers];
}

enum rig_rc rig_value_read(struct rig_operation_parser *parser, struct rig_buf *text, bool *is_integer, int64_t *number)
{
    char closers[RIG_VALUE_DEPTH];
    unsigned depth = 0;
    bool is_first = true, more = true;
    rig_buf_clear(text);
    do {
        enum rig_rc rc = RIG_OK;
        const char closer = more ? closer_here(parser) : '\0';
        if (!more) {
            rig_buf_add_char(text, ']');
            depth--;
            is_first = false;
        } else if (closer != '\0') {
            if (depth == RIG_VALUE_DEPTH)
                return rig_cursor_fail(&parser->cursor, rig_cursor_offset(&parser->cursor), "nested more than %d deep",
                                       RIG_VALUE_DEPTH);
            closers[depth++] = closer;
            parser->cursor.at++;
            rig_buf_add_char(text, '[');
            is_first = true;
        } else {
            rc = add_scalar(parser, text, is_integer, number);
            is_first = false;
        }
        if (rc == RIG_OK && depth > 0) {
            *is_integer = false;
            rc = parser->syntax->more(&parser->cursor, closers[depth - 1], is_first, &more);
            if (more && !is_first)
                rig_buf_add_char(text, ' ');
        }
        if (rc != RIG_OK)
            return rc;
    } while (depth > 0);
    return text->failed ? rig_cursor_no_memory(&parser->cursor) : RIG_OK;
}

enum rig_rc rig_value_parse(const char *text, size_t length, int64_t *value, struct rig_err *err)
{
    struct rig_operation_parser parser;
    struct rig_buf written;
    bool is_integer = false;
    rig_buf_init(&written, RIG_CURSOR_TEXT_BYTES);
    rig_operation_parser_init(&parser, &rig_text_syntax_edn, "value", text, length, NULL);
    enum rig_rc rc = rig_value_read(&parser, &written, &is_integer, value);
    if (rc == RIG_OK && parser.cursor.at != parser.cursor.end)
        rc = RIG_E_INPUT;
    if (rc == RIG_OK && !is_integer && !rig_value_number(rig_buf_text(&written), written.size, value))
        rc = rig_no_memory(err, "the value");
    else if (rc != RIG_OK)
        rc = rig_fail(err, RIG_E_INPUT, "`%.*s` is no value: expected a number, or nil, \"text\", :keyword or [1 2]",
                      (int)(length < 64 ? length : 64), text);
    rig_operation_parser_done(&parser);
    rig_buf_done(&written);
    return rc;
}
