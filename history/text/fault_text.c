#include "history/text/fault_text.h"

#include <string.h>

#include "base/json_write.h"
#include "history/model/history.h"
#include "history/text/text_cursor.h"

/* ---- writing ---- */

struct writer {
    const struct rig_syntax *dialect;
    struct rig_buf *out;
    bool any;
};

static void put_name(struct writer *writer, const char *name)
{
    const bool edn = writer->dialect->has_keywords;
    rig_buf_printf(writer->out, edn ? "%s:%s " : "%s\"%s\":", !writer->any ? "" : edn ? ", " : ",", name);
    writer->any = true;
}

static void put_text(struct writer *writer, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    put_name(writer, name);
    rig_json_quote(writer->out, text, strlen(text));
}

static void put_number(struct writer *writer, const char *name, uint64_t number)
{
    if (number == 0)
        return;
    put_name(writer, name);
    rig_buf_printf(writer->out, "%llu", (unsigned long long)number);
}

static void put_value(struct writer *writer, const struct rig_fault_event *event)
{
    rig_buf_add_char(writer->out, '{');
    put_text(writer, "step", rig_fault_step_name((enum rig_fault_step)event->step));
    put_number(writer, "injection", event->injection);
    put_text(writer, "fault", event->fault);
    put_text(writer, "targets", event->targets);
    if (event->failed) {
        put_name(writer, "failed");
        rig_buf_add_text(writer->out, "true");
    }
    put_text(writer, "text", event->text);
    put_number(writer, "ok", event->ok);
    put_number(writer, "fail", event->fail);
    put_number(writer, "info", event->info);
    rig_buf_add_char(writer->out, '}');
}

void rig_fault_text_write(const struct rig_syntax *dialect, const struct rig_fault_event *event, struct rig_buf *out)
{
    const bool edn = dialect->has_keywords;
    struct writer writer = {.dialect = dialect, .out = out};
    rig_buf_printf(out, "%s%u%sinfo%s%s", dialect->index, event->position, dialect->type, dialect->process,
                   edn ? ":nemesis" : "\"nemesis\"");
    if (event->time_ns != RIG_NO_TIME) {
        rig_buf_add_text(out, dialect->time);
        rig_buf_add_int(out, event->time_ns);
    }
    rig_buf_add_text(out, edn ? ", :f " : ",\"f\":");
    rig_json_quote(out, event->fault, strlen(event->fault));
    rig_buf_add_text(out, edn ? ", :value " : ",\"value\":");
    put_value(&writer, event);
    rig_buf_add_text(out, dialect->end);
}

/* ---- reading ---- */

/* Skips separators between members of a map, in either syntax. */
static void skip_between(struct rig_text_cursor *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\r\n,", *cursor->at) != NULL && *cursor->at != '\0')
        cursor->at++;
}

/* A name: "name" and a colon, or :name. */
static bool read_name(struct rig_text_cursor *cursor, struct rig_text_slice *name)
{
    skip_between(cursor);
    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at == '"') {
        if (rig_cursor_string(cursor, false, name) != RIG_OK)
            return false;
        skip_between(cursor);
        return cursor->at < cursor->end && *cursor->at++ == ':';
    }
    if (*cursor->at++ != ':')
        return false;
    *name = (struct rig_text_slice){.at = cursor->at};
    while (cursor->at < cursor->end && *cursor->at >= 'a' && *cursor->at <= 'z')
        cursor->at++;
    name->length = (size_t)(cursor->at - name->at);
    return true;
}

static bool read_text(struct rig_text_cursor *cursor, struct rig_arena *arena, const char **text)
{
    struct rig_text_slice slice;
    const char *decoded = NULL;
    size_t length = 0;
    if (*cursor->at != '"' || rig_cursor_string(cursor, true, &slice) != RIG_OK ||
        rig_cursor_decode(cursor, &slice, arena, &decoded, &length) != RIG_OK || memchr(decoded, '\0', length) != NULL)
        return false;
    *text = rig_arena_text(arena, decoded, length);
    return *text != NULL;
}

static bool read_number(struct rig_text_cursor *cursor, uint64_t *number)
{
    int64_t value = 0;
    if (rig_cursor_int(cursor, &value) != RIG_OK || value < 0)
        return false;
    *number = (uint64_t)value;
    return true;
}

static bool read_truth(struct rig_text_cursor *cursor, bool *truth)
{
    static const char said[] = "true";
    if ((size_t)(cursor->end - cursor->at) < sizeof said - 1 || memcmp(cursor->at, said, sizeof said - 1) != 0)
        return false;
    cursor->at += sizeof said - 1;
    *truth = true;
    return true;
}

static bool read_member(struct rig_text_cursor *cursor, const struct rig_text_slice *name, struct rig_arena *arena,
                        struct rig_fault_event *event, bool *has_step)
{
    const char *step = NULL;
    uint64_t injection = 0;
    enum rig_fault_step found;
    if (rig_slice_is(name, "step")) {
        *has_step = read_text(cursor, arena, &step) && rig_fault_step_find(step, strlen(step), &found);
        event->step = *has_step ? (uint8_t)found : 0;
        return *has_step;
    }
    if (rig_slice_is(name, "injection")) {
        const bool fits = read_number(cursor, &injection) && injection <= UINT32_MAX;
        event->injection = fits ? (uint32_t)injection : 0;
        return fits;
    }
    if (rig_slice_is(name, "fault"))
        return read_text(cursor, arena, &event->fault);
    if (rig_slice_is(name, "targets"))
        return read_text(cursor, arena, &event->targets);
    if (rig_slice_is(name, "text"))
        return read_text(cursor, arena, &event->text);
    if (rig_slice_is(name, "failed"))
        return read_truth(cursor, &event->failed);
    return (rig_slice_is(name, "ok") && read_number(cursor, &event->ok)) ||
           (rig_slice_is(name, "fail") && read_number(cursor, &event->fail)) ||
           (rig_slice_is(name, "info") && read_number(cursor, &event->info));
}

bool rig_fault_text_read(const char *value, size_t length, struct rig_arena *arena, struct rig_fault_event *event)
{
    struct rig_text_cursor cursor = {.name = "", .start = value, .at = value, .end = value + length};
    *event = (struct rig_fault_event){.time_ns = RIG_NO_TIME, .fault = "", .targets = "", .text = ""};
    bool has_step = false;
    if (length == 0 || *cursor.at++ != '{')
        return false;
    for (;;) {
        struct rig_text_slice name;
        skip_between(&cursor);
        if (cursor.at < cursor.end && *cursor.at == '}')
            return has_step && event->injection > 0 && event->fault[0] != '\0';
        if (!read_name(&cursor, &name))
            return false;
        skip_between(&cursor);
        if (cursor.at == cursor.end || !read_member(&cursor, &name, arena, event, &has_step))
            return false;
    }
}
