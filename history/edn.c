#include "history/edn.h"

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

static bool is_blank(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* Ends a symbol, keyword or number. */
static bool is_delimiter(char c)
{
    return is_blank(c) || strchr("()[]{}\";", c) != NULL; /* also NUL */
}

/* What is at the cursor, byte by byte; 0 past the end. */
static char look(const struct parser *parser, size_t ahead)
{
    size_t left = (size_t)(parser->cursor.end - parser->cursor.at);
    return ahead < left ? parser->cursor.at[ahead] : '\0';
}

static void skip_blank_and_comments(struct parser *parser)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    while (cursor->at < cursor->end) {
        if (is_blank(*cursor->at)) {
            cursor->at++;
        } else if (*cursor->at == ';') {
            const char *line_end = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
            cursor->at = line_end == NULL ? cursor->end : line_end;
        } else {
            return;
        }
    }
}

/* The symbol, keyword or number at the cursor. */
static struct rig_text_slice get_token(struct parser *parser)
{
    struct rig_text_cursor *cursor = &parser->cursor;
    struct rig_text_slice token = {.at = cursor->at};
    while (cursor->at < cursor->end && !is_delimiter(*cursor->at))
        cursor->at++;
    token.length = (size_t)(cursor->at - token.at);
    return token;
}

/* One atom: a string, a character, or a token. */
static enum rig_rc skip_atom(struct parser *parser)
{
    struct rig_text_slice slice;
    if (look(parser, 0) == '"')
        return rig_cursor_string(&parser->cursor, true, &slice);
    if (look(parser, 0) == '\\' && parser->cursor.end - parser->cursor.at >= 2)
        parser->cursor.at += 2; /* \( and \; are characters */
    else if (is_delimiter(look(parser, 0)))
        return unexpected(parser, "a value");
    (void)get_token(parser);
    return RIG_OK;
}

/* Whether the cursor was at a tag, #name or #_, which it now is behind. #{ is a set. */
static bool skip_tag(struct parser *parser)
{
    if (look(parser, 0) != '#' || look(parser, 1) == '{')
        return false;
    parser->cursor.at++;
    (void)get_token(parser);
    return true;
}

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : opener == '{' ? '}' : '\0';
}

/* Any form, checked for its brackets. */
static enum rig_rc skip_form(struct parser *parser)
{
    char closers[RIG_EDN_DEPTH];
    unsigned depth = 0;
    do {
        skip_blank_and_comments(parser);
        if (skip_tag(parser))
            continue;
        char c = look(parser, 0);
        if (depth > 0 && c == closers[depth - 1]) {
            parser->cursor.at++;
            if (--depth == 0)
                return RIG_OK;
            continue;
        }
        parser->cursor.at += c == '#';
        char closer = closer_of(look(parser, 0));
        if (closer != '\0') {
            if (depth == RIG_EDN_DEPTH)
                return FAIL(parser, parser->cursor.at, "nested more than %d deep", RIG_EDN_DEPTH);
            closers[depth++] = closer;
            parser->cursor.at++;
            continue;
        }
        enum rig_rc rc = skip_atom(parser);
        if (rc != RIG_OK || depth == 0)
            return rc;
    } while (parser->cursor.at < parser->cursor.end);
    return unexpected(parser, "the rest of a form");
}

/* Moves to the next form that counts: over blanks, comments, discarded forms and tags. */
static enum rig_rc advance(struct parser *parser)
{
    size_t discards = 0;
    for (;;) {
        skip_blank_and_comments(parser);
        if (look(parser, 0) == '#' && look(parser, 1) == '_') {
            parser->cursor.at += 2;
            discards++;
        } else if (discards > 0) {
            enum rig_rc rc = skip_form(parser);
            if (rc != RIG_OK)
                return rc;
            discards--;
        } else if (!skip_tag(parser)) {
            return RIG_OK;
        }
    }
}

static bool take_nil(struct parser *parser)
{
    if (look(parser, 0) != 'n' || look(parser, 1) != 'i' || look(parser, 2) != 'l' || !is_delimiter(look(parser, 3)))
        return false;
    parser->cursor.at += 3;
    return true;
}

static enum rig_rc get_int(struct parser *parser, int64_t *number)
{
    const char *from = parser->cursor.at;
    parser->cursor.at += look(parser, 0) == '+';
    enum rig_rc rc = rig_cursor_int(&parser->cursor, number);
    if (rc != RIG_OK)
        return rc;
    parser->cursor.at += look(parser, 0) == 'N'; /* a big integer, which fits all the same */
    if (!is_delimiter(look(parser, 0)))
        return FAIL(parser, from, "a number that is no plain integer; values and keys are 64-bit integers");
    return RIG_OK;
}

/* The keyword at the cursor, without its colon. */
static enum rig_rc get_keyword(struct parser *parser, const char *what, struct rig_text_slice *keyword)
{
    if (look(parser, 0) != ':')
        return unexpected(parser, what);
    parser->cursor.at++;
    *keyword = get_token(parser);
    return RIG_OK;
}

