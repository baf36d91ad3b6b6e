#include "history/text/operation_parser.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "history/model/value_texts.h"
#include "history/text/certificate_text.h"
#include "history/text/object_operation.h"
#include "history/text/value_reader.h"
#include "history/types/types.h"

void rig_operation_parser_init(struct rig_operation_parser *parser, const struct rig_text_syntax *syntax,
                               const char *name, const char *data, size_t size, struct rig_err *err)
{
    *parser = (struct rig_operation_parser){
        .cursor = {.name = name, .start = data, .at = data, .end = data + size, .err = err},
        .syntax = syntax,
    };
    rig_arena_init(&parser->texts, 0);
    rig_buf_init(&parser->value_text, RIG_CURSOR_TEXT_BYTES);
}

void rig_operation_parser_done(struct rig_operation_parser *parser)
{
    rig_micro_vec_done(&parser->operation.micros);
    rig_element_vec_done(&parser->operation.elements);
    rig_arena_done(&parser->texts);
    rig_buf_done(&parser->value_text);
}

/* The byte at the cursor; 0 past the end. */
static char look(const struct rig_operation_parser *parser)
{
    return parser->cursor.at < parser->cursor.end ? *parser->cursor.at : '\0';
}

static size_t offset(const struct rig_operation_parser *parser)
{
    return rig_cursor_offset(&parser->cursor);
}

static enum rig_rc next(struct rig_operation_parser *parser)
{
    return parser->syntax->next(&parser->cursor);
}

/* The closer of the sequence that opens at the cursor, or 0. */
static char closer_here(const struct rig_operation_parser *parser)
{
    char c = look(parser);
    const char *opener = c == '\0' ? NULL : strchr(parser->syntax->openers, c);
    return opener == NULL ? '\0' : parser->syntax->closers[opener - parser->syntax->openers];
}

/* A value of any kind as a number. */
static enum rig_rc get_value_number(struct rig_operation_parser *parser, int64_t *number)
{
    bool is_integer = false;
    if (rig_cursor_plain_int(&parser->cursor, number))
        return RIG_OK;
    const enum rig_rc rc = rig_value_read(parser, &parser->value_text, &is_integer, number);
    if (rc != RIG_OK)
        return rc;
    if (is_integer) {
        parser->has_low |= *number < RIG_VALUE_TEXTS_BELOW;
        return RIG_OK;
    }
    parser->has_texts = true;
    return rig_value_number(rig_buf_text(&parser->value_text), parser->value_text.size, number)
               ? RIG_OK
               : rig_cursor_no_memory(&parser->cursor);
}

static enum rig_rc get_text(struct rig_operation_parser *parser, const char **text, size_t *length)
{
    struct rig_text_slice slice = {0};
    enum rig_rc rc = rig_cursor_string(&parser->cursor, parser->syntax->long_strings, &slice);
    return rc == RIG_OK ? rig_cursor_decode(&parser->cursor, &slice, &parser->texts, text, length) : rc;
}

/* A name without its escapes: `"pr\u006fcess"` is the field `process`. */
static enum rig_rc resolve_name(struct rig_operation_parser *parser, struct rig_text_slice *name)
{
    if (!name->has_escapes)
        return RIG_OK;
    const enum rig_rc rc = rig_cursor_decode(&parser->cursor, name, &parser->texts, &name->at, &name->length);
    name->has_escapes = false;
    return rc;
}

/* A type or the name of a micro-operation. */
static enum rig_rc get_word(struct rig_operation_parser *parser, const char *wanted, struct rig_text_slice *word)
{
    enum rig_rc rc = parser->syntax->word(&parser->cursor, wanted, word);
    const bool escaped = word->has_escapes;
    if (rc == RIG_OK)
        rc = resolve_name(parser, word);
    if (rc == RIG_OK && escaped && word->length > 1 && word->at[0] == ':') {
        word->at++;
        word->length--;
    }
    return rc;
}

