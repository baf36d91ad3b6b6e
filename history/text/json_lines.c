#include "history/text/json_lines.h"

#include <string.h>

#include "history/text/fast/operation_fast.h"
#include "history/text/operation_parser.h"
#include "history/text/operation_text.h"
#include "history/text/text_reader.h"

/* The next character that is not a space; 0 at the end. */
static char peek(struct rig_text_cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || *cursor->at == '\n' || *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static enum rig_rc next(struct rig_text_cursor *cursor)
{
    (void)peek(cursor);
    return RIG_OK;
}

static enum rig_rc expect(struct rig_text_cursor *cursor, char wanted, const char *what)
{
    if (peek(cursor) != wanted)
        return rig_cursor_unexpected(cursor, what);
    cursor->at++;
    (void)peek(cursor);
    return RIG_OK;
}

static enum rig_rc get_string(struct rig_text_cursor *cursor, struct rig_text_slice *slice)
{
    (void)peek(cursor);
    return rig_cursor_string(cursor, false, slice);
}

static bool take_word(struct rig_text_cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool take_null(struct rig_text_cursor *cursor)
{
    return take_word(cursor, "null");
}

static enum rig_rc skip_number(struct rig_text_cursor *cursor)
{
    const char *from = cursor->at;
    while (cursor->at < cursor->end && strchr("+-.0123456789eE", *cursor->at) != NULL && *cursor->at != '\0')
        cursor->at++;
    return cursor->at > from ? RIG_OK : rig_cursor_unexpected(cursor, "a value");
}

static enum rig_rc skip_scalar(struct rig_text_cursor *cursor)
{
    struct rig_text_slice slice;
    if (cursor->at == cursor->end)
        return rig_cursor_unexpected(cursor, "a value");
    if (*cursor->at == '"')
        return get_string(cursor, &slice);
    if (take_word(cursor, "null") || take_word(cursor, "true") || take_word(cursor, "false"))
        return RIG_OK;
    return skip_number(cursor);
}

/* After a value: closes the sequences that end here and moves to the start of the next value. */
static enum rig_rc skip_behind_value(struct rig_text_cursor *cursor, char *closers, unsigned *depth)
{
    struct rig_text_slice slice;
    while (*depth > 0) {
        char c = peek(cursor);
        if (c == closers[*depth - 1]) {
            cursor->at++;
            (*depth)--;
            continue;
        }
        if (c != ',')
            return rig_cursor_unexpected(cursor, closers[*depth - 1] == '}' ? "a comma or '}'" : "a comma or ']'");
        cursor->at++;
        if (closers[*depth - 1] != '}')
            return RIG_OK;
        enum rig_rc rc = get_string(cursor, &slice);
        return rc == RIG_OK ? expect(cursor, ':', "a colon") : rc;
    }
    return RIG_OK;
}

enum rig_rc rig_json_skip(struct rig_text_cursor *cursor)
{
    char closers[RIG_JSON_LINES_DEPTH];
    unsigned depth = 0;
    do {
        char c = peek(cursor);
        enum rig_rc rc = RIG_OK;
        if (c == '[' || c == '{') {
            if (depth == RIG_JSON_LINES_DEPTH)
                return rig_cursor_fail(cursor, rig_cursor_offset(cursor), "nested more than %d deep",
                                       RIG_JSON_LINES_DEPTH);
            cursor->at++;
            char closer = c == '[' ? ']' : '}';
            if (peek(cursor) != closer) {
                closers[depth++] = closer;
                struct rig_text_slice slice;
                if (c == '{')
                    rc = get_string(cursor, &slice);
                if (rc == RIG_OK && c == '{')
                    rc = expect(cursor, ':', "a colon");
                if (rc != RIG_OK)
                    return rc;
                continue;
            }
            cursor->at++;
        } else {
            rc = skip_scalar(cursor);
        }
        if (rc == RIG_OK)
            rc = skip_behind_value(cursor, closers, &depth);
        if (rc != RIG_OK)
            return rc;
    } while (depth > 0);
    return RIG_OK;
}

static enum rig_rc more(struct rig_text_cursor *cursor, char closer, bool is_first, bool *is_there)
{
    char c = peek(cursor);
    *is_there = true;
    if (closer == '\0') {
        *is_there = cursor->at < cursor->end;
    } else if (c == closer) {
        cursor->at++;
        *is_there = false;
    } else if (!is_first) {
        return expect(cursor, ',', closer == '}' ? "a comma or '}'" : "a comma or ']'");
    }
    return RIG_OK;
}

static enum rig_rc get_field(struct rig_text_cursor *cursor, struct rig_text_slice *name)
{
    enum rig_rc rc = get_string(cursor, name);
    return rc == RIG_OK ? expect(cursor, ':', "a colon") : rc;
}

static enum rig_rc get_word(struct rig_text_cursor *cursor, const char *wanted, struct rig_text_slice *word)
{
    (void)wanted;
    enum rig_rc rc = get_string(cursor, word);
    if (rc == RIG_OK && word->length > 1 && word->at[0] == ':') {
        word->at++;
        word->length--;
    }
    return rc;
}

static enum rig_rc find_key(struct rig_text_cursor *cursor)
{
    return expect(cursor, ',', "a comma and the key");
}

static enum rig_rc find_value(struct rig_text_cursor *cursor, bool *found, size_t *value_at)
{
    *found = peek(cursor) == ',';
    if (!*found)
        return RIG_OK;
    cursor->at++;
    (void)peek(cursor);
    *value_at = rig_cursor_offset(cursor);
    return RIG_OK;
}

const struct rig_text_syntax rig_text_syntax_json = {
    .operation = "an operation {\"type\": ...}",
    .type = "a string",
    .types = "invoke, ok, fail or info",
    .micro_name = "a string",
    .micro_end = "']' after name, key and value",
    .openers = "[",
    .closers = "]",
    .next = next,
    .more = more,
    .field = get_field,
    .word = get_word,
    .find_key = find_key,
    .find_value = find_value,
    .take_null = take_null,
    .integer = rig_cursor_int,
    .skip = rig_json_skip,
};

static enum rig_rc open_json(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                             struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    static const struct rig_text_form form = {
        .syntax = &rig_text_syntax_json,
        .fast = RIG_FAST_JSON,
        .separator = ',',
    };
    facts->form = RIG_FORM_JSON_LINES;
    const struct rig_text_file file = {&form, name, data, size};
    return rig_text_reader_open(&file, options, facts, state, err);
}

static enum rig_rc look(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err)
{
    return rig_text_reader_look(&rig_text_syntax_json, name, data, size, undecided, err);
}

const struct rig_form_reader rig_json_lines_reader = {
    .parallel = true,
    .usual_part_bytes = RIG_TEXT_PART_BYTES,
    .held_per_byte = RIG_TEXT_HELD_PER_BYTE,
    .open = open_json,
    .cut = rig_text_reader_cut,
    .parse = rig_text_reader_parse,
    .join = rig_text_reader_join,
    .close = rig_text_reader_close,
    .look = look,
};

enum rig_rc rig_json_lines_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    return rig_operation_write(history, &rig_syntax_json, output, err);
}
