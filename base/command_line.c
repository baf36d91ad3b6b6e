#include "base/command_line.h"

#include <string.h>

#include "base/bug.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads the argument at `at` into `out` (NULL: only looks for its end). Returns the position after it, or NULL with
 * the problem. */
static const char *read_argument(const char *at, char *out, const char **problem)
{
    char quote = '\0';
    size_t length = 0;
    for (; *at != '\0' && (quote != '\0' || !is_blank(*at)); at++) {
        char c = *at;
        const bool escapes = quote == '\0' ? c == '\\' : quote == '"' && c == '\\' && (at[1] == '"' || at[1] == '\\');
        if (escapes) {
            if (at[1] == '\0') {
                *problem = "a backslash at the end escapes nothing";
                return NULL;
            }
            c = *++at;
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
            continue;
        } else if (quote != '\0' && c == quote) {
            quote = '\0';
            continue;
        }
        if (out != NULL)
            out[length] = c;
        length++;
    }
    if (quote != '\0') {
        *problem = "a quote is not closed";
        return NULL;
    }
    if (out != NULL)
        out[length] = '\0';
    return at;
}

enum rig_rc rig_command_line_split(struct rig_arena *arena, const char *text, struct rig_text_list *list,
                                   struct rig_err *err)
{
    const char *problem = NULL;
    size_t count = 0;
    const char *at = text;
    for (;;) {
        while (is_blank(*at))
            at++;
        if (*at == '\0')
            break;
        at = read_argument(at, NULL, &problem);
        if (at == NULL)
            return rig_fail(err, RIG_E_PLAN, "a command line cannot be split into arguments: %s", problem);
        count++;
    }
    if (count == 0)
        return rig_fail(err, RIG_E_PLAN, "expected a command: the program and its arguments");
    const char **arguments = rig_arena_array(arena, count, sizeof *arguments);
    char *room = rig_arena_alloc(arena, strlen(text) + count);
    if (arguments == NULL || room == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "a command of %zu arguments", count);
    at = text;
    for (size_t i = 0; i < count; i++) {
        while (is_blank(*at))
            at++;
        at = read_argument(at, room, &problem);
        RIG_INVARIANT(at != NULL);
        arguments[i] = room;
        room += strlen(room) + 1;
    }
    *list = (struct rig_text_list){.at = arguments, .count = count};
    return RIG_OK;
}

static bool is_plain(const char *argument)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+-=:,@{}";
    return argument[0] != '\0' && strspn(argument, allowed) == strlen(argument);
}

void rig_command_line_join(const char *const *arguments, size_t count, struct rig_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            rig_buf_add_char(out, ' ');
        if (is_plain(arguments[i])) {
            rig_buf_add_text(out, arguments[i]);
            continue;
        }
        rig_buf_add_char(out, '"');
        for (const char *at = arguments[i]; *at != '\0'; at++) {
            if (*at == '"' || *at == '\\')
                rig_buf_add_char(out, '\\');
            rig_buf_add_char(out, *at);
        }
        rig_buf_add_char(out, '"');
    }
}
