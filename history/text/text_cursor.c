#include "history/text/text_cursor.h"

#include <string.h>

#include "base/buf.h"
#include "base/bug.h"

const struct rig_text_place *rig_text_origin_find(const struct rig_text_origin *origin, size_t at)
{
    size_t low = 0, high = origin->count;
    RIG_REQUIRE(origin->count > 0 && origin->at[0].at == 0);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (origin->at[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return &origin->at[low];
}

size_t rig_cursor_line(const struct rig_text_cursor *cursor, size_t at)
{
    size_t line = 1;
    if (cursor->origin != NULL)
        return rig_text_origin_find(cursor->origin, at)->line;
    for (size_t i = 0; i < at; i++)
        line += cursor->start[i] == '\n';
    return line;
}

static size_t column_of(const struct rig_text_cursor *cursor, size_t at)
{
    size_t from = at;
    if (cursor->origin != NULL)
        return rig_text_origin_find(cursor->origin, at)->column;
    while (from > 0 && cursor->start[from - 1] != '\n')
        from--;
    return at - from + 1;
}

enum rig_rc rig_cursor_fail(const struct rig_text_cursor *cursor, size_t at, const char *format, ...)
{
    char text[RIG_ERR_TEXT_BYTES / 2];
    RIG_REQUIRE(at <= (size_t)(cursor->end - cursor->start));
    if (cursor->err == NULL)
        return RIG_E_INPUT;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rig_fail(cursor->err, RIG_E_INPUT, "%s:%zu:%zu: %s", cursor->name, rig_cursor_line(cursor, at),
                    column_of(cursor, at), text);
}

enum rig_rc rig_cursor_no_memory(const struct rig_text_cursor *cursor)
{
    return rig_fail(cursor->err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", cursor->name);
}

static enum rig_rc fail_at(const struct rig_text_cursor *cursor, const char *at, const char *text)
{
    return rig_cursor_fail(cursor, (size_t)(at - cursor->start), "%s", text);
}

enum rig_rc rig_cursor_unexpected(const struct rig_text_cursor *cursor, const char *wanted)
{
    if (cursor->at == cursor->end)
        return rig_cursor_fail(cursor, rig_cursor_offset(cursor),
                               "expected %s, not the end of the file; it may have been cut", wanted);
    unsigned char c = (unsigned char)*cursor->at;
    if (c > ' ' && c < 0x7f)
        return rig_cursor_fail(cursor, rig_cursor_offset(cursor), "expected %s, not '%c'", wanted, c);
    return rig_cursor_fail(cursor, rig_cursor_offset(cursor), "expected %s, not the byte 0x%02x", wanted, c);
}

enum rig_rc rig_cursor_string(struct rig_text_cursor *cursor, bool multiline, struct rig_text_slice *slice)
{
    if (cursor->at == cursor->end || *cursor->at != '"')
        return rig_cursor_unexpected(cursor, "a string");
    const char *from = cursor->at + 1;
    bool has_escapes = false;
    for (const char *at = from; at < cursor->end; at++) {
        if (*at == '"') {
            *slice = (struct rig_text_slice){.at = from, .length = (size_t)(at - from), .has_escapes = has_escapes};
            cursor->at = at + 1;
            return RIG_OK;
        }
        if ((unsigned char)*at < ' ' && (!multiline || *at == '\0')) {
            cursor->at = at;
            return fail_at(cursor, at,
                           *at == '\n' ? "the line ends inside a string; it may have been cut"
                                       : "a control character in a string; write it as an escape");
        }
        if (*at == '\\') {
            has_escapes = true;
            at++;
        }
    }
    cursor->at = cursor->end;
    return rig_cursor_unexpected(cursor, "a string's closing quote");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool get_hex(const char *at, const char *end, uint32_t *code)
{
    if (end - at < 4)
        return false;
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static void add_utf8(struct rig_buf *buf, uint32_t code)
{
    if (code < 0x80) {
        rig_buf_add_char(buf, (char)code);
    } else if (code < 0x800) {
        rig_buf_add_char(buf, (char)(0xc0 | code >> 6));
        rig_buf_add_char(buf, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        rig_buf_add_char(buf, (char)(0xe0 | code >> 12));
        rig_buf_add_char(buf, (char)(0x80 | (code >> 6 & 0x3f)));
        rig_buf_add_char(buf, (char)(0x80 | (code & 0x3f)));
    } else {
        rig_buf_add_char(buf, (char)(0xf0 | code >> 18));
        rig_buf_add_char(buf, (char)(0x80 | (code >> 12 & 0x3f)));
        rig_buf_add_char(buf, (char)(0x80 | (code >> 6 & 0x3f)));
        rig_buf_add_char(buf, (char)(0x80 | (code & 0x3f)));
    }
}

/* \uXXXX, two of them beyond the basic plane. Returns its end, or NULL. */
static const char *decode_unicode(struct rig_buf *buf, const char *at, const char *end)
{
    uint32_t code, low;
    if (!get_hex(at, end, &code) || code == 0)
        return NULL;
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
        get_hex(at + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd; /* half of a pair is not a character */
    add_utf8(buf, code);
    return at;
}

static enum rig_rc resolve(const struct rig_text_cursor *cursor, const struct rig_text_slice *slice,
                           struct rig_buf *buf)
{
    static const char escapes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    rig_buf_clear(buf);
    const char *end = slice->at + slice->length;
    for (const char *at = slice->at; at < end;) {
        if (*at != '\\') {
            rig_buf_add_char(buf, *at++);
            continue;
        }
        const char *escape = at++;
        const char *known = at < end ? strchr(escapes, *at) : NULL;
        if (known != NULL && *known != '\0') {
            rig_buf_add_char(buf, meanings[known - escapes]);
            at++;
        } else {
            at = at < end && *at == 'u' ? decode_unicode(buf, at + 1, end) : NULL;
        }
        if (at == NULL)
            return fail_at(cursor, escape, "an escape that is not allowed in a text");
    }
    return RIG_OK;
}

enum rig_rc rig_cursor_decode(const struct rig_text_cursor *cursor, const struct rig_text_slice *slice,
                              struct rig_arena *texts, const char **text, size_t *length)
{
    if (slice->length > RIG_CURSOR_TEXT_BYTES)
        return rig_cursor_fail(cursor, (size_t)(slice->at - cursor->start), "a text longer than %d bytes; shorten it",
                               RIG_CURSOR_TEXT_BYTES);
    *text = slice->at;
    *length = slice->length;
    if (!slice->has_escapes)
        return RIG_OK;
    struct rig_buf buf;
    rig_buf_init(&buf, RIG_CURSOR_TEXT_BYTES); /* a text is never longer than its escaped form */
    enum rig_rc rc = resolve(cursor, slice, &buf);
    if (rc == RIG_OK) {
        *text = buf.failed ? NULL : rig_arena_text(texts, rig_buf_text(&buf), buf.size);
        *length = buf.size;
        rc = *text == NULL ? rig_cursor_no_memory(cursor) : RIG_OK;
    }
    rig_buf_done(&buf);
    return rc;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

enum rig_rc rig_cursor_int(struct rig_text_cursor *cursor, int64_t *number)
{
    const char *from = cursor->at;
    const char *at = from;
    bool negative = at < cursor->end && *at == '-';
    at += negative;
    if (!is_digit(at, cursor->end))
        return rig_cursor_unexpected(cursor, "an integer");
    const char *digits = at;
    uint64_t magnitude = 0;
    uint64_t most = (uint64_t)INT64_MAX + negative;
    for (; is_digit(at, cursor->end); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (magnitude > (most - digit) / 10)
            return fail_at(cursor, from, "a number beyond 64 bits; values and keys are 64-bit integers");
        magnitude = magnitude * 10 + digit;
    }
    if (*digits == '0' && at - digits > 1)
        return fail_at(cursor, from, "a number that starts with 0; leave out the 0");
    if (at < cursor->end && (*at == '.' || *at == 'e' || *at == 'E'))
        return fail_at(cursor, from, "a number that is not a plain integer; write it without fraction and exponent");
    *number = (int64_t)(negative ? 0 - magnitude : magnitude);
    cursor->at = at;
    return RIG_OK;
}

bool rig_slice_is(const struct rig_text_slice *slice, const char *wanted)
{
    return slice->length == strlen(wanted) && memcmp(slice->at, wanted, slice->length) == 0;
}
