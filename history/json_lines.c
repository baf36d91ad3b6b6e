#include "history/json_lines.h"

#include <string.h>

#include "base/bug.h"
#include "base/buf.h"
#include "history/operation_reader.h"
#include "history/operation_writer.h"
#include "history/text_cursor.h"

struct parser {
    struct rig_text_cursor cursor;
    struct rig_buf key; /* decoded texts that had escapes */
    struct rig_buf error;
};

#define FAIL(parser, at, ...) RIG_CURSOR_FAIL(&(parser)->cursor, at, __VA_ARGS__)

static size_t offset(const struct parser *parser)
{
    return rig_cursor_offset(&parser->cursor);
}

static enum rig_rc unexpected(const struct parser *parser, const char *wanted)
{
    return rig_cursor_unexpected(&parser->cursor, wanted);
}

static void skip_space(struct parser *parser)
{
    while (parser->cursor.at < parser->cursor.end && (*parser->cursor.at == ' ' || *parser->cursor.at == '\n' ||
                                                      *parser->cursor.at == '\t' || *parser->cursor.at == '\r'))
        parser->cursor.at++;
}

/* The next character that is no space; 0 at the end. */
static char peek(struct parser *parser)
{
    if (parser->cursor.at<parser->cursor.end && * parser->cursor.at> ' ')
        return *parser->cursor.at;
    skip_space(parser);
    return parser->cursor.at < parser->cursor.end ? *parser->cursor.at : '\0';
}

static enum rig_rc expect(struct parser *parser, char wanted, const char *what)
{
    if (peek(parser) != wanted)
        return unexpected(parser, what);
    parser->cursor.at++;
    return RIG_OK;
}

static enum rig_rc get_string(struct parser *parser, struct rig_text_slice *slice)
{
    (void)peek(parser);
    return rig_cursor_string(&parser->cursor, false, slice);
}

static enum rig_rc get_text(struct parser *parser, struct rig_buf *buf, const char **text, size_t *length)
{
    struct rig_text_slice slice = {0};
    enum rig_rc rc = get_string(parser, &slice);
    return rc == RIG_OK ? rig_cursor_decode(&parser->cursor, &slice, buf, text, length) : rc;
}

static enum rig_rc get_int(struct parser *parser, int64_t *number)
{
    (void)peek(parser);
    return rig_cursor_int(&parser->cursor, number);
}

static bool take_word(struct parser *parser, const char *word)
{
    size_t length = strlen(word);
    (void)peek(parser);
    if ((size_t)(parser->cursor.end - parser->cursor.at) < length || memcmp(parser->cursor.at, word, length) != 0)
        return false;
    parser->cursor.at += length;
    return true;
}

static enum rig_rc skip_number(struct parser *parser)
{
    const char *from = parser->cursor.at;
    while (parser->cursor.at < parser->cursor.end && strchr("+-.0123456789eE", *parser->cursor.at) != NULL &&
           *parser->cursor.at != '\0')
        parser->cursor.at++;
    return parser->cursor.at > from ? RIG_OK : unexpected(parser, "a value");
}

static enum rig_rc skip_scalar(struct parser *parser)
{
    struct rig_text_slice slice;
    if (parser->cursor.at == parser->cursor.end)
        return unexpected(parser, "a value");
    if (*parser->cursor.at == '"')
        return get_string(parser, &slice);
    if (take_word(parser, "null") || take_word(parser, "true") || take_word(parser, "false"))
        return RIG_OK;
    return skip_number(parser);
}

/* Behind a value: closes what ends here and moves to where the next value starts. */
static enum rig_rc skip_behind_value(struct parser *parser, char *closers, unsigned *depth)
{
    struct rig_text_slice slice;
    while (*depth > 0) {
        char c = peek(parser);
        if (c == closers[*depth - 1]) {
            parser->cursor.at++;
            (*depth)--;
            continue;
        }
        if (c != ',')
            return unexpected(parser, closers[*depth - 1] == '}' ? "a comma or '}'" : "a comma or ']'");
        parser->cursor.at++;
        if (closers[*depth - 1] != '}')
            return RIG_OK;
        enum rig_rc rc = get_string(parser, &slice);
        return rc == RIG_OK ? expect(parser, ':', "a colon") : rc;
    }
    return RIG_OK;
}

/* Any value, checked for its structure. */
static enum rig_rc skip_value(struct parser *parser)
{
    char closers[RIG_JSON_LINES_DEPTH];
    unsigned depth = 0;
    do {
        char c = peek(parser);
        enum rig_rc rc = RIG_OK;
        if (c == '[' || c == '{') {
            if (depth == RIG_JSON_LINES_DEPTH)
                return FAIL(parser, parser->cursor.at, "nested more than %d deep", RIG_JSON_LINES_DEPTH);
            parser->cursor.at++;
            char closer = c == '[' ? ']' : '}';
            if (peek(parser) != closer) {
                closers[depth++] = closer;
                struct rig_text_slice slice;
                if (c == '{')
                    rc = get_string(parser, &slice);
                if (rc == RIG_OK && c == '{')
                    rc = expect(parser, ':', "a colon");
                if (rc != RIG_OK)
                    return rc;
                continue;
            }
            parser->cursor.at++;
        } else {
            rc = skip_scalar(parser);
        }
        if (rc == RIG_OK)
            rc = skip_behind_value(parser, closers, &depth);
        if (rc != RIG_OK)
            return rc;
    } while (depth > 0);
    return RIG_OK;
}