/* Whether a vector of `count` items may double. */
static bool may_double(const struct rig_operation_parser *parser, size_t capacity, size_t item_bytes)
{
    const struct rig_operation *operation = &parser->operation;
    const size_t held = operation->micros.capacity * sizeof *operation->micros.at +
                        operation->elements.capacity * sizeof *operation->elements.at;
    return parser->limit_bytes == 0 || held + capacity * item_bytes <= parser->limit_bytes;
}

static bool keep_element(struct rig_operation_parser *parser, int64_t element)
{
    struct rig_element_vec *elements = &parser->operation.elements;
    if (parser->forgets)
        return true;
    return (elements->count < elements->capacity || may_double(parser, elements->capacity, sizeof element)) &&
           rig_element_vec_add(elements, element);
}

static bool keep_micro(struct rig_operation_parser *parser, struct rig_micro micro)
{
    struct rig_micro_vec *micros = &parser->operation.micros;
    if (parser->forgets)
        return true;
    return (micros->count < micros->capacity || may_double(parser, micros->capacity, sizeof micro)) &&
           rig_micro_vec_add(micros, micro);
}

/* Moves to the bracket of a set of EDN at the cursor; false if there is none. */
static bool take_set_sign(struct rig_operation_parser *parser)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    if (!parser->syntax->keywords || cursor->end - cursor->at < 2 || cursor->at[0] != '#' || cursor->at[1] != '{')
        return false;
    cursor->at++;
    return true;
}

/* The items of the list whose opening bracket is at the cursor. */
static enum rig_rc get_elements(struct rig_operation_parser *parser, struct rig_micro *micro)
{
    const char closer = micro->is_set ? '}' : closer_here(parser);
    micro->value_kind = RIG_MICRO_LIST;
    micro->first_element = parser->operation.elements.count;
    micro->list_text = ++parser->cursor.at;
    bool more = false;
    for (bool is_first = true;; is_first = false) {
        int64_t element;
        enum rig_rc rc = parser->syntax->more(&parser->cursor, closer, is_first, &more);
        if (rc != RIG_OK || !more) {
            micro->list_length = (size_t)(parser->cursor.at - micro->list_text) - (rc == RIG_OK);
            return rc;
        }
        rc = get_value_number(parser, &element);
        if (rc != RIG_OK)
            return rc;
        if (!keep_element(parser, element))
            return rig_cursor_no_memory(&parser->cursor);
        micro->element_count++;
    }
}

/* The text of value_text, which lives as long as the operation. */
static enum rig_rc keep_text(struct rig_operation_parser *parser, const char **text, size_t *length)
{
    *length = parser->value_text.size;
    *text =
        parser->value_text.failed ? NULL : rig_arena_text(&parser->texts, rig_buf_text(&parser->value_text), *length);
    return *text == NULL ? rig_cursor_no_memory(&parser->cursor) : RIG_OK;
}

static enum rig_rc get_plain_key(struct rig_operation_parser *parser, struct rig_micro *micro)
{
    bool is_integer = false;
    if (parser->keys_are_values) {
        const enum rig_rc rc = rig_value_read(parser, &parser->value_text, &is_integer, &micro->key);
        micro->key_kind = RIG_KEY_OTHER;
        return rc == RIG_OK ? keep_text(parser, &micro->key_text, &micro->key_length) : rc;
    }
    if (look(parser) == '"') {
        micro->key_kind = RIG_KEY_TEXT;
        return get_text(parser, &micro->key_text, &micro->key_length);
    }
    if (look(parser) == ':' && parser->syntax->keywords) {
        struct rig_text_slice slice = {0};
        enum rig_rc rc = parser->syntax->word(&parser->cursor, "a key", &slice);
        micro->key_kind = RIG_KEY_KEYWORD;
        micro->key_text = slice.at;
        micro->key_length = slice.length;
        return rc;
    }
    micro->key_kind = RIG_KEY_NUMBER;
    if (rig_cursor_plain_int(&parser->cursor, &micro->key))
        return RIG_OK;
    enum rig_rc rc = rig_value_read(parser, &parser->value_text, &is_integer, &micro->key);
    if (rc != RIG_OK || is_integer)
        return rc;
    micro->key_kind = RIG_KEY_OTHER;
    return keep_text(parser, &micro->key_text, &micro->key_length);
}

