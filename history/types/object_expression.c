#include "history/types/object_expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/json_write.h"
#include "history/model/value_texts.h"

enum { MOST_DEPTH = 32, MOST_NESTING = 32, MOST_INSTRUCTIONS = 400 };

enum code {
    CONSTANT,
    VALUE,
    ARGUMENT,
    ELEMENT, /* of a container: takes the key or the place */
    MEMBER,  /* takes a value, gives whether the container has it */
    COUNT,
    LEAST,
    GREATEST,
    SUM,
    FIRST,
    LAST,
    KEYS,
    VALUES,
    ENTRIES,
    RANGE, /* takes two bounds */
    LIST,  /* takes `count` values */
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    NEGATE,
    SMALLER,
    LARGER,
    EQUAL,
    DIFFERENT,
    BELOW,
    AT_MOST,
    ABOVE,
    AT_LEAST,
    NOT,
    KEEP_IF_FALSE, /* goes on at `place` with the value that is there, or drops it */
    KEEP_IF_TRUE,
    GO_IF_FALSE, /* drops the value */
    GO,
};

bool rig_model_constants_find(struct rig_model_constants *constants)
{
    return rig_value_number("true", 4, &constants->yes) && rig_value_number("false", 5, &constants->no) &&
           rig_value_number("nil", 3, &constants->nil);
}

/* ---- tokens ---- */

struct token {
    char kind; /* 0: the end; 'n' integer, 'w' word, 's' string, 'k' keyword, else the first character of a sign */
    size_t at, length;
    int64_t number;
};

struct compiler {
    const char *text;
    const struct rig_expression_scope *scope;
    struct rig_instructions *code;
    size_t first;
    struct rig_expression_fault *fault;
    struct token token;
    size_t next;
    uint32_t depth, nesting;
    bool failed;
};

static bool fail(struct compiler *c, size_t at, const char *format, ...) RIG_PRINTF(3, 4);

