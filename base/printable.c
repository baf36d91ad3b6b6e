#include "base/printable.h"

#include <string.h>

#include "base/bug.h"

size_t rig_utf8_decode(const char *text, size_t left, uint32_t *code)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    RIG_REQUIRE(left > 0);
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t length = 1; length <= 4; length++) {
        if ((bytes[0] & forms[length - 1].mask) != forms[length - 1].lead)
            continue;
        if (left < length)
            return 0;
        uint32_t value = bytes[0] & (unsigned char)~forms[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (bytes[i] & 0x3fU);
        }
        const bool surrogate = value >= 0xd800 && value <= 0xdfff;
        if (value < forms[length - 1].least || value > 0x10ffff || surrogate)
            return 0;
        if (code != NULL)
            *code = value;
        return length;
    }
    return 0;
}

void rig_wrap(const char *text, size_t indent, size_t columns, struct rig_buf *out)
{
    size_t column = indent;
    for (const char *word = text; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (column > indent && column + 1 + length > columns) {
            rig_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            rig_buf_add_char(out, ' ');
            column++;
        }
        rig_buf_add(out, word, length);
        column += length;
        word += length;
        word += strspn(word, " ");
    }
    rig_buf_add_char(out, '\n');
}

static bool is_blank(uint32_t code)
{
    return code == '\n' || code == '\r' || code == '\t' || code == 0x2028 || code == 0x2029;
}

static bool is_direction_mark(uint32_t code)
{
    return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool rig_printable_is(uint32_t code)
{
    return code >= ' ' && (code < 0x7f || code >= 0xa0) && !is_direction_mark(code);
}

static void make_printable(char *text, bool keeps_lines)
{
    char *to = text;
    const char *end = text + strlen(text);
    for (const char *from = text; from < end;) {
        uint32_t code = 0;
        const size_t length = rig_utf8_decode(from, (size_t)(end - from), &code);
        if (length > 0 && ((code == '\n' && keeps_lines) || (rig_printable_is(code) && !is_blank(code)))) {
            memmove(to, from, length);
            to += length;
        } else {
            *to++ = length > 0 && is_blank(code) ? ' ' : '?';
        }
        from += length == 0 ? 1 : length;
    }
    *to = '\0';
}

void rig_printable_line(char *text)
{
    make_printable(text, false);
}

void rig_printable_lines(char *text)
{
    make_printable(text, true);
}

void rig_printable_buf(struct rig_buf *buf)
{
    if (buf->failed || buf->size == 0)
        return;
    (void)rig_buf_text(buf); /* ends it */
    make_printable(buf->data, true);
    buf->size = strlen(buf->data);
}