/* The key of an independent tuple and that of the micro-operation are the key together: [3 5]. */
static enum rig_rc join_space(struct rig_operation_parser *parser, struct rig_micro *micro)
{
    struct rig_buf *text = &parser->value_text;
    rig_buf_clear(text);
    rig_buf_add_char(text, '[');
    rig_buf_add_text(text, parser->space);
    rig_buf_add_char(text, ' ');
    if (micro->key_kind == RIG_KEY_NUMBER)
        rig_buf_add_int(text, micro->key);
    else if (micro->key_kind == RIG_KEY_TEXT)
        rig_json_quote(text, micro->key_text, micro->key_length);
    else
        rig_buf_add_text(text, micro->key_kind == RIG_KEY_KEYWORD ? ":" : "");
    if (micro->key_kind == RIG_KEY_KEYWORD || micro->key_kind == RIG_KEY_OTHER)
        rig_buf_add(text, micro->key_text, micro->key_length);
    rig_buf_add_char(text, ']');
    micro->key_kind = RIG_KEY_OTHER;
    return keep_text(parser, &micro->key_text, &micro->key_length);
}

static enum rig_rc get_key(struct rig_operation_parser *parser, struct rig_micro *micro)
{
    const enum rig_rc rc = get_plain_key(parser, micro);
    return rc == RIG_OK && parser->space != NULL ? join_space(parser, micro) : rc;
}

/* `reads`: null and a list say what was read; in a write they are values like others. */
static enum rig_rc get_micro_value(struct rig_operation_parser *parser, struct rig_micro *micro, bool reads)
{
    bool found = false;
    enum rig_rc rc = parser->syntax->find_value(&parser->cursor, &found, &micro->value_at);
    if (rc != RIG_OK || !found)
        return rc;
    if (parser->passes_maps && look(parser) == '{')
        return parser->syntax->skip(&parser->cursor);
    if (reads && closer_here(parser) != '\0' && !parser->lists_are_values)
        return get_elements(parser, micro);
    micro->is_set = reads && !parser->lists_are_values && take_set_sign(parser);
    if (micro->is_set)
        return get_elements(parser, micro);
    micro->value_kind = RIG_MICRO_NULL;
    const char *from = parser->cursor.at;
    if (parser->syntax->take_null(&parser->cursor)) {
        if (reads)
            return RIG_OK;
        parser->cursor.at = from;
        return get_value_number(parser, &micro->value);
    }
    micro->value_kind = RIG_MICRO_NUMBER;
    return get_value_number(parser, &micro->value);
}

enum rig_rc rig_operation_parser_number(struct rig_operation_parser *parser, int64_t *number)
{
    return get_value_number(parser, number);
}

enum rig_rc rig_operation_parser_key(struct rig_operation_parser *parser, struct rig_micro *micro)
{
    return get_plain_key(parser, micro);
}

enum rig_rc rig_operation_parser_add(struct rig_operation_parser *parser, const struct rig_micro *micro)
{
    if (!keep_micro(parser, *micro))
        return rig_cursor_no_memory(&parser->cursor);
    return parser->on_micro == NULL ? RIG_OK : parser->on_micro(parser->context, micro);
}

/* Some tests of Jepsen spell the names of registers' micro-operations out. */
static void shorten(struct rig_text_slice *name)
{
    if (rig_slice_is(name, "read"))
        *name = (struct rig_text_slice){.at = "r", .length = 1};
    else if (rig_slice_is(name, "write"))
        *name = (struct rig_text_slice){.at = "w", .length = 1};
}