static bool fail(struct compiler *c, size_t at, const char *format, ...)
{
    va_list arguments;
    if (c->failed)
        return false;
    c->failed = true;
    c->fault->at = at;
    va_start(arguments, format);
    (void)vsnprintf(c->fault->text, sizeof c->fault->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_word(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

static void read_number(struct compiler *c)
{
    const char *text = c->text + c->token.at;
    int64_t number = 0;
    size_t length = 0;
    bool fits = true;
    for (; isdigit((unsigned char)text[length]); length++)
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, text[length] - '0', &number);
    c->token.kind = 'n';
    c->token.length = length;
    c->token.number = number;
    if (!fits || number >= -(RIG_VALUE_TEXTS_BELOW))
        (void)fail(c, c->token.at, "a number below 2^62 was expected");
    else if (text[length] == '.' || is_word(text[length], true))
        (void)fail(c, c->token.at, "numbers are integers");
}

static void read_string(struct compiler *c)
{
    const char *text = c->text + c->token.at;
    size_t length = 1;
    while (text[length] != '\0' && text[length] != text[0])
        length++;
    c->token.kind = 's';
    c->token.length = length + 1;
    if (text[length] == '\0')
        (void)fail(c, c->token.at, "a string without its end; close it with %c", text[0]);
}

/* Reads the next token. */
static void advance(struct compiler *c)
{
    size_t at = c->next;
    while (c->text[at] == ' ' || c->text[at] == '\t' || c->text[at] == '\n')
        at++;
    const char first = c->text[at];
    c->token = (struct token){.kind = first, .at = at, .length = first == '\0' ? 0 : 1};
    if (isdigit((unsigned char)first)) {
        read_number(c);
    } else if (first == '\'' || first == '"') {
        read_string(c);
    } else if (is_word(first, true) || (first == ':' && is_word(c->text[at + 1], true))) {
        c->token.kind = first == ':' ? 'k' : 'w';
        while (is_word(c->text[at + c->token.length], false) ||
               (c->token.kind == 'k' && c->text[at + c->token.length] == '-'))
            c->token.length++;
    } else if (first != '\0' && strchr("<>=!", first) != NULL && c->text[at + 1] == '=') {
        c->token.length = 2;
    }
    c->next = at + c->token.length;
}

static bool is_sign(const struct compiler *c, const char *sign)
{
    return strchr("nwsk", c->token.kind) == NULL && c->token.length == strlen(sign) &&
           memcmp(c->text + c->token.at, sign, c->token.length) == 0;
}

static bool is_name(const struct compiler *c, const char *name)
{
    return c->token.kind == 'w' && c->token.length == strlen(name) &&
           memcmp(c->text + c->token.at, name, c->token.length) == 0;
}

static bool expect(struct compiler *c, const char *sign)
{
    if (c->failed)
        return false;
    if (!is_sign(c, sign)) {
        if (c->token.kind == '\0')
            return fail(c, c->token.at, "`%s` was expected, and the expression ends", sign);
        return fail(c, c->token.at, "`%s` was expected instead of `%.*s`", sign, (int)c->token.length,
                    c->text + c->token.at);
    }
    advance(c);
    return !c->failed;
}

/* ---- instructions ---- */

/* Adds an instruction that takes some values and gives one, or none (GO and its like). Its number. */
static uint32_t emit(struct compiler *c, enum code code, uint32_t takes, uint32_t gives, struct rig_instruction rest)
{
    rest.code = (uint8_t)code;
    const uint32_t number = (uint32_t)(c->code->count - c->first);
    if (c->failed)
        return number;
    RIG_INVARIANT(c->depth >= takes);
    c->depth = c->depth - takes + gives;
    if (c->depth > MOST_DEPTH || number >= MOST_INSTRUCTIONS)
        (void)fail(c, c->token.at, "the expression is too long; give parts of it as variables or cases of their own");
    else if (!rig_instructions_add(c->code, rest))
        (void)fail(c, c->token.at, "there is no memory for the expression");
    return number;
}

static uint32_t emit_plain(struct compiler *c, enum code code, uint32_t takes)
{
    return emit(c, code, takes, 1, (struct rig_instruction){0});
}

static void emit_on(struct compiler *c, enum code code, uint32_t takes, uint32_t place)
{
    (void)emit(c, code, takes, 1, (struct rig_instruction){.place = (uint16_t)place});
}

static void emit_text(struct compiler *c, const char *text, size_t length)
{
    int64_t number = 0;
    if (!c->failed && !rig_value_number(text, length, &number))
        (void)fail(c, c->token.at, "there is no memory for the expression");
    (void)emit(c, CONSTANT, 0, 1, (struct rig_instruction){.value = number});
}

/* The jump goes to the next instruction. */
static void land(struct compiler *c, uint32_t jump)
{
    if (!c->failed)
        c->code->at[c->first + jump].place = (uint16_t)(c->code->count - c->first);
}

/* ---- the grammar ---- */

static bool compile_all(struct compiler *c);

const struct rig_variable *rig_variable_find(const struct rig_expression_scope *scope, const char *name, size_t length)
{
    for (uint32_t i = 0; i < scope->variable_count; i++) {
        const struct rig_variable *variable = &scope->variables[i];
        if (strlen(variable->name) == length && memcmp(variable->name, name, length) == 0)
            return variable;
    }
    return NULL;
}

/* The container at the token, which is passed; NULL after an error. */
static const struct rig_variable *take_container(struct compiler *c, const char *kinds)
{
    const struct rig_variable *variable = rig_variable_find(c->scope, c->text + c->token.at, c->token.length);
    const bool fits = c->token.kind == 'w' && variable != NULL && variable->kind != RIG_VARIABLE_VALUE &&
                      (variable->kind == RIG_VARIABLE_MAP ? strchr(kinds, 'm') : strchr(kinds, 's')) != NULL;
    if (c->failed)
        return NULL;
    if (!fits) {
        (void)fail(c, c->token.at, "the name of %s was expected",
                   strchr(kinds, 's') == NULL   ? "a map"
                   : strchr(kinds, 'm') == NULL ? "a sequence"
                                                : "a map or a sequence");
        return NULL;
    }
    advance(c);
    return variable;
}

static const struct function {
    const char *name;
    enum code code;
    const char *kinds; /* of the container that is the first argument: m: a map, s: a sequence; NULL: there is none */
    uint32_t values;   /* further arguments */
} functions[] = {
    {"min", SMALLER, NULL, 2}, {"max", LARGER, NULL, 2},       {"count", COUNT, "ms", 0},    {"sum", SUM, "ms", 0},
    {"least", LEAST, "m", 0},  {"greatest", GREATEST, "m", 0}, {"first", FIRST, "s", 0},     {"last", LAST, "s", 0},
    {"keys", KEYS, "m", 0},    {"values", VALUES, "ms", 0},    {"entries", ENTRIES, "m", 0}, {"range", RANGE, "m", 2},
};

/* if(condition, value, otherwise) */
static bool compile_if(struct compiler *c)
{
    if (!compile_all(c) || !expect(c, ","))
        return false;
    const uint32_t otherwise = emit(c, GO_IF_FALSE, 1, 0, (struct rig_instruction){0});
    if (!compile_all(c) || !expect(c, ","))
        return false;
    const uint32_t end = emit(c, GO, 1, 0, (struct rig_instruction){0});
    land(c, otherwise);
    if (!compile_all(c))
        return false;
    land(c, end);
    return expect(c, ")");
}

/* list(a, b, ...) */
static bool compile_list(struct compiler *c)
{
    uint32_t count = 0;
    for (; !is_sign(c, ")"); count++) {
        if ((count > 0 && !expect(c, ",")) || !compile_all(c))
            return false;
    }
    (void)emit(c, LIST, count, 1, (struct rig_instruction){.count = (uint8_t)count});
    return expect(c, ")");
}

static bool compile_call(struct compiler *c, const struct token *name)
{
    const char *text = c->text + name->at;
    const struct function *function = NULL;
    if (name->length == 2 && memcmp(text, "if", 2) == 0)
        return compile_if(c);
    if (name->length == 4 && memcmp(text, "list", 4) == 0)
        return compile_list(c);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strlen(functions[i].name) == name->length && memcmp(functions[i].name, text, name->length) == 0)
            function = &functions[i];
    }
    if (function == NULL)
        return fail(c, name->at,
                    "there is no function `%.*s`; there are min, max, if, list, count, sum, least, greatest, first, "
                    "last, keys, values, entries and range",
                    (int)name->length, text);
    const struct rig_variable *container = function->kinds == NULL ? NULL : take_container(c, function->kinds);
    for (uint32_t i = 0; i < function->values; i++) {
        if ((i > 0 || function->kinds != NULL) && !expect(c, ","))
            return false;
        if (!compile_all(c))
            return false;
    }
    (void)emit(c, function->code, function->values, 1,
               (struct rig_instruction){.place = (uint16_t)(container == NULL ? 0 : container->place),
                                        .count = container != NULL && container->kind == RIG_VARIABLE_MAP});
    return expect(c, ")");
}

