#include "history/text/edn.h"

#include <string.h>

#include "history/text/fast/operation_fast.h"
#include "history/text/operation_parser.h"
#include "history/text/operation_text.h"
#include "history/text/text_reader.h"

static bool is_blank(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* Ends a symbol, keyword or number. */
static bool is_delimiter(char c)
{
    return is_blank(c) || strchr("()[]{}\";", c) != NULL; /* also NUL */
}

/* The byte at the cursor; 0 past the end. */
static char look(const struct rig_text_cursor *cursor, size_t ahead)
{
    size_t left = (size_t)(cursor->end - cursor->at);
    return ahead < left ? cursor->at[ahead] : '\0';
}

static void skip_blank_and_comments(struct rig_text_cursor *cursor)
{
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
static struct rig_text_slice get_token(struct rig_text_cursor *cursor)
{
    struct rig_text_slice token = {.at = cursor->at};
    while (cursor->at < cursor->end && !is_delimiter(*cursor->at))
        cursor->at++;
    token.length = (size_t)(cursor->at - token.at);
    return token;
}

/* One atom: a string, a character, or a token. */
static enum rig_rc skip_atom(struct rig_text_cursor *cursor)
{
    struct rig_text_slice slice;
    if (look(cursor, 0) == '"')
        return rig_cursor_string(cursor, true, &slice);
    if (look(cursor, 0) == '\\' && cursor->end - cursor->at >= 2)
        cursor->at += 2; /* \( and \; are characters */
    else if (is_delimiter(look(cursor, 0)))
        return rig_cursor_unexpected(cursor, "a value");
    (void)get_token(cursor);
    return RIG_OK;
}

/* Skips a tag, #name or #_, at the cursor; false if there is none. #{ is a set. */
static bool skip_tag(struct rig_text_cursor *cursor)
{
    if (look(cursor, 0) != '#' || look(cursor, 1) == '{')
        return false;
    cursor->at++;
    (void)get_token(cursor);
    return true;
}

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : opener == '{' ? '}' : '\0';
}

/* Any form, checked for its brackets. */
static enum rig_rc skip_form(struct rig_text_cursor *cursor)
{
    char closers[RIG_EDN_DEPTH];
    unsigned depth = 0;
    do {
        skip_blank_and_comments(cursor);
        if (skip_tag(cursor))
            continue;
        char c = look(cursor, 0);
        if (depth > 0 && c == closers[depth - 1]) {
            cursor->at++;
            if (--depth == 0)
                return RIG_OK;
            continue;
        }
        cursor->at += c == '#';
        char closer = closer_of(look(cursor, 0));
        if (closer != '\0') {
            if (depth == RIG_EDN_DEPTH)
                return rig_cursor_fail(cursor, rig_cursor_offset(cursor), "nested more than %d deep", RIG_EDN_DEPTH);
            closers[depth++] = closer;
            cursor->at++;
            continue;
        }
        enum rig_rc rc = skip_atom(cursor);
        if (rc != RIG_OK || depth == 0)
            return rc;
    } while (cursor->at < cursor->end);
    return rig_cursor_unexpected(cursor, "the rest of a form");
}

/* Moves to the next form, past blanks, comments, discarded forms and tags. */
static enum rig_rc next(struct rig_text_cursor *cursor)
{
    size_t discards = 0;
    for (;;) {
        skip_blank_and_comments(cursor);
        if (look(cursor, 0) == '#' && look(cursor, 1) == '_') {
            cursor->at += 2;
            discards++;
        } else if (discards > 0) {
            enum rig_rc rc = skip_form(cursor);
            if (rc != RIG_OK)
                return rc;
            discards--;
        } else if (!skip_tag(cursor)) {
            return RIG_OK;
        }
    }
}

static bool take_null(struct rig_text_cursor *cursor)
{
    if (look(cursor, 0) != 'n' || look(cursor, 1) != 'i' || look(cursor, 2) != 'l' || !is_delimiter(look(cursor, 3)))
        return false;
    cursor->at += 3;
    return true;
}

static enum rig_rc get_int(struct rig_text_cursor *cursor, int64_t *number)
{
    const char *from = cursor->at;
    cursor->at += look(cursor, 0) == '+';
    enum rig_rc rc = rig_cursor_int(cursor, number);
    if (rc != RIG_OK)
        return rc;
    cursor->at += look(cursor, 0) == 'N'; /* a big integer that fits 64 bits */
    if (!is_delimiter(look(cursor, 0)))
        return rig_cursor_fail(cursor, (size_t)(from - cursor->start),
                               "a number that is not a plain integer; values and keys are 64-bit integers");
    return RIG_OK;
}

static enum rig_rc more(struct rig_text_cursor *cursor, char closer, bool is_first, bool *is_there)
{
    (void)is_first;
    enum rig_rc rc = next(cursor);
    if (rc != RIG_OK)
        return rc;
    *is_there = closer == '\0' ? cursor->at < cursor->end : look(cursor, 0) != closer;
    cursor->at += closer != '\0' && !*is_there;
    return RIG_OK;
}

/* The keyword at the cursor, without its colon. */
static enum rig_rc get_word(struct rig_text_cursor *cursor, const char *wanted, struct rig_text_slice *word)
{
    if (look(cursor, 0) != ':')
        return rig_cursor_unexpected(cursor, wanted);
    cursor->at++;
    *word = get_token(cursor);
    return RIG_OK;
}

static enum rig_rc get_field(struct rig_text_cursor *cursor, struct rig_text_slice *name)
{
    const char *from = cursor->at;
    enum rig_rc rc = skip_form(cursor);
    if (rc == RIG_OK && *from == ':')
        *name = (struct rig_text_slice){.at = from + 1, .length = (size_t)(cursor->at - from - 1)};
    return rc;
}

static enum rig_rc find_value(struct rig_text_cursor *cursor, bool *found, size_t *value_at)
{
    enum rig_rc rc = next(cursor);
    *value_at = rig_cursor_offset(cursor);
    *found = rc == RIG_OK && look(cursor, 0) != ']' && look(cursor, 0) != ')';
    return rc;
}

const struct rig_text_syntax rig_text_syntax_edn = {
    .operation = "an operation {:type ...}",
    .type = "a type (:invoke, :ok, :fail or :info)",
    .types = ":invoke, :ok, :fail or :info",
    .micro_name = "a micro-operation's name (:append, :r or :w)",
    .micro_end = "the end of a micro-operation",
    .keywords = true,
    .long_strings = true,
    .openers = "[(",
    .closers = "])",
    .next = next,
    .more = more,
    .field = get_field,
    .word = get_word,
    .find_key = next,
    .find_value = find_value,
    .take_null = take_null,
    .integer = get_int,
    .skip = skip_form,
};

static enum rig_rc open_edn(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                            struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    static const struct rig_text_form form = {
        .syntax = &rig_text_syntax_edn,
        .fast = RIG_FAST_EDN,
    };
    facts->form = RIG_FORM_EDN;
    const struct rig_text_file file = {&form, name, data, size};
    return rig_text_reader_open(&file, options, facts, state, err);
}

static enum rig_rc look_at_edn(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err)
{
    return rig_text_reader_look(&rig_text_syntax_edn, name, data, size, undecided, err);
}

const struct rig_form_reader rig_edn_reader = {
    .parallel = true,
    .usual_part_bytes = RIG_TEXT_PART_BYTES,
    .held_per_byte = RIG_TEXT_HELD_PER_BYTE,
    .open = open_edn,
    .cut = rig_text_reader_cut,
    .parse = rig_text_reader_parse,
    .join = rig_text_reader_join,
    .close = rig_text_reader_close,
    .look = look_at_edn,
};

enum rig_rc rig_edn_write(const struct rig_history *history, struct rig_output *output, struct rig_err *err)
{
    return rig_operation_write(history, &rig_syntax_edn, output, err);
}
