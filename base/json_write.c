#include "base/json_write.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"

void rig_json_init(struct rig_json_writer *writer, struct rig_buf *buf)
{
    *writer = (struct rig_json_writer){.buf = buf};
}

void rig_json_init_indented(struct rig_json_writer *writer, struct rig_buf *buf, unsigned indent, unsigned indent_depth)
{
    *writer = (struct rig_json_writer){.buf = buf, .indent = indent, .indent_depth = indent_depth};
}

static void new_line(struct rig_json_writer *writer)
{
    rig_buf_add_char(writer->buf, '\n');
    for (unsigned i = 0; i < writer->depth * writer->indent; i++)
        rig_buf_add_char(writer->buf, ' ');
}

static bool on_own_line(const struct rig_json_writer *writer)
{
    return writer->indent > 0 && writer->depth <= writer->indent_depth;
}

static void begin_value(struct rig_json_writer *writer, const char *name)
{
    if (writer->depth > 0) {
        bool *has_member = &writer->has_member[writer->depth - 1];
        if (*has_member)
            rig_buf_add_text(writer->buf, on_own_line(writer) ? "," : ", ");
        if (on_own_line(writer))
            new_line(writer);
        *has_member = true;
        RIG_REQUIRE((name != NULL) == (writer->closer[writer->depth - 1] == '}'));
    }
    if (name != NULL) {
        rig_json_quote(writer->buf, name, strlen(name));
        rig_buf_add_text(writer->buf, ": ");
    }
}

static void begin_nested(struct rig_json_writer *writer, const char *name, char opener, char closer)
{
    begin_value(writer, name);
    RIG_REQUIRE(writer->depth < RIG_JSON_DEPTH);
    rig_buf_add_char(writer->buf, opener);
    writer->has_member[writer->depth] = false;
    writer->closer[writer->depth++] = closer;
}

void rig_json_begin_object(struct rig_json_writer *writer, const char *name)
{
    begin_nested(writer, name, '{', '}');
}

void rig_json_begin_array(struct rig_json_writer *writer, const char *name)
{
    begin_nested(writer, name, '[', ']');
}

void rig_json_end(struct rig_json_writer *writer)
{
    RIG_REQUIRE(writer->depth > 0);
    bool break_line = on_own_line(writer) && writer->has_member[writer->depth - 1];
    writer->depth--;
    if (break_line)
        new_line(writer);
    rig_buf_add_char(writer->buf, writer->closer[writer->depth]);
}

void rig_json_string(struct rig_json_writer *writer, const char *name, const char *text)
{
    begin_value(writer, name);
    rig_json_quote(writer->buf, text, strlen(text));
}

void rig_json_int(struct rig_json_writer *writer, const char *name, int64_t number)
{
    begin_value(writer, name);
    rig_buf_add_int(writer->buf, number);
}

void rig_json_number(struct rig_json_writer *writer, const char *name, double number)
{
    begin_value(writer, name);
    if (isfinite(number))
        rig_buf_printf(writer->buf, "%.3f", number);
    else
        rig_buf_add_text(writer->buf, "null");
}

void rig_json_bool(struct rig_json_writer *writer, const char *name, bool value)
{
    begin_value(writer, name);
    rig_buf_add_text(writer->buf, value ? "true" : "false");
}

void rig_json_null(struct rig_json_writer *writer, const char *name)
{
    begin_value(writer, name);
    rig_buf_add_text(writer->buf, "null");
}

/* The length of the valid UTF-8 sequence at `text`, or 0. Overlong forms, surrogates and values past U+10FFFF are not.
 */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if (text[0] < 0x80)
        return 1;
    for (size_t form = 0; form < 3; form++) {
        size_t length = form + 2;
        if ((text[0] & forms[form].mask) != forms[form].lead || left < length)
            continue;
        uint32_t code = text[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i < length; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[form].least && code <= 0x10ffff && !surrogate ? length : 0;
    }
    return 0;
}

void rig_json_quote(struct rig_buf *buf, const char *text, size_t length)
{
    rig_buf_add_char(buf, '"');
    size_t at = 0;
    while (at < length) {
        unsigned char c = (unsigned char)text[at];
        size_t bytes = utf8_length((const unsigned char *)text + at, length - at);
        if (c == '"' || c == '\\')
            rig_buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            rig_buf_add_text(buf, "\\n");
        else if (c == '\t')
            rig_buf_add_text(buf, "\\t");
        else if (c < 0x20 || c == 0x7f)
            rig_buf_printf(buf, "\\u%04x", c);
        else if (bytes == 0)
            rig_buf_add_text(buf, "\xef\xbf\xbd");
        else
            rig_buf_add(buf, text + at, bytes);
        at += bytes == 0 ? 1 : bytes;
    }
    rig_buf_add_char(buf, '"');
}