static void unknown_name(struct compiler *c, const struct token *name)
{
    char known[160] = "";
    size_t length = 0;
    const struct rig_expression_scope *scope = c->scope;
    for (uint32_t i = 0; i < scope->variable_count + scope->argument_count && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i == 0 ? "" : ", ",
                                   i < scope->variable_count ? scope->variables[i].name
                                                             : scope->arguments[i - scope->variable_count]);
    (void)fail(c, name->at, "there is no variable and no argument `%.*s`; there are %s; strings stand in quotes",
               (int)name->length, c->text + name->at,
               scope->variable_count + scope->argument_count == 0 ? "none" : known);
}

/* A word that is no call. */
static bool compile_name(struct compiler *c, const struct token *name)
{
    const char *text = c->text + name->at;
    const struct rig_variable *variable = rig_variable_find(c->scope, text, name->length);
    for (uint32_t i = 0; i < c->scope->argument_count; i++) {
        if (strlen(c->scope->arguments[i]) == name->length && memcmp(c->scope->arguments[i], text, name->length) == 0) {
            emit_on(c, ARGUMENT, 0, i);
            return !c->failed;
        }
    }
    if (variable == NULL) {
        unknown_name(c, name);
        return false;
    }
    if (variable->kind == RIG_VARIABLE_VALUE) {
        emit_on(c, VALUE, 0, variable->place);
        return !c->failed;
    }
    if (!is_sign(c, "["))
        return fail(c, name->at, "`%s` is a %s; name a part of it, as in `%s[1]` or `count(%s)`", variable->name,
                    variable->kind == RIG_VARIABLE_MAP ? "map" : "sequence", variable->name, variable->name);
    advance(c);
    if (!compile_all(c))
        return false;
    (void)emit(
        c, ELEMENT, 1, 1,
        (struct rig_instruction){.place = (uint16_t)variable->place, .count = variable->kind == RIG_VARIABLE_MAP});
    return expect(c, "]");
}