/* Moves to the key. Where maps are passed: whether there is no key, or a map, which is passed. */
static enum rig_rc pass_keyless(struct rig_operation_parser *parser, char closer, struct rig_micro *micro)
{
    if (!parser->passes_maps)
        return parser->syntax->find_key(&parser->cursor);
    enum rig_rc rc = next(parser);
    micro->is_keyless = rc == RIG_OK && look(parser) == closer;
    if (rc != RIG_OK || micro->is_keyless)
        return rc;
    rc = parser->syntax->find_key(&parser->cursor);
    if (rc == RIG_OK)
        rc = next(parser);
    micro->is_keyless = rc == RIG_OK && look(parser) == '{';
    return micro->is_keyless ? parser->syntax->skip(&parser->cursor) : rc;
}

/* ["append", 5, 1]; an unknown result of a read may be left out. */
static enum rig_rc get_micro(struct rig_operation_parser *parser)
{
    struct rig_micro micro = {.at = offset(parser), .value_at = offset(parser), .value_kind = RIG_MICRO_MISSING};
    struct rig_text_slice name = {0};
    char closer = closer_here(parser);
    parser->cursor.at++;
    enum rig_rc rc = next(parser);
    if (rc == RIG_OK)
        rc = get_word(parser, parser->syntax->micro_name, &name);
    if (rc == RIG_OK) {
        shorten(&name);
        rc = pass_keyless(parser, closer, &micro);
    }
    if (rc == RIG_OK && !micro.is_keyless)
        rc = get_key(parser, &micro);
    if (rc == RIG_OK && !micro.is_keyless)
        rc = get_micro_value(parser, &micro, rig_name_reads(name.at, name.length));
    if (rc == RIG_OK)
        rc = next(parser);
    if (rc != RIG_OK)
        return rc;
    if (look(parser) != closer)
        return rig_cursor_unexpected(&parser->cursor, parser->syntax->micro_end);
    parser->cursor.at++;
    micro.name = name.at;
    micro.name_length = name.length;
    return rig_operation_parser_add(parser, &micro);
}

/* A sequence of sequences is a transaction; other values are not. */
static enum rig_rc find_txn(struct rig_operation_parser *parser, bool *found)
{
    char closer = closer_here(parser);
    *found = false;
    if (closer == '\0')
        return RIG_OK;
    const char *from = parser->cursor.at++;
    enum rig_rc rc = next(parser);
    *found = closer_here(parser) != '\0' || look(parser) == closer;
    parser->cursor.at = from;
    return rc;
}

/* Opens the sequence at the cursor and moves to its first item; false if there is none, or no sequence. */
static bool enter(struct rig_operation_parser *parser)
{
    const char closer = closer_here(parser);
    bool more = false;
    if (closer == '\0')
        return false;
    parser->cursor.at++;
    return parser->syntax->more(&parser->cursor, closer, true, &more) == RIG_OK && more;
}

/* Whether a tuple of jepsen.independent is at the cursor: [key [[:append ...] ...]]. The cursor may move. */
static bool is_tuple(struct rig_operation_parser *parser)
{
    const char closer = closer_here(parser);
    bool more = false;
    return enter(parser) && closer_here(parser) == '\0' && parser->syntax->skip(&parser->cursor) == RIG_OK &&
           parser->syntax->more(&parser->cursor, closer, false, &more) == RIG_OK && more && enter(parser) &&
           enter(parser) && look(parser) == (parser->syntax->keywords ? ':' : '"');
}

static enum rig_rc get_txn(struct rig_operation_parser *parser)
{
    parser->operation.fields.has_value = true;
    char closer = closer_here(parser);
    parser->cursor.at++;
    bool more = false;
    for (bool is_first = true;; is_first = false) {
        enum rig_rc rc = parser->syntax->more(&parser->cursor, closer, is_first, &more);
        if (rc != RIG_OK || !more)
            return rc;
        if (closer_here(parser) == '\0')
            return rig_cursor_unexpected(&parser->cursor, "a micro-operation");
        rc = get_micro(parser);
        if (rc != RIG_OK || parser->stopped)
            return rc;
    }
}