static enum rig_rc get_elements(struct parser *parser, struct rig_micro *micro)
{
    parser->cursor.at++;
    micro->value_kind = RIG_MICRO_LIST;
    micro->first_element = parser->cursor.reader->operation.elements.count;
    if (peek(parser) == ']') {
        parser->cursor.at++;
        return RIG_OK;
    }
    for (;;) {
        int64_t element;
        enum rig_rc rc = RIG_OK;
        if (!rig_cursor_plain_int(&parser->cursor, &element))
            rc = get_int(parser, &element);
        if (rc == RIG_OK)
            rc = rig_operation_reader_element(parser->cursor.reader, element);
        if (rc != RIG_OK)
            return rc;
        char c = peek(parser);
        if (c != ',' && c != ']')
            return unexpected(parser, "a comma or ']'");
        parser->cursor.at++;
        if (c == ']')
            return RIG_OK;
    }
}

static enum rig_rc get_key(struct parser *parser, struct rig_micro *micro)
{
    if (peek(parser) != '"') {
        micro->key_kind = RIG_KEY_NUMBER;
        return get_int(parser, &micro->key);
    }
    micro->key_kind = RIG_KEY_TEXT;
    return get_text(parser, &parser->key, &micro->key_text, &micro->key_length);
}

static enum rig_rc get_micro_value(struct parser *parser, struct rig_micro *micro)
{
    char c = peek(parser);
    micro->value_at = offset(parser);
    if (c == '[')
        return get_elements(parser, micro);
    micro->value_kind = RIG_MICRO_NULL;
    if (c == 'n' && take_word(parser, "null"))
        return RIG_OK;
    micro->value_kind = RIG_MICRO_NUMBER;
    return get_int(parser, &micro->value);
}

/* ["append", 5, 1]; the result of a read that is not known may be left out. */
static enum rig_rc get_micro(struct parser *parser)
{
    struct rig_micro micro = {.at = offset(parser), .value_at = offset(parser), .value_kind = RIG_MICRO_MISSING};
    struct rig_text_slice name = {0};
    parser->cursor.at++;
    enum rig_rc rc = get_string(parser, &name);
    if (rc == RIG_OK)
        rc = expect(parser, ',', "a comma and the key");
    if (rc == RIG_OK)
        rc = get_key(parser, &micro);
    if (rc == RIG_OK && peek(parser) == ',') {
        parser->cursor.at++;
        rc = get_micro_value(parser, &micro);
    }
    if (rc == RIG_OK)
        rc = expect(parser, ']', "']' behind name, key and value");
    if (rc != RIG_OK)
        return rc;
    bool colon = name.length > 1 && name.at[0] == ':';
    micro.name = name.at + colon;
    micro.name_length = name.length - colon;
    return rig_operation_reader_mop(parser->cursor.reader, &micro);
}

/* A list of lists is a transaction; any other value belongs to none of ours. */
static bool is_txn(struct parser *parser)
{
    if (peek(parser) != '[')
        return false;
    const char *from = parser->cursor.at++;
    char first = peek(parser);
    parser->cursor.at = from;
    return first == '[' || first == ']';
}

static enum rig_rc get_value(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    if (!is_txn(parser))
        return skip_value(parser);
    operation->has_value = true;
    operation->value_at = offset(parser);
    parser->cursor.at++;
    if (peek(parser) == ']') {
        parser->cursor.at++;
        return RIG_OK;
    }
    for (;;) {
        if (peek(parser) != '[')
            return unexpected(parser, "a micro-operation");
        enum rig_rc rc = get_micro(parser);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
        char c = peek(parser);
        if (c != ',' && c != ']')
            return unexpected(parser, "a comma or ']'");
        parser->cursor.at++;
        if (c == ']')
            return RIG_OK;
        (void)peek(parser);
    }
}

static enum rig_rc get_type(struct parser *parser)
{
    static const char *const names[] = {"invoke", "ok", "fail", "info"};
    struct rig_operation *operation = &parser->cursor.reader->operation;
    struct rig_text_slice slice = {0};
    (void)peek(parser);
    operation->type_at = offset(parser);
    enum rig_rc rc = get_string(parser, &slice);
    if (rc != RIG_OK)
        return rc;
    bool colon = slice.length > 1 && slice.at[0] == ':';
    struct rig_text_slice bare = {.at = slice.at + colon, .length = slice.length - colon};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rig_slice_is(&bare, names[i])) {
            operation->type = (enum rig_operation_type)i;
            operation->has_type = true;
            return RIG_OK;
        }
    }
    return FAIL(parser, slice.at - 1, "no operation has this type; it is invoke, ok, fail or info");
}