/* A string, with the quotes of EDN. */
static void compile_string(struct compiler *c)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_json_quote(&text, c->text + c->token.at + 1, c->token.length - 2);
    emit_text(c, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
}

static bool compile_primary(struct compiler *c)
{
    const struct token token = c->token;
    static const char *const words[] = {"true", "false", "nil", "null"};
    if (c->failed)
        return false;
    if (token.kind == 'n') {
        (void)emit(c, CONSTANT, 0, 1, (struct rig_instruction){.value = token.number});
    } else if (token.kind == 's') {
        compile_string(c);
    } else if (token.kind == 'k') {
        emit_text(c, c->text + token.at, token.length);
    } else if (is_sign(c, "(")) {
        advance(c);
        return compile_all(c) && expect(c, ")");
    } else if (token.kind != 'w') {
        return fail(c, token.at,
                    token.kind == '\0' ? "a value was expected, and the expression ends"
                                       : "a value was expected: a number, a string, or a name");
    }
    advance(c);
    if (token.kind != 'w' || c->failed)
        return !c->failed;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == token.length && memcmp(words[i], c->text + token.at, token.length) == 0) {
            emit_text(c, i == 3 ? "nil" : words[i], i == 3 ? 3 : token.length);
            return !c->failed;
        }
    }
    if (is_sign(c, "(")) {
        advance(c);
        return compile_call(c, &token);
    }
    return compile_name(c, &token);
}

static bool compile_factor(struct compiler *c)
{
    uint32_t signs = 0;
    for (; is_sign(c, "-"); signs++)
        advance(c);
    if (!compile_primary(c))
        return false;
    for (; signs > 0; signs--)
        (void)emit_plain(c, NEGATE, 1);
    return !c->failed;
}

static bool compile_product(struct compiler *c)
{
    if (!compile_factor(c))
        return false;
    while (is_sign(c, "*") || is_sign(c, "/") || is_sign(c, "%")) {
        const char sign = c->text[c->token.at];
        advance(c);
        if (!compile_factor(c))
            return false;
        (void)emit_plain(c, sign == '*' ? MULTIPLY : sign == '/' ? DIVIDE : REMAINDER, 2);
    }
    return !c->failed;
}

static bool compile_sum(struct compiler *c)
{
    if (!compile_product(c))
        return false;
    while (is_sign(c, "+") || is_sign(c, "-")) {
        const bool adds = is_sign(c, "+");
        advance(c);
        if (!compile_product(c))
            return false;
        (void)emit_plain(c, adds ? ADD : SUBTRACT, 2);
    }
    return !c->failed;
}

static bool compile_membership(struct compiler *c)
{
    const bool negated = is_name(c, "not");
    if (negated)
        advance(c);
    if (!is_name(c, "in"))
        return fail(c, c->token.at, "`in` was expected after `not`");
    advance(c);
    const struct rig_variable *container = take_container(c, "ms");
    if (container == NULL)
        return false;
    (void)emit(
        c, MEMBER, 1, 1,
        (struct rig_instruction){.place = (uint16_t)container->place, .count = container->kind == RIG_VARIABLE_MAP});
    if (negated)
        (void)emit_plain(c, NOT, 1);
    return !c->failed;
}

static bool compile_comparison(struct compiler *c)
{
    static const struct {
        const char *sign;
        enum code code;
    } signs[] = {{"==", EQUAL}, {"!=", DIFFERENT}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"<", BELOW}, {">", ABOVE}};
    if (!compile_sum(c))
        return false;
    if (is_name(c, "in") || is_name(c, "not"))
        return compile_membership(c);
    if (is_sign(c, "="))
        return fail(c, c->token.at, "`=` is no comparison; write `==`");
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!is_sign(c, signs[i].sign))
            continue;
        advance(c);
        if (!compile_sum(c))
            return false;
        (void)emit_plain(c, signs[i].code, 2);
        break;
    }
    return !c->failed;
}

static bool compile_negation(struct compiler *c)
{
    uint32_t count = 0;
    for (; is_name(c, "not"); count++)
        advance(c);
    if (!compile_comparison(c))
        return false;
    for (; count > 0; count--)
        (void)emit_plain(c, NOT, 1);
    return !c->failed;
}