/* The tuple at the cursor. */
static enum rig_rc get_tuple(struct rig_operation_parser *parser)
{
    const char closer = closer_here(parser);
    bool is_integer = false, more = false;
    int64_t number = 0;
    size_t length = 0;
    parser->cursor.at++;
    enum rig_rc rc = parser->syntax->more(&parser->cursor, closer, true, &more);
    if (rc == RIG_OK)
        rc = rig_value_read(parser, &parser->value_text, &is_integer, &number);
    if (rc == RIG_OK)
        rc = keep_text(parser, &parser->space, &length);
    if (rc == RIG_OK)
        rc = parser->syntax->more(&parser->cursor, closer, false, &more);
    if (rc == RIG_OK)
        rc = get_txn(parser);
    parser->space = NULL;
    if (rc == RIG_OK && !parser->stopped)
        rc = next(parser);
    if (rc != RIG_OK || parser->stopped)
        return rc;
    if (look(parser) != closer)
        return rig_cursor_unexpected(&parser->cursor, "the end of a tuple of a key and a transaction");
    parser->cursor.at++;
    return RIG_OK;
}

static enum rig_rc get_value(struct rig_operation_parser *parser)
{
    bool found = false;
    enum rig_rc rc = find_txn(parser, &found);
    if (rc != RIG_OK)
        return rc;
    parser->operation.value_at = offset(parser);
    if (found)
        return get_txn(parser);
    const struct rig_text_cursor from = parser->cursor;
    parser->cursor.err = NULL;
    found = is_tuple(parser);
    parser->cursor = from;
    if (found)
        return get_tuple(parser);
    parser->operation.fields.other = parser->cursor.at;
    rc = parser->syntax->skip(&parser->cursor);
    parser->operation.fields.other_length = (size_t)(parser->cursor.at - parser->operation.fields.other);
    return rc;
}

static enum rig_rc get_type(struct rig_operation_parser *parser)
{
    static const char *const names[] = {"invoke", "ok", "fail", "info"};
    struct rig_operation *operation = &parser->operation;
    struct rig_text_slice name = {0};
    operation->type_at = offset(parser);
    enum rig_rc rc = get_word(parser, parser->syntax->type, &name);
    if (rc != RIG_OK)
        return rc;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rig_slice_is(&name, names[i])) {
            operation->fields.type = (enum rig_operation_type)i;
            operation->fields.has_type = true;
            return RIG_OK;
        }
    }
    return rig_cursor_fail(&parser->cursor, operation->type_at, "no operation has this type; it is %s",
                           parser->syntax->types);
}

/* An integer or null. */
static enum rig_rc get_optional_integer(struct rig_operation_parser *parser, bool *given, int64_t *number)
{
    if (parser->syntax->take_null(&parser->cursor))
        return RIG_OK;
    enum rig_rc rc = parser->syntax->integer(&parser->cursor, number);
    *given = rc == RIG_OK;
    return rc;
}

static enum rig_rc get_time(struct rig_operation_parser *parser);

/* One of several times in a map, as {:relative 100, :wall 1700000000000}. */
static enum rig_rc get_time_in_map(struct rig_operation_parser *parser)
{
    static const char *const names[] = {"relative", "monotonic", "ns", "time"};
    struct rig_operation_fields *fields = &parser->operation.fields;
    const size_t at = offset(parser);
    bool more = false;
    parser->cursor.at++;
    for (bool is_first = true;; is_first = false) {
        struct rig_text_slice name = {0};
        bool is_time = false;
        enum rig_rc rc = parser->syntax->more(&parser->cursor, '}', is_first, &more);
        if (rc != RIG_OK)
            return rc;
        if (!more && !fields->has_time)
            return rig_cursor_fail(&parser->cursor, at,
                                   "a map without a time: expected `relative`, `monotonic`, `ns` or `time`, in ns");
        if (!more)
            return RIG_OK;
        rc = parser->syntax->field(&parser->cursor, &name);
        if (rc == RIG_OK)
            rc = next(parser);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            is_time = is_time || rig_slice_is(&name, names[i]);
        if (rc == RIG_OK && is_time && !fields->has_time && look(parser) != '{')
            rc = get_time(parser);
        else if (rc == RIG_OK)
            rc = parser->syntax->skip(&parser->cursor);
        if (rc != RIG_OK)
            return rc;
    }
}

