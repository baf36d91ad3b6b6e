#include "nemesis/placeholder.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"

enum { ARGUMENT_BYTES = 1 << 14, NESTED_MOST = 64, WORD_BYTES = 32 };

static const char *const names[] = {
#define NAME(value, name, variable) name,
    RIG_PLACEHOLDER_TABLE(NAME)
#undef NAME
        NULL};
static const char *const variables[] = {
#define VARIABLE(value, name, variable) variable,
    RIG_PLACEHOLDER_TABLE(VARIABLE)
#undef VARIABLE
};

/* -- finding ------------------------------------------------------------------------------------------------------- */

/* The word of `{word}` at `at`, which is in `text`; its length, 0 when there is none. */
static size_t word_at(const char *text, const char *at)
{
    if (*at != '{' || (at > text && at[-1] == '$'))
        return 0;
    size_t length = 0;
    while (isalnum((unsigned char)at[1 + length]) || at[1 + length] == '_' || at[1 + length] == '-')
        length++;
    return at[1 + length] == '}' ? length : 0;
}

/* RIG_PLACEHOLDER_COUNT: there is none. */
static enum rig_placeholder placeholder_at(const char *text, const char *at)
{
    const size_t length = word_at(text, at);
    int i = 0;
    while (i < RIG_PLACEHOLDER_COUNT && (strlen(names[i]) != length || strncmp(names[i], at + 1, length) != 0))
        i++;
    return (enum rig_placeholder)i;
}

bool rig_placeholder_names(const struct rig_text_list *arguments, enum rig_placeholder placeholder)
{
    for (size_t i = 0; i < arguments->count; i++) {
        const char *text = arguments->at[i];
        if (strstr(text, variables[placeholder]) != NULL)
            return true;
        for (const char *at = strchr(text, '{'); at != NULL; at = strchr(at + 1, '{')) {
            if (placeholder_at(text, at) == placeholder)
                return true;
        }
    }
    return false;
}

bool rig_placeholder_is_used(const struct rig_text_list *arguments)
{
    for (int i = 0; i < RIG_PLACEHOLDER_COUNT; i++) {
        if (rig_placeholder_names(arguments, (enum rig_placeholder)i))
            return true;
    }
    return false;
}

static enum rig_rc check_argument(const char *key, const char *text, struct rig_err *err)
{
    for (const char *at = strchr(text, '{'); at != NULL; at = strchr(at + 1, '{')) {
        char word[WORD_BYTES];
        const size_t length = word_at(text, at);
        if (length == 0 || length >= sizeof word || placeholder_at(text, at) != RIG_PLACEHOLDER_COUNT)
            continue;
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at + 1);
        const char *near = rig_nearest_of(word, names);
        if (near != NULL)
            return rig_fail(err, RIG_E_PLAN,
                            "`%s`: there is no placeholder `{%s}`; did you mean `{%s}`? To keep the "
                            "braces, write blanks: `{ %s }`",
                            key, word, near, word);
    }
    return RIG_OK;
}

enum rig_rc rig_placeholder_check(const char *key, const struct rig_text_list *arguments, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < arguments->count && rc == RIG_OK; i++)
        rc = check_argument(key, arguments->at[i], err);
    return rc;
}

/* -- a node's values ----------------------------------------------------------------------------------------------- */

static enum rig_rc refuse_missing(enum rig_placeholder missing, const struct rig_place *place, struct rig_err *err)
{
    char there[128] = "";
    for (int i = 0; i < RIG_PLACEHOLDER_COUNT; i++) {
        const size_t used = strlen(there);
        if (place->at[i][0] != '\0')
            (void)snprintf(there + used, sizeof there - used, "%s`{%s}`", used == 0 ? "" : ", ", names[i]);
    }
    return rig_fail(err, RIG_E_CLUSTER, "%s: a command names `{%s}`, which this node does not have now; it has %s",
                    place->at[RIG_PLACEHOLDER_NODE], names[missing], there);
}