static bool compile_conjunction(struct compiler *c)
{
    if (!compile_negation(c))
        return false;
    while (is_name(c, "and")) {
        advance(c);
        const uint32_t jump = emit(c, KEEP_IF_FALSE, 1, 0, (struct rig_instruction){0});
        if (!compile_negation(c))
            return false;
        land(c, jump);
    }
    return !c->failed;
}

static bool compile_all(struct compiler *c)
{
    if (c->failed)
        return false;
    if (++c->nesting > MOST_NESTING)
        return fail(c, c->token.at, "more than %d parentheses within each other", MOST_NESTING);
    if (!compile_conjunction(c))
        return false;
    while (is_name(c, "or")) {
        advance(c);
        const uint32_t jump = emit(c, KEEP_IF_TRUE, 1, 0, (struct rig_instruction){0});
        if (!compile_conjunction(c))
            return false;
        land(c, jump);
    }
    c->nesting--;
    return !c->failed;
}

bool rig_expression_compile(const char *text, const struct rig_expression_scope *scope, struct rig_instructions *code,
                            struct rig_expression *expression, size_t *until, struct rig_expression_fault *fault)
{
    struct compiler c = {.text = text, .scope = scope, .code = code, .first = code->count, .fault = fault};
    advance(&c);
    if (!compile_all(&c))
        return false;
    if (until != NULL)
        *until = c.token.at;
    else if (c.token.kind != '\0')
        return fail(&c, c.token.at, "an operator was expected instead of `%.*s`", (int)c.token.length,
                    c.text + c.token.at);
    RIG_INVARIANT(c.depth == 1);
    *expression = (struct rig_expression){(uint32_t)c.first, (uint32_t)(code->count - c.first)};
    return true;
}

bool rig_expression_is_constant(const struct rig_instructions *code, const struct rig_expression *expression)
{
    return expression->count == 1 && code->at[expression->first].code == CONSTANT;
}

bool rig_expression_has_list(const struct rig_instructions *code, const struct rig_expression *expression)
{
    bool has = false;
    for (uint32_t i = 0; i < expression->count; i++)
        has |= code->at[expression->first + i].code >= KEYS && code->at[expression->first + i].code <= LIST;
    return has;
}

/* ---- values ---- */

struct machine {
    const struct rig_model_view *view;
    int64_t stack[MOST_DEPTH + 1];
    uint32_t depth;
    bool no_memory;
};

static bool is_integer(int64_t value)
{
    return value >= RIG_VALUE_TEXTS_BELOW;
}

/* The order of two integers, or of two strings; false: there is none. */
static bool compare(int64_t a, int64_t b, int *order)
{
    if (is_integer(a) && is_integer(b)) {
        *order = (a > b) - (a < b);
        return true;
    }
    const char *left = is_integer(a) ? NULL : rig_value_text(a), *right = is_integer(b) ? NULL : rig_value_text(b);
    if (left == NULL || right == NULL || left[0] != '"' || right[0] != '"')
        return false;
    const int compared = strcmp(left, right);
    *order = (compared > 0) - (compared < 0);
    return true;
}