/* Whole ns; fractions of one are cut off. */
static enum rig_rc get_time(struct rig_operation_parser *parser)
{
    struct rig_operation_fields *fields = &parser->operation.fields;
    const size_t at = offset(parser);
    double time_ns = 0;
    if (look(parser) == '{')
        return get_time_in_map(parser);
    if (!rig_value_take_fraction(&parser->cursor, &time_ns))
        return get_optional_integer(parser, &fields->has_time, &fields->time_ns);
    time_ns = floor(time_ns);
    if (!(time_ns > -0x1p63 && time_ns < 0x1p63))
        return rig_cursor_fail(&parser->cursor, at, "a time beyond 64 bits; times are in ns");
    fields->has_time = true;
    fields->time_ns = (int64_t)time_ns;
    return RIG_OK;
}

/* A name is a text or, in EDN, a keyword; some exporters keep a keyword's colon in the text. */
static enum rig_rc get_process_name(struct rig_operation_parser *parser)
{
    struct rig_operation_fields *fields = &parser->operation.fields;
    struct rig_text_slice slice = {0};
    enum rig_rc rc;
    if (look(parser) == '"') {
        rc = get_text(parser, &slice.at, &slice.length);
    } else {
        rc = parser->syntax->word(&parser->cursor, "a process", &slice);
    }
    if (rc == RIG_OK && slice.length > 1 && slice.at[0] == ':') {
        slice.at++;
        slice.length--;
    }
    fields->is_client =
        rc == RIG_OK && !rig_slice_is(&slice, "nemesis") && !rig_slice_is(&slice, RIG_CERTIFICATE_PROCESS);
    fields->is_certificate = rc == RIG_OK && rig_slice_is(&slice, RIG_CERTIFICATE_PROCESS);
    fields->process_name = fields->is_client ? slice.at : NULL;
    fields->process_length = slice.length;
    return rc;
}

static enum rig_rc get_process(struct rig_operation_parser *parser)
{
    struct rig_operation_fields *fields = &parser->operation.fields;
    char c = look(parser);
    if (c == '"' || (c == ':' && parser->syntax->keywords))
        return get_process_name(parser);
    fields->is_client = c == '-' || (c >= '0' && c <= '9');
    return fields->is_client ? parser->syntax->integer(&parser->cursor, &fields->process)
                             : parser->syntax->skip(&parser->cursor);
}

/* A text without its quotes; another value as written. */
static enum rig_rc get_error(struct rig_operation_parser *parser)
{
    struct rig_operation_fields *fields = &parser->operation.fields;
    if (parser->syntax->take_null(&parser->cursor))
        return RIG_OK;
    fields->has_error = true;
    if (look(parser) == '"')
        return get_text(parser, &fields->error, &fields->error_length);
    fields->error = parser->cursor.at;
    size_t from = offset(parser);
    enum rig_rc rc = parser->syntax->skip(&parser->cursor);
    fields->error_length = (size_t)(parser->cursor.at - fields->error);
    if (rc == RIG_OK && memchr(fields->error, '\0', fields->error_length) != NULL)
        return rig_cursor_fail(&parser->cursor, from, "an error with a NUL character in it; remove it");
    return rc;
}

/* Reads an integer of 64 bits at the cursor and moves past it; anything else is not an error. */
static bool take_integer(struct rig_operation_parser *parser, int64_t *number)
{
    const char *at = parser->cursor.at, *end = parser->cursor.end;
    const bool negative = at < end && *at == '-';
    const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t magnitude = 0;
    const char *digits = at += negative;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (magnitude > (most - digit) / 10)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    if (at == digits || at == end || (*digits == '0' && at - digits > 1) || strchr(",}) \t\r\n", *at) == NULL)
        return false;
    *number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    parser->cursor.at = at;
    return true;
}