static bool opens_sequence(const struct parser *parser)
{
    return look(parser, 0) == '[' || look(parser, 0) == '(';
}

static enum rig_rc get_elements(struct parser *parser, struct rig_micro *micro)
{
    char closer = closer_of(*parser->cursor.at++);
    micro->value_kind = RIG_MICRO_LIST;
    micro->first_element = parser->cursor.reader->operation.elements.count;
    for (;;) {
        int64_t element;
        enum rig_rc rc = advance(parser);
        if (rc != RIG_OK)
            return rc;
        if (look(parser, 0) == closer) {
            parser->cursor.at++;
            return RIG_OK;
        }
        if (!rig_cursor_plain_int(&parser->cursor, &element))
            rc = get_int(parser, &element);
        if (rc == RIG_OK)
            rc = rig_operation_reader_element(parser->cursor.reader, element);
        if (rc != RIG_OK)
            return rc;
    }
}

static enum rig_rc get_key(struct parser *parser, struct rig_micro *micro)
{
    struct rig_text_slice slice = {0};
    enum rig_rc rc = advance(parser);
    if (rc != RIG_OK)
        return rc;
    if (look(parser, 0) == '"') {
        micro->key_kind = RIG_KEY_TEXT;
        rc = rig_cursor_string(&parser->cursor, true, &slice);
        return rc == RIG_OK
                   ? rig_cursor_decode(&parser->cursor, &slice, &parser->key, &micro->key_text, &micro->key_length)
                   : rc;
    }
    if (look(parser, 0) == ':') {
        micro->key_kind = RIG_KEY_KEYWORD;
        rc = get_keyword(parser, "a key", &slice);
        micro->key_text = slice.at;
        micro->key_length = slice.length;
        return rc;
    }
    micro->key_kind = RIG_KEY_NUMBER;
    return get_int(parser, &micro->key);
}

static enum rig_rc get_micro_value(struct parser *parser, struct rig_micro *micro)
{
    enum rig_rc rc = advance(parser);
    micro->value_at = offset(parser);
    if (rc != RIG_OK || look(parser, 0) == ']' || look(parser, 0) == ')')
        return rc; /* missing */
    if (opens_sequence(parser))
        return get_elements(parser, micro);
    micro->value_kind = RIG_MICRO_NULL;
    if (take_nil(parser))
        return RIG_OK;
    micro->value_kind = RIG_MICRO_NUMBER;
    return get_int(parser, &micro->value);
}

/* [:append 5 1]; the result of a read that is not known may be left out. */
static enum rig_rc get_micro(struct parser *parser)
{
    struct rig_micro micro = {.at = offset(parser), .value_kind = RIG_MICRO_MISSING};
    struct rig_text_slice name = {0};
    char closer = closer_of(*parser->cursor.at++);
    enum rig_rc rc = advance(parser);
    if (rc == RIG_OK)
        rc = get_keyword(parser, "a micro-operation's name, :append, :r or :w,", &name);
    if (rc == RIG_OK)
        rc = get_key(parser, &micro);
    if (rc == RIG_OK)
        rc = get_micro_value(parser, &micro);
    if (rc == RIG_OK)
        rc = advance(parser);
    if (rc != RIG_OK)
        return rc;
    if (look(parser, 0) != closer)
        return unexpected(parser, "the end of a micro-operation");
    parser->cursor.at++;
    micro.name = name.at;
    micro.name_length = name.length;
    return rig_operation_reader_mop(parser->cursor.reader, &micro);
}

/* A sequence of sequences is a transaction; any other value belongs to none of ours. */
static enum rig_rc find_txn(struct parser *parser, bool *found)
{
    *found = false;
    if (!opens_sequence(parser))
        return RIG_OK;
    const char *from = parser->cursor.at++;
    enum rig_rc rc = advance(parser);
    *found = opens_sequence(parser) || look(parser, 0) == closer_of(*from);
    parser->cursor.at = from;
    return rc;
}

static enum rig_rc get_value(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    bool found;
    enum rig_rc rc = find_txn(parser, &found);
    if (rc != RIG_OK)
        return rc;
    if (!found)
        return skip_form(parser);
    operation->has_value = true;
    operation->value_at = offset(parser);
    char closer = closer_of(*parser->cursor.at++);
    for (;;) {
        rc = advance(parser);
        if (rc != RIG_OK)
            return rc;
        if (look(parser, 0) == closer) {
            parser->cursor.at++;
            return RIG_OK;
        }
        if (!opens_sequence(parser))
            return unexpected(parser, "a micro-operation");
        rc = get_micro(parser);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
    }
}

static enum rig_rc get_type(struct parser *parser)
{
    static const char *const names[] = {"invoke", "ok", "fail", "info"};
    struct rig_operation *operation = &parser->cursor.reader->operation;
    struct rig_text_slice name = {0};
    operation->type_at = offset(parser);
    enum rig_rc rc = get_keyword(parser, "a type, :invoke, :ok, :fail or :info,", &name);
    if (rc != RIG_OK)
        return rc;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rig_slice_is(&name, names[i])) {
            operation->type = (enum rig_operation_type)i;
            operation->has_type = true;
            return RIG_OK;
        }
    }
    return FAIL(parser, name.at - 1, "no operation has this type; it is :invoke, :ok, :fail or :info");
}