size_t rig_container_place(const struct rig_container *map, int64_t key, bool *found)
{
    size_t low = 0, high = map->count / 2;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->at[2 * middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    *found = 2 * low < map->count && map->at[2 * low] == key;
    return 2 * low;
}

static bool element(const struct machine *m, const struct rig_container *container, bool is_map, int64_t *value)
{
    bool found = false;
    if (is_map) {
        const size_t at = rig_container_place(container, *value, &found);
        *value = found ? container->at[at + 1] : m->view->constants->nil;
        return true;
    }
    if (!is_integer(*value))
        return false;
    *value = *value >= 0 && (uint64_t)*value < container->count ? container->at[*value] : m->view->constants->nil;
    return true;
}

static bool has_member(const struct rig_container *container, bool is_map, int64_t value)
{
    bool found = false;
    if (is_map) {
        (void)rig_container_place(container, value, &found);
        return found;
    }
    for (size_t i = 0; !found && i < container->count; i++)
        found = container->at[i] == value;
    return found;
}

/* Keys that are no integers come first: then there is no least integer. */
static bool end_key(const struct machine *m, const struct rig_container *map, bool greatest, int64_t *value)
{
    *value = map->count == 0 ? m->view->constants->nil : map->at[greatest ? map->count - 2 : 0];
    return map->count == 0 || is_integer(map->at[0]);
}

static bool add_up(const struct rig_container *container, bool is_map, int64_t *value)
{
    *value = 0;
    for (size_t i = is_map; i < container->count; i += is_map ? 2 : 1) {
        if (!is_integer(container->at[i]) || __builtin_add_overflow(*value, container->at[i], value))
            return false;
    }
    return is_integer(*value);
}

/* ---- lists: values whose text is that of their elements ---- */

static bool end_list(struct machine *m, struct rig_buf *text, int64_t *value)
{
    rig_buf_add_char(text, ']');
    m->no_memory |= text->failed || !rig_value_number(rig_buf_text(text), text->size, value);
    rig_buf_done(text);
    return !m->no_memory;
}

static void begin_list(struct rig_buf *text)
{
    rig_buf_init(text, 0);
    rig_buf_add_char(text, '[');
}

static void add_item(struct rig_buf *text, int64_t value)
{
    if (text->size > 1 && rig_buf_text(text)[text->size - 1] != '[')
        rig_buf_add_char(text, ' ');
    rig_value_add(text, value);
}

struct ordered {
    int64_t key, value;
};

/* Integers in their order, then other values in that of their texts. */
static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    if (is_integer(a->key) != is_integer(b->key))
        return is_integer(a->key) ? -1 : 1;
    if (is_integer(a->key))
        return (a->key > b->key) - (a->key < b->key);
    return strcmp(rig_value_text(a->key), rig_value_text(b->key));
}

/* The keys of a map, its values, or both, in the order of the keys. `bounds`: those from the first on, below the
 * second. */
static bool list_map(struct machine *m, const struct rig_container *map, enum code code, const int64_t *bounds,
                     int64_t *value)
{
    struct rig_buf text;
    const size_t count = map->count / 2;
    struct ordered *all = malloc((count + 1) * sizeof *all);
    int order = 0;
    m->no_memory |= all == NULL;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ordered){map->at[2 * i], map->at[2 * i + 1]};
    if (count > 1)
        qsort(all, count, sizeof *all, compare_ordered);
    begin_list(&text);
    for (size_t i = 0; i < count; i++) {
        if (bounds != NULL && (!compare(bounds[0], all[i].key, &order) || order > 0 ||
                               !compare(all[i].key, bounds[1], &order) || order >= 0))
            continue;
        if (code == ENTRIES || code == RANGE) {
            rig_buf_add_text(&text, text.size > 1 ? " [" : "[");
            add_item(&text, all[i].key);
            add_item(&text, all[i].value);
            rig_buf_add_char(&text, ']');
        } else {
            add_item(&text, code == KEYS ? all[i].key : all[i].value);
        }
    }
    free(all);
    return end_list(m, &text, value);
}

static bool list_values(struct machine *m, const int64_t *at, size_t count, int64_t *value)
{
    struct rig_buf text;
    begin_list(&text);
    for (size_t i = 0; i < count; i++)
        add_item(&text, at[i]);
    return end_list(m, &text, value);
}

/* ---- computing ---- */

/* An instruction on a container replaces the values on the stack that it takes. */
static bool look_into(struct machine *m, const struct rig_instruction *at)
{
    const struct rig_container *container = &m->view->containers[at->place];
    const bool is_map = at->count != 0;
    int64_t *top = m->depth == 0 ? NULL : &m->stack[m->depth - 1];
    switch ((int)at->code) {
    case ELEMENT:
        return element(m, container, is_map, top);
    case MEMBER:
        *top = has_member(container, is_map, *top) ? m->view->constants->yes : m->view->constants->no;
        return true;
    case RANGE:
        m->depth--;
        return list_map(m, container, RANGE, top - 1, top - 1);
    default:
        break;
    }
    top = &m->stack[m->depth++];
    switch ((int)at->code) {
    case COUNT:
        *top = (int64_t)(is_map ? container->count / 2 : container->count);
        return true;
    case LEAST:
    case GREATEST:
        return end_key(m, container, at->code == GREATEST, top);
    case SUM:
        return add_up(container, is_map, top);
    case FIRST:
    case LAST:
        *top = container->count == 0 ? m->view->constants->nil
                                     : container->at[at->code == LAST ? container->count - 1 : 0];
        return true;
    default:
        return is_map ? list_map(m, container, (enum code)at->code, NULL, top)
                      : list_values(m, container->at, container->count, top);
    }
}