/* A side column. A value of another kind is skipped like an unknown field, because other programs use these names, too.
 * */
static enum rig_rc get_column(struct rig_operation_parser *parser, enum rig_column column)
{
    struct rig_column_fields *columns = &parser->operation.columns;
    if (rig_column_infos[column].type == RIG_COLUMN_NUMBER) {
        int64_t number = 0;
        if (!take_integer(parser, &number))
            return parser->syntax->skip(&parser->cursor);
        columns->at[column].number = number;
        columns->given |= number == RIG_COLUMN_NONE ? 0 : RIG_COLUMN_BIT(column);
        return RIG_OK;
    }
    if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
        const char *from = parser->cursor.at;
        const enum rig_rc skipped = parser->syntax->skip(&parser->cursor);
        columns->at[column].text = from;
        columns->at[column].length = (size_t)(parser->cursor.at - from);
        columns->given |= RIG_COLUMN_BIT(column);
        return skipped;
    }
    if (look(parser) != '"')
        return parser->syntax->skip(&parser->cursor);
    struct rig_text_slice slice = {0};
    enum rig_rc rc = rig_cursor_string(&parser->cursor, parser->syntax->long_strings, &slice);
    if (rc != RIG_OK)
        return rc;
    struct rig_text_cursor quiet = parser->cursor;
    const char *text = NULL;
    size_t length = 0;
    quiet.err = NULL;
    rc = rig_cursor_decode(&quiet, &slice, &parser->texts, &text, &length);
    if (rc == RIG_OK && rig_column_name_fits(text, length)) {
        columns->at[column].text = text;
        columns->at[column].length = length;
        columns->given |= RIG_COLUMN_BIT(column);
    }
    return rc == RIG_E_LIMIT ? rig_cursor_no_memory(&parser->cursor) : RIG_OK;
}

/* A field whose meaning depends on what the client did. */
static enum rig_rc put_off(struct rig_operation_parser *parser, const char **at)
{
    *at = parser->cursor.at;
    return parser->syntax->skip(&parser->cursor);
}

static enum rig_rc get_other_field(struct rig_operation_parser *parser, const struct rig_text_slice *name)
{
    const enum rig_column column = rig_column_find(name->at, name->length);
    if (column != RIG_COLUMN_COUNT)
        return get_column(parser, column);
    if (rig_slice_is(name, RIG_START_FIELD) && take_integer(parser, &parser->operation.start_utc_ns))
        return RIG_OK;
    if (rig_slice_is(name, "key"))
        return put_off(parser, &parser->operation.key_text);
    const char *from = parser->cursor.at;
    const enum rig_rc rc = parser->syntax->skip(&parser->cursor);
    if (rc == RIG_OK && rig_slice_is(name, "f")) {
        parser->operation.function = from;
        parser->operation.function_length = (size_t)(parser->cursor.at - from);
    }
    return rc;
}

enum field { FIELD_INDEX, FIELD_TYPE, FIELD_PROCESS, FIELD_TIME, FIELD_VALUE, FIELD_ERROR, FIELD_COUNT };

static enum field find_field(const struct rig_text_slice *name)
{
    static const char *const names[FIELD_COUNT] = {"index", "type", "process", "time", "value", "error"};
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (rig_slice_is(name, names[i]))
            return (enum field)i;
    }
    return FIELD_COUNT;
}

static enum rig_rc get_field(struct rig_operation_parser *parser, enum field field, const struct rig_text_slice *name)
{
    struct rig_operation *operation = &parser->operation;
    switch (field) {
    case FIELD_INDEX:
        operation->index_at = offset(parser);
        return get_optional_integer(parser, &operation->fields.has_index, &operation->fields.index);
    case FIELD_TYPE:
        return get_type(parser);
    case FIELD_PROCESS:
        return get_process(parser);
    case FIELD_TIME:
        return get_time(parser);
    case FIELD_VALUE:
        if (parser->keeps_values)
            return put_off(parser, &parser->operation.value_text);
        if (parser->passes_values)
            return parser->syntax->skip(&parser->cursor);
        return parser->takes_functions ? put_off(parser, &parser->operation.value_text) : get_value(parser);
    case FIELD_ERROR:
        return get_error(parser);
    case FIELD_COUNT:
        break;
    }
    return get_other_field(parser, name);
}

