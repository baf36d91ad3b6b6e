#include "history/source/form_reader.h"

#include <string.h>

#include "base/machine.h"
#include "history/import/cobra_logs.h"
#include "history/import/session_reader.h"
#include "history/record/record_reader.h"
#include "history/source/unpack.h"
#include "history/text/classic_operations.h"
#include "history/text/index_order.h"

/* Blanks and a bracket before the first operation, at most. */
static const size_t blank_bytes = (size_t)1 << 20;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *byte_order_mark(const char *data, size_t size)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *name;
    } marks[] = {{"\xef\xbb\xbf", 3, "UTF-8"}, {"\xff\xfe", 2, "UTF-16"}, {"\xfe\xff", 2, "UTF-16"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (size >= marks[i].count && memcmp(data, marks[i].bytes, marks[i].count) == 0)
            return marks[i].name;
    }
    return NULL;
}

/*
 * By the first characters that differ: {" begins a JSON object; {: or # an EDN map. Operations are in at most one
 * sequence, and begin soon.
 */
static enum rig_form recognise_operations(const char *data, size_t size)
{
    size_t at = 0;
    for (bool opened = false; at < size && (is_blank(data[at]) || (data[at] == '[' && !opened)); at++)
        opened |= data[at] == '[';
    if (at > blank_bytes)
        return RIG_FORM_AUTO;
    if (at == size)
        return RIG_FORM_JSON_LINES;
    if (data[at] == ']')
        return RIG_FORM_JSON_LINES;
    if (data[at] == '#' || data[at] == ';' || data[at] == '(' || data[at] == ',')
        return RIG_FORM_EDN;
    if (data[at] != '{')
        return RIG_FORM_AUTO;
    for (at++; at < size && (is_blank(data[at]) || data[at] == ','); at++)
        ;
    return at < size && data[at] != '"' && data[at] != '}' ? RIG_FORM_EDN : RIG_FORM_JSON_LINES;
}

enum rig_form rig_form_recognise(const char *data, size_t size)
{
    if (rig_record_recognise(data, size))
        return RIG_FORM_RIG;
    const enum rig_form form = rig_session_recognise(data, size);
    return form == RIG_FORM_AUTO ? recognise_operations(data, size) : form;
}

const struct rig_form_reader *rig_form_reader_of(enum rig_form form)
{
    switch (form) {
    case RIG_FORM_RIG:
        return &rig_record_reader;
    case RIG_FORM_JSON_LINES:
        return &rig_json_lines_reader;
    case RIG_FORM_EDN:
        return &rig_edn_reader;
    case RIG_FORM_PLUME:
    case RIG_FORM_AWDIT:
    case RIG_FORM_DBCOP:
    case RIG_FORM_DBCOP_TEXT:
    case RIG_FORM_DBCOP_JSON:
    case RIG_FORM_COBRA:
        return &rig_session_reader;
    case RIG_FORM_AUTO:
        break;
    }
    return NULL;
}

enum rig_rc rig_form_refuse(const char *name, const char *data, size_t size, struct rig_err *err)
{
    const char *mark = byte_order_mark(data, size);
    if (mark != NULL)
        return rig_fail(err, RIG_E_INPUT, "%s:1:1: begins with a byte order mark (%s); save it as UTF-8 without one",
                        name, mark);
    if (rig_cobra_single_log(data, size))
        return rig_fail(err, RIG_E_INPUT, "%s: is the log of one client of Cobra; name the folder with all of them",
                        name);
    return rig_fail(
        err, RIG_E_INPUT,
        "%s:1:1: is not a recognised history (expected .rig, JSON lines, EDN, Jepsen's history.txt, or a form "
        "of Cobra, dbcop, PolySI, Plume or AWDIT; each also as .gz or .zst)",
        name);
}

enum rig_rc rig_form_look(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err)
{
    const struct rig_form_reader *reader = rig_form_reader_of(rig_form_recognise(data, size));
    if (rig_unpack_is_wanted(data, size))
        return RIG_OK; /* its form shows when all of it was read */
    return reader == NULL ? rig_form_refuse(name, data, size, err) : reader->look(name, data, size, undecided, err);
}

void rig_rewritten_done(struct rig_rewritten *rewritten)
{
    rig_text_origin_done(&rewritten->origin);
}

static const struct rig_text_syntax *syntax_of(const struct rig_load_options *load)
{
    return load->form == RIG_FORM_EDN ? &rig_text_syntax_edn : &rig_text_syntax_json;
}

static size_t half_of_limit(const struct rig_load_options *load)
{
    return (load->limit_bytes == 0 ? rig_machine_memory_bytes() : load->limit_bytes) / 2;
}

static struct rig_text_operations operations_of(const char *name, const struct rig_load_options *load,
                                                const struct rig_source_bytes *bytes)
{
    return (struct rig_text_operations){
        .syntax = syntax_of(load), .name = name, .data = bytes->data, .size = bytes->size};
}

enum rig_rc rig_rewrite_sorted(const char *name, const struct rig_load_options *load, struct rig_source_bytes *bytes,
                               struct rig_rewritten *rewritten, struct rig_err *err)
{
    const size_t all = half_of_limit(load), held = bytes->buf.size;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const struct rig_text_operations operations = operations_of(name, load, bytes);
    const enum rig_rc rc = rig_index_order_restore(&operations, all > held ? all - held : 0, &text, &rewritten->origin,
                                                   &rewritten->sorted, err);
    if (rc == RIG_OK && rewritten->sorted)
        rig_source_bytes_replace(bytes, &text);
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc rewrite(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                           const struct rig_text_origin *sorted_from, struct rig_text_origin *origin,
                           bool *reads_at_once, struct rig_err *err)
{
    struct rig_buf text;
    bool rewritten = false;
    rig_buf_init(&text, half_of_limit(load));
    struct rig_text_operations operations = operations_of(name, load, bytes);
    operations.origin = sorted_from;
    const enum rig_rc rc = rig_classic_rewrite(&operations, load, &text, origin, &rewritten, reads_at_once, err);
    if (rc == RIG_OK && rewritten)
        rig_source_bytes_replace(bytes, &text);
    rig_buf_done(&text);
    return rc;
}

enum rig_rc rig_rewrite_classic(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                                struct rig_rewritten *rewritten, struct rig_err *err)
{
    struct rig_err why = {0};
    if (load->form != RIG_FORM_JSON_LINES && load->form != RIG_FORM_EDN)
        return RIG_OK;
    enum rig_rc rc = rewrite(name, load, bytes, NULL, &rewritten->origin, &rewritten->reads_at_once, &why);
    if (rc == RIG_E_INPUT) {
        struct rig_err other = {0};
        rewritten->origin.count = 0;
        const enum rig_rc sorting = rig_rewrite_sorted(name, load, bytes, rewritten, &other);
        if (sorting != RIG_OK) {
            why = other;
            rc = sorting;
        }
    }
    if (rc == RIG_E_INPUT && rewritten->sorted) {
        struct rig_text_origin sorted = rewritten->origin;
        rewritten->origin = (struct rig_text_origin){0};
        why = (struct rig_err){0};
        rc = rewrite(name, load, bytes, &sorted, &rewritten->origin, &rewritten->reads_at_once, &why);
        if (rewritten->origin.count == 0)
            rewritten->origin = sorted;
        else
            rig_text_origin_done(&sorted);
    }
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