static enum rig_rc require_in(const char *text, const struct rig_place *place, struct rig_err *err)
{
    for (const char *at = strchr(text, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const enum rig_placeholder found = placeholder_at(text, at);
        if (found != RIG_PLACEHOLDER_COUNT && place->at[found][0] == '\0')
            return refuse_missing(found, place, err);
    }
    return RIG_OK;
}

enum rig_rc rig_placeholder_require(const struct rig_text_list *arguments, const struct rig_place *place,
                                    struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < arguments->count && rc == RIG_OK; i++)
        rc = require_in(arguments->at[i], place, err);
    return rc;
}

/* -- scripts ------------------------------------------------------------------------------------------------------- */

static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh", "mksh", "busybox", "su", "runuser"};
    const char *slash = strrchr(program, '/');
    const char *name = slash == NULL ? program : slash + 1;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(name, shells[i]) == 0)
            return true;
    }
    return false;
}

/* `-c`, `-ec`, `--command` */
static bool announces_script(const char *argument)
{
    const size_t length = strlen(argument);
    return strcmp(argument, "--command") == 0 ||
           (length > 1 && argument[0] == '-' && argument[1] != '-' && argument[length - 1] == 'c');
}

/* The index of the argument that a shell reads as a script; SIZE_MAX: none. */
static size_t find_script(const struct rig_text_list *arguments)
{
    bool in_shell = false;
    for (size_t i = 0; i + 1 < arguments->count; i++) {
        in_shell = in_shell || is_shell(arguments->at[i]);
        if (in_shell && announces_script(arguments->at[i]))
            return i + 1;
    }
    return SIZE_MAX;
}

/* The state at a position in a script: the open quotes and substitutions, innermost last: ' " ( `; none: plain text. */
struct script {
    char open[NESTED_MOST];
    size_t depth;
    bool in_comment;
    bool lost; /* nested too deeply */
};

static char innermost(const struct script *script)
{
    return script->depth == 0 ? '\0' : script->open[script->depth - 1];
}

static void open_in(struct script *script, char what)
{
    script->lost = script->lost || script->depth == NESTED_MOST;
    if (!script->lost)
        script->open[script->depth++] = what;
}

/* Moves past the character at `at`. Returns how many characters these are: two for one that is escaped. */
static size_t step(struct script *script, const char *text, const char *at)
{
    const char inner = innermost(script);
    const bool quoted = inner == '"';
    if (script->in_comment) {
        script->in_comment = *at != '\n';
    } else if (inner == '\'') {
        script->depth -= *at == '\'' ? 1 : 0;
    } else if (*at == '\\' && at[1] != '\0' && at[1] != '{') {
        return 2;
    } else if (*at == inner && (*at == '"' || *at == '`')) {
        script->depth--;
    } else if (*at == '"' || *at == '`' || (*at == '\'' && !quoted)) {
        open_in(script, *at);
    } else if (*at == '(' && (!quoted || (at > text && at[-1] == '$'))) {
        open_in(script, '(');
    } else if (*at == ')' && inner == '(') {
        script->depth--;
    } else if (*at == '#' && !quoted && (at == text || strchr(" \t\n;&|(", at[-1]) != NULL)) {
        script->in_comment = true;
    }
    return 1;
}

/* -- replacing ----------------------------------------------------------------------------------------------------- */

struct output {
    char *text;
    size_t used;
    bool full;
};

static void put(struct output *output, const char *text, size_t length)
{
    output->full = output->full || output->used + length >= ARGUMENT_BYTES;
    if (output->full)
        return;
    memcpy(output->text + output->used, text, length);
    output->used += length;
}

static bool is_plain(const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && strchr("_./:@%+,=-", *at) == NULL)
            return false;
    }
    return true;
}

static void put_quoted(struct output *output, char inner, const char *value)
{
    const bool in_double = inner == '"', bare = !in_double && inner != '\'';
    if (bare)
        put(output, "'", 1);
    for (const char *at = value; *at != '\0'; at++) {
        if (in_double && strchr("\\\"$`", *at) != NULL)
            put(output, "\\", 1);
        if (!in_double && *at == '\'')
            put(output, "'\\''", 4);
        else
            put(output, at, 1);
    }
    if (bare)
        put(output, "'", 1);
}