/* A name and its value. */
static enum rig_rc get_entry(struct rig_operation_parser *parser, unsigned *seen)
{
    struct rig_text_slice name = {0};
    size_t from = offset(parser);
    enum rig_rc rc = parser->syntax->field(&parser->cursor, &name);
    if (rc == RIG_OK)
        rc = resolve_name(parser, &name);
    if (rc != RIG_OK)
        return rc;
    enum field field = find_field(&name);
    if (field != FIELD_COUNT && (*seen & 1U << field) != 0)
        return rig_cursor_fail(&parser->cursor, from, "a repeated field in one operation; give it once");
    *seen |= 1U << field;
    rc = next(parser);
    return rc == RIG_OK ? get_field(parser, field, &name) : rc;
}

static void begin(struct rig_operation_parser *parser)
{
    struct rig_operation *operation = &parser->operation;
    struct rig_micro_vec micros = operation->micros;
    struct rig_element_vec elements = operation->elements;
    micros.count = 0;
    elements.count = 0;
    *operation = (struct rig_operation){.at = offset(parser), .micros = micros, .elements = elements};
    if (parser->texts.used_bytes > 0)
        rig_arena_reset(&parser->texts);
}

enum rig_rc rig_operation_parser_value(struct rig_operation_parser *parser)
{
    begin(parser);
    return get_value(parser);
}

/* The value that was put off. */
static enum rig_rc get_late_value(struct rig_operation_parser *parser, bool has_process)
{
    const char *end = parser->cursor.at;
    enum rig_rc rc = RIG_OK;
    if (rig_object_operation_is(&parser->operation)) {
        rc = rig_object_operation_read(parser, has_process);
    } else if (parser->operation.value_text != NULL) {
        parser->cursor.at = parser->operation.value_text;
        rc = get_value(parser);
    }
    if (rc == RIG_OK)
        parser->cursor.at = end;
    return rc;
}

enum rig_rc rig_operation_parser_read(struct rig_operation_parser *parser)
{
    unsigned seen = 0;
    bool more = false;
    begin(parser);
    if (look(parser) != '{')
        return rig_cursor_unexpected(&parser->cursor, parser->syntax->operation);
    parser->cursor.at++;
    for (bool is_first = true;; is_first = false) {
        enum rig_rc rc = parser->syntax->more(&parser->cursor, '}', is_first, &more);
        if (rc == RIG_OK && !more && parser->takes_functions)
            return get_late_value(parser, (seen & 1U << FIELD_PROCESS) != 0);
        if (rc != RIG_OK || !more)
            return rc;
        rc = get_entry(parser, &seen);
        if (rc != RIG_OK || parser->stopped)
            return rc;
    }
}

/* Moves to the next operation, or past the closer to the end of the file. */
static enum rig_rc find_operation(struct rig_operation_parser *parser, bool is_first, bool *more)
{
    enum rig_rc rc = parser->syntax->more(&parser->cursor, parser->closer, is_first, more);
    if (rc != RIG_OK || *more)
        return rc;
    rc = next(parser);
    if (rc == RIG_OK && parser->cursor.at != parser->cursor.end)
        return rig_cursor_unexpected(&parser->cursor, "the end of the file");
    return rc;
}

enum rig_rc rig_operation_parser_start(struct rig_operation_parser *parser, bool *more)
{
    parser->cursor.at = parser->cursor.start;
    enum rig_rc rc = next(parser);
    if (rc != RIG_OK)
        return rc;
    parser->closer = closer_here(parser);
    parser->cursor.at += parser->closer != '\0';
    return find_operation(parser, true, more);
}

enum rig_rc rig_operation_parser_more(struct rig_operation_parser *parser, bool *more)
{
    return find_operation(parser, false, more);
}
