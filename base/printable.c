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

/*
 * The columns of the character or the colour sequence at `text`, which is not empty; `*length`: its bytes.
 */
static size_t step(const char *text, size_t *length)
{
    if (text[0] == '\033' && text[1] == '[') {
        *length = 2 + strspn(text + 2, "0123456789;");
        *length += text[*length] == '\0' ? 0 : 1;
        return 0;
    }
    *length = 1;
    while (((unsigned char)text[*length] & 0xc0) == 0x80)
        ++*length;
    return 1;
}

/* The columns of the first `size` bytes of a text. */
static size_t width_of(const char *text, size_t size)
{
    size_t width = 0, length = 0;
    for (size_t at = 0; at < size; at += length)
        width += step(text + at, &length);
    return width;
}

/* The column at which the further lines of a row begin: below what follows its first wide gap, or a bit to the right
 * of its own beginning. */
static size_t hanging_indent(const char *row, size_t size, size_t columns)
{
    const size_t blanks = strspn(row, " ");
    for (size_t at = blanks; at + 2 < size; at++) {
        if (row[at] != ' ' || row[at + 1] != ' ')
            continue;
        const size_t second = at + strspn(row + at, " ");
        const size_t width = width_of(row, second);
        if (second < size && width <= columns / 2)
            return width;
        break;
    }
    return blanks + 2 <= columns / 2 ? blanks + 2 : 0;
}

static void wrap_row(const char *row, size_t size, size_t columns, struct rig_buf *out)
{
    const size_t indent = hanging_indent(row, size, columns);
    size_t column = 0;
    for (size_t at = 0; at < size;) {
        size_t gap = 0, word = 0;
        while (at + gap < size && row[at + gap] == ' ')
            gap++;
        while (at + gap + word < size && row[at + gap + word] != ' ')
            word++;
        const size_t width = width_of(row + at + gap, word);
        if (at > 0 && column > indent && column + gap + width > columns) {
            rig_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else {
            rig_buf_add(out, row + at, gap);
            column += gap;
        }
        rig_buf_add(out, row + at + gap, word);
        column += width;
        at += gap + word;
    }
}

void rig_wrap_rows(const char *text, size_t columns, struct rig_buf *out)
{
    while (*text != '\0') {
        const size_t size = strcspn(text, "\n");
        if (width_of(text, size) <= columns)
            rig_buf_add(out, text, size);
        else
            wrap_row(text, size, columns, out);
        text += size;
        if (*text == '\n') {
            rig_buf_add_char(out, '\n');
            text++;
        }
    }
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
