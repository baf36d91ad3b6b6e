#include "drivers/odbc/odbc_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 32, SEEN_MOST = 32 };

enum kind { IS_TEXT, IS_INTEGER, IS_TRUE, IS_OTHER, IS_ARRAY, IS_OBJECT };

/* A value of JSON; arrays and objects are still to be read. */
struct value {
    enum kind kind;
    bool is_null;
    char *text;
    size_t length;
    int64_t integer;
};

static char *skip_blanks(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* ---- texts ---- */

/* NULL: there are not four hexadecimal digits. */
static char *take_unit(char *at, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, at++) {
        const char *const digits = "0123456789abcdef";
        const char *const digit =
            *at == '\0' ? NULL : strchr(digits, *at >= 'A' && *at <= 'F' ? *at + ('a' - 'A') : *at);
        if (digit == NULL)
            return NULL;
        *unit = *unit * 16 + (uint32_t)(digit - digits);
    }
    return at;
}

static char *put_character(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    const int further = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[further] | (code >> (6 * further)));
    for (int i = further - 1; i >= 0; i--)
        *to++ = (char)(0x80 | ((code >> (6 * i)) & 0x3f));
    return to;
}

/* After the backslash. */
static char *take_escape(char *at, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *const letter = *at == '\0' ? NULL : strchr(letters, *at);
    if (letter != NULL) {
        *(*to)++ = meanings[letter - letters];
        return at + 1;
    }
    uint32_t code = 0, low = 0;
    if (*at != 'u' || (at = take_unit(at + 1, &code)) == NULL || code == 0)
        return NULL;
    if (code >= 0xd800 && code < 0xdc00) {
        if (at[0] != '\\' || at[1] != 'u' || (at = take_unit(at + 2, &low)) == NULL || low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return NULL;
    }
    *to = put_character(*to, code);
    return at;
}

/* After the first quote; the place after the last one, which a NUL replaces. */
static char *take_text(char *at, struct value *value)
{
    char *to = value->text = at;
    for (;;) {
        const size_t plain = strcspn(at, "\"\\");
        if (to != at)
            memmove(to, at, plain);
        to += plain;
        at += plain;
        if (*at == '"')
            break;
        if (*at == '\0' || (at = take_escape(at + 1, &to)) == NULL)
            return NULL;
    }
    value->kind = IS_TEXT;
    value->length = (size_t)(to - value->text);
    *to = '\0';
    return at + 1;
}

/* ---- values ---- */

static char *take_number(char *at, struct value *value)
{
    char *end = NULL;
    errno = 0;
    value->integer = strtoll(at, &end, 10);
    value->kind = IS_INTEGER;
    if (end == at || errno != 0)
        return NULL;
    const size_t further = strspn(end, "0123456789.eE+-");
    if (further > 0)
        value->kind = IS_OTHER;
    return end + further;
}

/* The place after the value; of an array or object, that after its bracket. NULL: there is no value. */
static char *take_value(char *at, struct value *value)
{
    *value = (struct value){.kind = IS_OTHER};
    at = skip_blanks(at);
    if (*at == '"')
        return take_text(at + 1, value);
    if (*at == '[' || *at == '{') {
        value->kind = *at == '[' ? IS_ARRAY : IS_OBJECT;
        return at + 1;
    }
    value->is_null = strncmp(at, "null", 4) == 0;
    if (strncmp(at, "true", 4) == 0)
        value->kind = IS_TRUE;
    if (value->is_null || value->kind == IS_TRUE)
        return at + 4;
    if (strncmp(at, "false", 5) == 0)
        return at + 5;
    return take_number(at, value);
}

/* Takes an element of an array, or a member of an object, whose name is given. */
typedef char *(*take_member)(char *at, const char *name, int depth, void *context);

/* After the bracket of an array, or of an object, whose members have names. */
static char *take_members(char *at, bool named, int depth, take_member take, void *context)
{
    const char *names[SEEN_MOST];
    const char closer = named ? '}' : ']';
    if (depth > DEPTH_MOST)
        return NULL;
    at = skip_blanks(at);
    if (*at == closer)
        return at + 1;
    for (size_t count = 0;; at++, count++) {
        struct value name = {.text = NULL};
        at = skip_blanks(at);
        if (named && (*at != '"' || count == SEEN_MOST || (at = take_text(at + 1, &name)) == NULL))
            return NULL;
        for (size_t i = 0; named && i < count; i++)
            if (strcmp(names[i], name.text) == 0)
                return NULL;
        if (named) {
            names[count] = name.text;
            at = skip_blanks(at);
            if (*at++ != ':')
                return NULL;
        }
        at = take(at, name.text, depth, context);
        if (at == NULL)
            return NULL;
        at = skip_blanks(at);
        if (*at == closer)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static char *skip_member(char *at, const char *name, int depth, void *context)
{
    struct value value;
    (void)name;
    at = take_value(at, &value);
    if (at == NULL || (value.kind != IS_ARRAY && value.kind != IS_OBJECT))
        return at;
    return take_members(at, value.kind == IS_OBJECT, depth + 1, skip_member, context);
}

/* ---- requests ---- */

static char *take_argument(char *at, const char *name, int depth, void *context)
{
    struct rig_odbc_request *const request = context;
    struct value value;
    char *const end = take_value(at, &value);
    (void)name;
    if (end == NULL)
        return NULL;
    request->argument_count++;
    if (value.kind != IS_TEXT && !value.is_null && request->bad_argument == 0)
        request->bad_argument = request->argument_count;
    if (request->argument_count <= RIG_ODBC_ARGUMENTS_MOST)
        request->arguments[request->argument_count - 1] =
            (struct rig_odbc_text){.text = value.text, .length = value.length};
    if (value.kind != IS_ARRAY && value.kind != IS_OBJECT)
        return end;
    return take_members(end, value.kind == IS_OBJECT, depth + 1, skip_member, context);
}

#define TEXT_AT(member)    IS_TEXT, offsetof(struct rig_odbc_request, member)
#define INTEGER_AT(member) IS_INTEGER, offsetof(struct rig_odbc_request, member)
#define TRUTH_AT(member)   IS_TRUE, offsetof(struct rig_odbc_request, member)

static const struct member {
    const char *name;
    enum kind kind;
    size_t offset;
} members[] =
    {
        {"id", INTEGER_AT(id)},           {"session", INTEGER_AT(session)},
        {"if", TEXT_AT(condition)},       {"sql", TEXT_AT(sql)},
        {"types", TEXT_AT(types)},        {"commit", TRUTH_AT(commit)},
        {"rollback", TRUTH_AT(rollback)}, {"close", TRUTH_AT(close)},
        {"rig", INTEGER_AT(rig)},         {"role", TEXT_AT(role)},
        {"progress", TEXT_AT(progress)},  {NULL, IS_OTHER, 0},
},
  members_of_open[] = {
      {"connection", TEXT_AT(connection)},  {"user", TEXT_AT(user)},
      {"password", TEXT_AT(password)},      {"isolation", TEXT_AT(isolation)},
      {"autocommit", TRUTH_AT(autocommit)}, {NULL, IS_OTHER, 0},
};

static void store(struct rig_odbc_request *request, const struct member *table, const char *name,
                  const struct value *value)
{
    const struct member *member = table;
    while (member->name != NULL && (member->name[0] != name[0] || strcmp(member->name, name) != 0))
        member++;
    char *const at = (char *)request + member->offset;
    if (member->name == NULL || (member->kind != value->kind && member->kind != IS_TRUE))
        return;
    if (member->kind == IS_TEXT)
        memcpy(at, &(const char *){value->text}, sizeof(const char *));
    else if (member->kind == IS_INTEGER)
        memcpy(at, &value->integer, sizeof value->integer);
    else
        *(bool *)at = value->kind == IS_TRUE;
}

static char *take_of_open(char *at, const char *name, int depth, void *context)
{
    struct value value;
    char *const end = take_value(at, &value);
    if (end == NULL || value.kind == IS_ARRAY || value.kind == IS_OBJECT)
        return end == NULL ? NULL : skip_member(at, name, depth, context);
    store(context, members_of_open, name, &value);
    return end;
}

static char *take_of_request(char *at, const char *name, int depth, void *context)
{
    struct rig_odbc_request *const request = context;
    struct value value;
    char *const end = take_value(at, &value);
    if (end == NULL)
        return NULL;
    if (value.kind == IS_OBJECT && strcmp(name, "open") == 0) {
        request->opens = true;
        return take_members(end, true, depth + 1, take_of_open, request);
    }
    if (strcmp(name, "args") == 0)
        request->has_arguments = true;
    if (value.kind == IS_ARRAY && strcmp(name, "args") == 0)
        return take_members(end, false, depth + 1, take_argument, request);
    if (value.kind == IS_ARRAY || value.kind == IS_OBJECT)
        return skip_member(at, name, depth, context);
    store(request, members, name, &value);
    return end;
}

bool rig_odbc_request_parse(char *line, size_t size, struct rig_odbc_request *request)
{
    /* The arguments' places are written before they are read. */
    memset(request, 0, offsetof(struct rig_odbc_request, arguments));
    const size_t after = offsetof(struct rig_odbc_request, commit);
    memset((char *)request + after, 0, sizeof *request - after);
    request->id = request->session = -1;
    line[size] = '\0';
    char *at = skip_blanks(line);
    if (strlen(line) != size || *at != '{')
        return false;
    at = take_members(at + 1, true, 0, take_of_request, request);
    return at != NULL && *skip_blanks(at) == '\0';
}