static enum rig_rc get_process(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    char c = look(parser, 0);
    operation->process_at = offset(parser);
    operation->is_client = c == '-' || (c >= '0' && c <= '9');
    return operation->is_client ? get_int(parser, &operation->process) : skip_form(parser);
}

/* A string's text; another form as it is written. */
static enum rig_rc get_error(struct parser *parser)
{
    struct rig_operation *operation = &parser->cursor.reader->operation;
    if (take_nil(parser))
        return RIG_OK;
    operation->has_error = true;
    if (look(parser, 0) == '"') {
        struct rig_text_slice slice = {0};
        enum rig_rc rc = rig_cursor_string(&parser->cursor, true, &slice);
        return rc == RIG_OK ? rig_cursor_decode(&parser->cursor, &slice, &parser->error, &operation->error,
                                                &operation->error_length)
                            : rc;
    }
    operation->error = parser->cursor.at;
    enum rig_rc rc = skip_form(parser);
    operation->error_length = (size_t)(parser->cursor.at - operation->error);
    if (rc == RIG_OK && memchr(operation->error, '\0', operation->error_length) != NULL)
        return FAIL(parser, operation->error, "an error with a NUL character in it; take it out");
    return rc;
}

static enum rig_rc get_optional_int(struct parser *parser, bool *given, int64_t *number)
{
    if (take_nil(parser))
        return RIG_OK;
    enum rig_rc rc = get_int(parser, number);
    *given = rc == RIG_OK;
    return rc;
}

enum field { FIELD_INDEX, FIELD_TYPE, FIELD_PROCESS, FIELD_TIME, FIELD_VALUE, FIELD_ERROR, FIELD_COUNT };

static enum field find_field(const struct rig_text_slice *name)
{
    static const char *const names[FIELD_COUNT] = {":index", ":type", ":process", ":time", ":value", ":error"};
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
    return skip_form(parser);
}

/* A name and its value, both at the cursor in turn. */
static enum rig_rc get_entry(struct parser *parser, unsigned *seen)
{
    const char *from = parser->cursor.at;
    enum rig_rc rc = skip_form(parser);
    if (rc != RIG_OK)
        return rc;
    struct rig_text_slice name = {.at = from, .length = (size_t)(parser->cursor.at - from)};
    enum field field = find_field(&name);
    if (field != FIELD_COUNT && (*seen & 1U << field) != 0)
        return FAIL(parser, from, "a field twice in one operation; give it once");
    *seen |= 1U << field;
    rc = advance(parser);
    return rc == RIG_OK ? get_field(parser, field) : rc;
}

static enum rig_rc get_operation(struct parser *parser)
{
    unsigned seen = 0;
    rig_operation_reader_begin(parser->cursor.reader, offset(parser));
    if (look(parser, 0) != '{')
        return unexpected(parser, "an operation, {:type ...},");
    parser->cursor.at++;
    for (;;) {
        enum rig_rc rc = advance(parser);
        if (rc != RIG_OK)
            return rc;
        if (look(parser, 0) == '}') {
            parser->cursor.at++;
            return rig_operation_reader_end(parser->cursor.reader);
        }
        rc = get_entry(parser, &seen);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
    }
}

/* Operations up to `closer`, or the end of the file where that is 0. */
static enum rig_rc parse_operations(struct parser *parser, char closer)
{
    for (;;) {
        enum rig_rc rc = advance(parser);
        if (rc != RIG_OK)
            return rc;
        if (closer == '\0' ? parser->cursor.at == parser->cursor.end : look(parser, 0) == closer) {
            parser->cursor.at += closer != '\0';
            return RIG_OK;
        }
        rc = get_operation(parser);
        if (rc != RIG_OK || parser->cursor.reader->decided)
            return rc;
    }
}

static enum rig_rc parse(struct rig_operation_reader *reader, void *context)
{
    struct parser *parser = context;
    RIG_REQUIRE(parser->cursor.reader == reader);
    parser->cursor.at = parser->cursor.start;
    enum rig_rc rc = advance(parser);
    if (rc != RIG_OK)
        return rc;
    if (!opens_sequence(parser))
        return parse_operations(parser, '\0');
    rc = parse_operations(parser, closer_of(*parser->cursor.at++));
    if (rc == RIG_OK && !reader->decided)
        rc = advance(parser);
    if (rc != RIG_OK || reader->decided || parser->cursor.at == parser->cursor.end)
        return rc;
    return unexpected(parser, "the end of the file");
}

enum rig_rc rig_edn_parse(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                          struct rig_history **history, struct rig_err *err)
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

enum rig_rc rig_edn_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    return rig_operation_write(history, &rig_dialect_edn, output, err);
}
