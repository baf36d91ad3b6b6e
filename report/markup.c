#include "report/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/printable.h"

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
        size_t bytes = rig_utf8_decode(text + at, length - at, &code);
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