/* An integer or null. */
static enum rig_rc get_optional_int(struct parser *parser, bool *given, int64_t *number)
{
    if (peek(parser) == 'n' && take_word(parser, "null"))
        return RIG_OK;
    enum rig_rc rc = get_int(parser, number);
    *given = rc == RIG_OK;
    return rc;
}

static enum rig_rc get_process(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    char c = peek(parser);
    operation->process_at = offset(parser);
    operation->is_client = c == '-' || (c >= '0' && c <= '9');
    return operation->is_client ? get_int(parser, &operation->process) : skip_value(parser);
}

/* A text as it is; another value as JSON writes it. */
static enum rig_rc get_error(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    if (peek(parser) == 'n' && take_word(parser, "null"))
        return RIG_OK;
    operation->has_error = true;
    if (peek(parser) == '"')
        return get_text(parser, &parser->error, &operation->error, &operation->error_length);
    operation->error = parser->cursor.at;
    enum rig_rc rc = skip_value(parser);
    operation->error_length = (size_t)(parser->cursor.at - operation->error);
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

static enum rig_rc get_field(struct parser *parser, enum field field)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    switch (field) {
    case FIELD_INDEX:
        (void)peek(parser);
        operation->index_at = offset(parser);
        return get_optional_int(parser, &operation->has_index, &operation->index);
    case FIELD_TYPE:
        return get_type(parser);
    case FIELD_PROCESS:
        return get_process(parser);
    case FIELD_TIME:
        return get_optional_int(parser, &operation->has_time, &operation->time_ns);
    case FIELD_VALUE:
        return get_value(parser);
    case FIELD_ERROR:
        return get_error(parser);
    case FIELD_COUNT:
        break;
    }
    return skip_value(parser);
}

static enum rig_rc get_operation(struct parser *parser)
{
    unsigned seen = 0;
    rig_operation_reader_begin(parser->cursor.reader, offset(parser));
    enum rig_rc rc = expect(parser, '{', "an operation, {\"type\": ...}");
    if (rc != RIG_OK)
        return rc;
    if (peek(parser) == '}') {
        parser->cursor.at++;
        return rig_operation_reader_end(parser->cursor.reader);
    }
    for (;;) {
        struct rig_text_slice name = {0};
        rc = get_string(parser, &name);
        if (rc == RIG_OK)
            rc = expect(parser, ':', "a colon");
        if (rc != RIG_OK)
            return rc;
        enum field field = find_field(&name);
        if (field != FIELD_COUNT && (seen & 1U << field) != 0)
            return FAIL(parser, name.at - 1, "a field twice in one operation; give it once");
        seen |= 1U << field;
        rc = get_field(parser, field);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
        char c = peek(parser);
        if (c != ',' && c != '}')
            return unexpected(parser, "a comma or '}'");
        parser->cursor.at++;
        if (c == '}')
            return rig_operation_reader_end(parser->cursor.reader);
    }
}

static enum rig_rc parse_lines(struct parser *parser)
{
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !parser->cursor.reader->decided &&
           (peek(parser) != '\0' || parser->cursor.at < parser->cursor.end))
        rc = get_operation(parser);
    return rc;
}

static enum rig_rc parse_array(struct parser *parser)
{
    parser->cursor.at++;
    bool empty = peek(parser) == ']';
    parser->cursor.at += empty;
    while (!empty) {
        enum rig_rc rc = get_operation(parser);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
        char c = peek(parser);
        if (c != ',' && c != ']')
            return unexpected(parser, "a comma or ']'");
        parser->cursor.at++;
        (void)peek(parser);
        if (c == ']')
            break;
    }
    skip_space(parser);
    return parser->cursor.at == parser->cursor.end ? RIG_OK : unexpected(parser, "the end of the file");
}

static enum rig_rc parse(struct rig_operation_reader *reader, void *context)
{
    struct parser *parser = context;
    RIG_REQUIRE(parser->cursor.reader == reader);
    parser->cursor.at = parser->cursor.start;
    return peek(parser) == '[' ? parse_array(parser) : parse_lines(parser);
}

enum rig_rc rig_json_lines_parse(const char *name, const char *data, size_t size,
                                 const struct rig_load_options *options, struct rig_history **history,
                                 struct rig_err *err)
{
    struct rig_operation_reader reader;
    struct parser parser = {.cursor = {.reader = &reader, .start = data, .at = data, .end = data + size}};
    rig_operation_reader_init(&reader, name, data, size, options, err);
    rig_buf_init(&parser.key, RIG_CURSOR_TEXT_BYTES);
    rig_buf_init(&parser.error, RIG_CURSOR_TEXT_BYTES);
    enum rig_rc rc = rig_operation_reader_run(&reader, parse, &parser, history);
    rig_buf_done(&parser.key);
    rig_buf_done(&parser.error);
    rig_operation_reader_done(&reader);
    return rc;
}

enum rig_rc rig_json_lines_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    return rig_operation_write(history, &rig_dialect_json, output, err);
}
