#include "base/printable.h"

#include <string.h>

#include "base/utf8.h"

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
