#include "base/json_write.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "base/printable.h"

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

void rig_json_plain(struct rig_json_writer *writer, const char *name, const char *literal)
{
    begin_value(writer, name);
    rig_buf_add_text(writer->buf, literal);
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

void rig_json_text(struct rig_json_writer *writer, const char *name, const char *text)
{
    if (text == NULL)
        rig_json_null(writer, name);
    else
        rig_json_string(writer, name, text);
}

void rig_json_quote(struct rig_buf *buf, const char *text, size_t length)
{
    rig_buf_add_char(buf, '"');
    size_t at = 0;
    while (at < length) {
        unsigned char c = (unsigned char)text[at];
        uint32_t code = 0;
        size_t bytes = rig_utf8_decode(text + at, length - at, &code);
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
        else if (c >= 0x80 && !rig_printable_is(code)) /* all of these are below 0x10000 */
            rig_buf_printf(buf, "\\u%04x", (unsigned)code);
        else
            rig_buf_add(buf, text + at, bytes);
        at += bytes == 0 ? 1 : bytes;
    }
    rig_buf_add_char(buf, '"');
}
