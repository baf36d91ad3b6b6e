/*
 * The grammar of expressions of models (object_expression.h), compiled by descent.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/json_write.h"
#include "history/model/value_texts.h"
#include "history/types/object_code.h"
#include "history/types/object_expression.h"

enum { MOST_NESTING = 32, MOST_INSTRUCTIONS = 400 };

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

/* Adds an instruction that takes some values and gives one, or none (RIG_CODE_GO and its like). Its number. */
static uint32_t emit(struct compiler *c, enum rig_code code, uint32_t takes, uint32_t gives,
                     struct rig_instruction rest)
{
    rest.code = (uint8_t)code;
    const uint32_t number = (uint32_t)(c->code->count - c->first);
    if (c->failed)
        return number;
    RIG_INVARIANT(c->depth >= takes);
    c->depth = c->depth - takes + gives;
    if (c->depth > RIG_CODE_MOST_DEPTH || number >= MOST_INSTRUCTIONS)
        (void)fail(c, c->token.at, "the expression is too long; give parts of it as variables or cases of their own");
    else if (!rig_instructions_add(c->code, rest))
        (void)fail(c, c->token.at, "there is no memory for the expression");
    return number;
}

static uint32_t emit_plain(struct compiler *c, enum rig_code code, uint32_t takes)
{
    return emit(c, code, takes, 1, (struct rig_instruction){0});
}

static void emit_on(struct compiler *c, enum rig_code code, uint32_t takes, uint32_t place)
{
    (void)emit(c, code, takes, 1, (struct rig_instruction){.place = (uint16_t)place});
}

static void emit_text(struct compiler *c, const char *text, size_t length)
{
    int64_t number = 0;
    if (!c->failed && !rig_value_number(text, length, &number))
        (void)fail(c, c->token.at, "there is no memory for the expression");
    (void)emit(c, RIG_CODE_CONSTANT, 0, 1, (struct rig_instruction){.value = number});
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
    enum rig_code code;
    const char *kinds; /* of the container that is the first argument: m: a map, s: a sequence; NULL: there is none */
    uint32_t values;   /* further arguments */
} functions[] = {
    {"min", RIG_CODE_SMALLER, NULL, 2},    {"max", RIG_CODE_LARGER, NULL, 2},
    {"count", RIG_CODE_COUNT, "ms", 0},    {"sum", RIG_CODE_SUM, "ms", 0},
    {"least", RIG_CODE_LEAST, "m", 0},     {"greatest", RIG_CODE_GREATEST, "m", 0},
    {"first", RIG_CODE_FIRST, "s", 0},     {"last", RIG_CODE_LAST, "s", 0},
    {"keys", RIG_CODE_KEYS, "m", 0},       {"values", RIG_CODE_VALUES, "ms", 0},
    {"entries", RIG_CODE_ENTRIES, "m", 0}, {"range", RIG_CODE_RANGE, "m", 2},
};

/* if(condition, value, otherwise) */
static bool compile_if(struct compiler *c)
{
    if (!compile_all(c) || !expect(c, ","))
        return false;
    const uint32_t otherwise = emit(c, RIG_CODE_GO_IF_FALSE, 1, 0, (struct rig_instruction){0});
    if (!compile_all(c) || !expect(c, ","))
        return false;
    const uint32_t end = emit(c, RIG_CODE_GO, 1, 0, (struct rig_instruction){0});
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
    (void)emit(c, RIG_CODE_LIST, count, 1, (struct rig_instruction){.count = (uint8_t)count});
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
            emit_on(c, RIG_CODE_ARGUMENT, 0, i);
            return !c->failed;
        }
    }
    if (variable == NULL) {
        unknown_name(c, name);
        return false;
    }
    if (variable->kind == RIG_VARIABLE_VALUE) {
        emit_on(c, RIG_CODE_VALUE, 0, variable->place);
        return !c->failed;
    }
    if (!is_sign(c, "["))
        return fail(c, name->at, "`%s` is a %s; name a part of it, as in `%s[1]` or `count(%s)`", variable->name,
                    variable->kind == RIG_VARIABLE_MAP ? "map" : "sequence", variable->name, variable->name);
    advance(c);
    if (!compile_all(c))
        return false;
    (void)emit(
        c, RIG_CODE_ELEMENT, 1, 1,
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
        (void)emit(c, RIG_CODE_CONSTANT, 0, 1, (struct rig_instruction){.value = token.number});
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
        (void)emit_plain(c, RIG_CODE_NEGATE, 1);
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
        (void)emit_plain(c, sign == '*' ? RIG_CODE_MULTIPLY : sign == '/' ? RIG_CODE_DIVIDE : RIG_CODE_REMAINDER, 2);
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
        (void)emit_plain(c, adds ? RIG_CODE_ADD : RIG_CODE_SUBTRACT, 2);
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
        c, RIG_CODE_MEMBER, 1, 1,
        (struct rig_instruction){.place = (uint16_t)container->place, .count = container->kind == RIG_VARIABLE_MAP});
    if (negated)
        (void)emit_plain(c, RIG_CODE_NOT, 1);
    return !c->failed;
}

static bool compile_comparison(struct compiler *c)
{
    static const struct {
        const char *sign;
        enum rig_code code;
    } signs[] = {{"==", RIG_CODE_EQUAL},    {"!=", RIG_CODE_DIFFERENT}, {"<=", RIG_CODE_AT_MOST},
                 {">=", RIG_CODE_AT_LEAST}, {"<", RIG_CODE_BELOW},      {">", RIG_CODE_ABOVE}};
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
        (void)emit_plain(c, RIG_CODE_NOT, 1);
    return !c->failed;
}

static bool compile_conjunction(struct compiler *c)
{
    if (!compile_negation(c))
        return false;
    while (is_name(c, "and")) {
        advance(c);
        const uint32_t jump = emit(c, RIG_CODE_KEEP_IF_FALSE, 1, 0, (struct rig_instruction){0});
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
        const uint32_t jump = emit(c, RIG_CODE_KEEP_IF_TRUE, 1, 0, (struct rig_instruction){0});
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
    return expression->count == 1 && code->at[expression->first].code == RIG_CODE_CONSTANT;
}

bool rig_expression_has_list(const struct rig_instructions *code, const struct rig_expression *expression)
{
    bool has = false;
    for (uint32_t i = 0; i < expression->count; i++)
        has |= code->at[expression->first + i].code >= RIG_CODE_KEYS &&
               code->at[expression->first + i].code <= RIG_CODE_LIST;
    return has;
}
