#include "history/text/classic_private.h"

#include "history/types/types.h"

void rig_classic_put(struct rig_classic *r, const struct rig_text_slice *text)
{
    rig_buf_add(r->out, text->at, text->length);
}

/* The name of a field or a micro-operation. */
static void put_name(struct rig_classic *r, const char *name)
{
    rig_buf_add_char(r->out, r->edn ? ':' : '"');
    rig_buf_add_text(r->out, name);
    rig_buf_add_text(r->out, r->edn ? "" : "\"");
}

static void put_field(struct rig_classic *r, const char *name, bool is_first)
{
    rig_buf_add_text(r->out, is_first ? "" : ", ");
    put_name(r, name);
    rig_buf_add_text(r->out, r->edn ? " " : ": ");
}

void rig_classic_begin_micro(struct rig_classic *r, const char *name, const struct rig_text_slice *key)
{
    static const struct rig_text_slice zero = {.at = "0", .length = 1};
    const char last = r->out->size == 0 ? '\0' : r->out->data[r->out->size - 1];
    rig_buf_add_text(r->out, last == ']' && !r->edn ? ", [" : last == ']' ? " [" : "[");
    put_name(r, name);
    rig_buf_add_text(r->out, r->edn ? " " : ", ");
    rig_classic_put(r, key == NULL ? &zero : key);
}

void rig_classic_end_micro(struct rig_classic *r, const struct rig_text_slice *value)
{
    if (value != NULL) {
        rig_buf_add_text(r->out, r->edn ? " " : ", ");
        rig_classic_put(r, value);
    }
    rig_buf_add_char(r->out, ']');
}

void rig_classic_end_number(struct rig_classic *r, int64_t value)
{
    rig_buf_add_text(r->out, r->edn ? " " : ", ");
    rig_buf_add_int(r->out, value);
    rig_buf_add_char(r->out, ']');
}

void rig_classic_end_null(struct rig_classic *r)
{
    rig_buf_add_text(r->out, r->edn ? " nil]" : ", null]");
}

enum rig_rc rig_classic_refuse(const struct rig_classic *r, const struct rig_classic_item *item, const char *why)
{
    return rig_cursor_fail(&r->parser.cursor, item->at, "an operation \"%.*s\" %s, in a history of %s",
                           item->function.length > 40 ? 40 : (int)item->function.length,
                           item->function.at == NULL ? "" : item->function.at, why, rig_data_type_names[r->workload]);
}

bool rig_classic_note_origin(struct rig_classic *r, size_t at)
{
    struct rig_text_place *place = &r->place;
    const char *text = r->parser.cursor.start;
    if (r->parser.cursor.origin != NULL) {
        struct rig_text_place sorted = *rig_text_origin_find(r->parser.cursor.origin, at);
        sorted.at = r->out->size;
        return rig_text_origin_add(r->origin, sorted);
    }
    if (place->line == 0 || at < place->at)
        *place = (struct rig_text_place){.at = 0, .line = 1, .column = 1};
    for (; place->at < at; place->at++) {
        place->column = text[place->at] == '\n' ? 1 : place->column + 1;
        place->line += text[place->at] == '\n';
    }
    const struct rig_text_place noted = {.at = r->out->size, .line = place->line, .column = place->column};
    return rig_text_origin_add(r->origin, noted);
}

void rig_classic_begin(struct rig_classic *r, const struct rig_classic_item *item, int64_t index)
{
    static const char *const types[] = {"invoke", "ok", "fail", "info"};
    rig_buf_add_char(r->out, '{');
    put_field(r, "index", true);
    rig_buf_add_int(r->out, index);
    if (item->has_time) {
        put_field(r, "time", false);
        rig_buf_add_int(r->out, item->time_ns);
    }
    put_field(r, "type", false);
    put_name(r, types[item->type]);
    put_field(r, "process", false);
    if (item->process_name.at != NULL)
        rig_buf_printf(r->out, "\"%.*s\"", (int)item->process_name.length, item->process_name.at);
    else
        rig_buf_add_int(r->out, item->process);
    put_field(r, "f", false);
    put_name(r, "txn");
    put_field(r, "value", false);
    rig_buf_add_char(r->out, '[');
    r->written++;
}

void rig_classic_end(struct rig_classic *r)
{
    rig_buf_add_text(r->out, "]}\n");
}

/* In a file of completions only, it is one, too. */
bool rig_classic_begin_unseen(struct rig_classic *r, size_t at)
{
    bool invokes = r->items.count == 0;
    for (size_t i = 0; !invokes && i < r->items.count; i++)
        invokes = r->items.at[i].is_client && r->items.at[i].type == RIG_OPERATION_INVOKE;
    const struct rig_classic_item unseen = {.type = invokes ? RIG_OPERATION_INVOKE : RIG_OPERATION_INFO,
                                            .has_process = true,
                                            .process = INT32_MAX - (int64_t)r->shift};
    if (!rig_classic_note_origin(r, at))
        return false;
    rig_classic_begin(r, &unseen, r->shift++);
    return true;
}