static bool calculate(enum code code, int64_t a, int64_t b, int64_t *value)
{
    bool fails = !is_integer(a) || !is_integer(b);
    if (fails)
        return false;
    switch ((int)code) {
    case ADD:
        fails = __builtin_add_overflow(a, b, value);
        break;
    case SUBTRACT:
        fails = __builtin_sub_overflow(a, b, value);
        break;
    case MULTIPLY:
        fails = __builtin_mul_overflow(a, b, value);
        break;
    default:
        fails = b == 0;
        if (!fails)
            *value = code == DIVIDE ? a / b : a % b; /* no integer is INT64_MIN */
        break;
    }
    return !fails && is_integer(*value);
}

static bool decide(const struct machine *m, enum code code, int64_t a, int64_t b, int64_t *value)
{
    int order = 0;
    bool holds = code == EQUAL ? a == b : a != b;
    if (code != EQUAL && code != DIFFERENT) {
        if (!compare(a, b, &order))
            return false;
        if (code == SMALLER || code == LARGER) {
            *value = (code == SMALLER) == (order <= 0) ? a : b;
            return true;
        }
        holds = code == BELOW ? order < 0 : code == AT_MOST ? order <= 0 : code == ABOVE ? order > 0 : order >= 0;
    }
    *value = holds ? m->view->constants->yes : m->view->constants->no;
    return true;
}

static bool is_truth(const struct machine *m, int64_t value)
{
    return value == m->view->constants->yes || value == m->view->constants->no;
}

/* Executes one instruction that does not go elsewhere. */
static bool execute(struct machine *m, const struct rig_instruction *at)
{
    const enum code code = (enum code)at->code;
    int64_t *top = m->depth == 0 ? NULL : &m->stack[m->depth - 1];
    switch ((int)code) {
    case CONSTANT:
        m->stack[m->depth++] = at->value;
        return true;
    case VALUE:
        m->stack[m->depth++] = m->view->values[at->place];
        return true;
    case ARGUMENT:
        m->stack[m->depth++] = m->view->arguments[at->place];
        return true;
    case LIST:
        m->depth -= at->count;
        m->depth++;
        return list_values(m, &m->stack[m->depth - 1], at->count, &m->stack[m->depth - 1]);
    case NEGATE:
        return calculate(SUBTRACT, 0, *top, top);
    case NOT:
        if (!is_truth(m, *top))
            return false;
        *top = *top == m->view->constants->yes ? m->view->constants->no : m->view->constants->yes;
        return true;
    default:
        break;
    }
    if (code < ADD)
        return look_into(m, at);
    RIG_INVARIANT(m->depth >= 2);
    m->depth--;
    return code <= REMAINDER ? calculate(code, top[-1], *top, top - 1) : decide(m, code, top[-1], *top, top - 1);
}

bool rig_expression_value(const struct rig_instructions *code, const struct rig_expression *expression,
                          const struct rig_model_view *view, int64_t *value, bool *no_memory)
{
    struct machine m = {.view = view};
    const struct rig_instruction *first = code->at + expression->first;
    RIG_REQUIRE(expression->count > 0 && expression->first + (size_t)expression->count <= code->count);
    for (uint32_t i = 0; i < expression->count;) {
        const struct rig_instruction *at = &first[i++];
        RIG_INVARIANT(m.depth <= MOST_DEPTH);
        if (at->code == GO) {
            i = at->place;
        } else if (at->code == GO_IF_FALSE || at->code == KEEP_IF_FALSE || at->code == KEEP_IF_TRUE) {
            const int64_t top = m.stack[m.depth - 1];
            const bool goes = (top == view->constants->yes) == (at->code == KEEP_IF_TRUE);
            if (!is_truth(&m, top))
                return false;
            i = goes ? at->place : i;
            m.depth -= at->code == GO_IF_FALSE || !goes;
        } else if (!execute(&m, at)) {
            *no_memory |= m.no_memory;
            return false;
        }
    }
    RIG_INVARIANT(m.depth == 1);
    *value = m.stack[0];
    return true;
}
