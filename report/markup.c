#include "report/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes one UTF-8 sequence; its length, or 0 when it is none. */
static size_t decode(const unsigned char *text, size_t left, uint32_t *code)
{
    if (text[0] < 0x80) {
        *code = text[0];
        return 1;
    }
    size_t length = text[0] >= 0xf0 && text[0] < 0xf8 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc2 ? 2 : 0;
    if (text[0] >= 0xf8 || length == 0 || length > left)
        return 0;
    *code = text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return *code >= least[length] ? length : 0;
}

/* Char of XML 1.0, less the C1 controls. */
static bool allowed(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n';
    if (code >= 0x7f && code < 0xa0)
        return false;
    return !(code >= 0xd800 && code <= 0xdfff) && code != 0xfffe && code != 0xffff && code <= 0x10ffff;
}

void rig_markup_escape_bytes(struct rig_buf *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        size_t bytes = decode((const unsigned char *)text + at, length - at, &code);
        if (bytes == 0 || !allowed(code))
            rig_buf_add_text(out, "\xef\xbf\xbd");
        else if (code == '&')
            rig_buf_add_text(out, "&amp;");
        else if (code == '<')
            rig_buf_add_text(out, "&lt;");
        else if (code == '>')
            rig_buf_add_text(out, "&gt;");
        else if (code == '"')
            rig_buf_add_text(out, "&quot;");
        else if (code == '\'')
            rig_buf_add_text(out, "&#39;");
        else
            rig_buf_add(out, text + at, bytes);
        at += bytes == 0 ? 1 : bytes;
    }
}

void rig_markup_escape(struct rig_buf *out, const char *text)
{
    if (text != NULL)
        rig_markup_escape_bytes(out, text, strlen(text));
}