/* In backquotes a second level of backslashes would be needed, so only plain values are allowed there. */
static enum rig_rc put_in_script(struct output *output, const struct script *script, const char *value,
                                 struct rig_err *err)
{
    const bool backquoted = memchr(script->open, '`', script->depth) != NULL;
    if (is_plain(value)) {
        put(output, value, strlen(value));
        return RIG_OK;
    }
    if (backquoted || script->lost)
        return rig_fail(err, RIG_E_CLUSTER,
                        "%s cannot be quoted inside backquotes or deep nesting: write $(...) or use a RIG_NODE_ "
                        "variable",
                        value);
    put_quoted(output, innermost(script), value);
    return RIG_OK;
}

static enum rig_rc expand_one(const char *text, bool is_script, const struct rig_place *place, struct output *output,
                              struct rig_err *err)
{
    struct script script = {.depth = 0};
    enum rig_rc rc = require_in(text, place, err);
    for (const char *at = text; *at != '\0' && rc == RIG_OK;) {
        const enum rig_placeholder found = placeholder_at(text, at);
        if (found == RIG_PLACEHOLDER_COUNT) {
            const size_t length = is_script ? step(&script, text, at) : 1;
            put(output, at, length);
            at += length;
            continue;
        }
        if (is_script)
            rc = put_in_script(output, &script, place->at[found], err);
        else
            put(output, place->at[found], strlen(place->at[found]));
        at += strlen(names[found]) + 2;
    }
    if (rc == RIG_OK && output->full)
        return rig_fail(err, RIG_E_CLUSTER, "a command has an argument longer than %d bytes", ARGUMENT_BYTES - 1);
    return rc;
}

enum rig_rc rig_placeholder_expand(const struct rig_text_list *arguments, const struct rig_place *place,
                                   struct rig_arena *arena, const char *const **expanded, struct rig_err *err)
{
    const char **made = rig_arena_array(arena, arguments->count + 1, sizeof *made);
    char *room = rig_arena_alloc(arena, ARGUMENT_BYTES);
    if (made == NULL || room == NULL)
        return rig_no_memory(err, "a command");
    const size_t script = find_script(arguments);
    for (size_t i = 0; i < arguments->count; i++) {
        struct output output = {.text = room};
        made[i] = arguments->at[i];
        if (place == NULL)
            continue;
        const enum rig_rc rc = expand_one(arguments->at[i], i == script, place, &output, err);
        if (rc != RIG_OK)
            return rc;
        made[i] = rig_arena_text(arena, room, output.used);
        if (made[i] == NULL)
            return rig_no_memory(err, "a command");
    }
    made[arguments->count] = NULL;
    *expanded = made;
    return RIG_OK;
}

/* -- the environment ----------------------------------------------------------------------------------------------- */

char *rig_placeholder_variable(const struct rig_place *place, enum rig_placeholder placeholder, struct rig_arena *arena)
{
    char text[RIG_PLACE_BYTES + WORD_BYTES];
    if (place->at[placeholder][0] == '\0')
        return NULL;
    const int length = snprintf(text, sizeof text, "%s=%s", variables[placeholder], place->at[placeholder]);
    return rig_arena_text(arena, text, (size_t)length);
}

/* Whether rig gives the variable `NAME=value` itself, or none of its name. */
static bool is_own(const char *variable)
{
    for (int i = 0; i < RIG_PLACEHOLDER_COUNT; i++) {
        const size_t length = strlen(variables[i]);
        if (strncmp(variable, variables[i], length) == 0 && variable[length] == '=')
            return true;
    }
    return false;
}

char **rig_placeholder_environment(const struct rig_place *place, struct rig_arena *arena)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **made = rig_arena_array(arena, count + RIG_PLACEHOLDER_COUNT + 1, sizeof *made);
    if (made == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_own(environ[i]))
            made[kept++] = environ[i];
    }
    for (int i = 0; place != NULL && i < RIG_PLACEHOLDER_COUNT; i++) {
        char *variable = rig_placeholder_variable(place, (enum rig_placeholder)i, arena);
        if (variable == NULL && place->at[i][0] != '\0')
            return NULL;
        if (variable != NULL)
            made[kept++] = variable;
    }
    made[kept] = NULL;
    return made;
}
