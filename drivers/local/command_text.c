#include "drivers/local/command_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

enum { WORD_BYTES = 24, NUMBER_DIGITS_MOST = 3 };

#define WORD_NAME(value, name) name,
static const char *const names[] = {RIG_COMMAND_WORD_TABLE(WORD_NAME) NULL};
#undef WORD_NAME

/* The word behind the brace, and the number behind its colon. `*length`: with both braces; 0: it is no such word. */
static void read_word(const char *brace, char word[static WORD_BYTES], unsigned *node, size_t *length)
{
    const size_t size = strspn(brace + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
    const char *rest = brace + 1 + size;
    size_t digits = 0;
    *length = 0;
    *node = 0;
    if (size == 0 || size >= WORD_BYTES)
        return;
    (void)snprintf(word, WORD_BYTES, "%.*s", (int)size, brace + 1);
    if (*rest == ':') {
        digits = strspn(rest + 1, "0123456789");
        if (digits == 0 || digits > NUMBER_DIGITS_MOST)
            return;
        *node = (unsigned)strtoul(rest + 1, NULL, 10);
        rest += 1 + digits;
        if (*node == 0)
            *node = UINT16_MAX; /* node 0: there is no such node */
    }
    if (*rest == '}')
        *length = (size_t)(rest - brace) + 1;
}

static bool find_word(const char *word, enum rig_command_word *found)
{
    for (int i = 0; i < RIG_COMMAND_WORD_COUNT; i++) {
        if (strcmp(word, names[i]) == 0) {
            *found = (enum rig_command_word)i;
            return true;
        }
    }
    return false;
}

/* `${port}` is the shell's. */
static const char *next_brace(const char *text, const char *from)
{
    const char *brace = strchr(from, '{');
    while (brace != NULL && brace > text && brace[-1] == '$')
        brace = strchr(brace + 1, '{');
    return brace;
}

bool rig_command_text_next(const char *text, struct rig_command_placeholder *placeholder)
{
    for (const char *brace = next_brace(text, text); brace != NULL; brace = next_brace(text, brace + 1)) {
        char word[WORD_BYTES];
        struct rig_command_placeholder found = {.at = brace};
        read_word(brace, word, &found.node, &found.length);
        if (found.length > 0 && find_word(word, &found.word)) {
            *placeholder = found;
            return true;
        }
    }
    return false;
}

enum rig_rc rig_command_text_check(const char *key, const char *text, unsigned nodes, struct rig_err *err)
{
    const char *brace = text == NULL ? NULL : next_brace(text, text);
    for (; brace != NULL; brace = next_brace(text, brace + 1)) {
        char word[WORD_BYTES];
        unsigned node;
        size_t length;
        enum rig_command_word found;
        read_word(brace, word, &node, &length);
        if (length == 0)
            continue;
        if (!find_word(word, &found)) {
            const char *nearest = rig_nearest_of(word, names);
            if (nearest == NULL)
                continue;
            return rig_fail(err, RIG_E_PLAN, "`%s`: there is no placeholder {%s}; did you mean {%s}?", key, word,
                            nearest);
        }
        if (node > nodes)
            return rig_fail(err, RIG_E_PLAN, "`%s`: %.*s: nodes are numbered from 1 to %u (`cluster.local.nodes`)", key,
                            (int)length, brace, nodes);
        if (node > 0 && (found == RIG_COMMAND_PRIMARY || found == RIG_COMMAND_NUMBER))
            return rig_fail(err, RIG_E_PLAN, "`%s`: {%s} takes no number", key, word);
    }
    return RIG_OK;
}

enum rig_rc rig_command_list_check(const char *key, const struct rig_text_list *list, unsigned nodes,
                                   struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < list->count && rc == RIG_OK; i++)
        rc = rig_command_text_check(key, list->at[i], nodes, err);
    return rc;
}

enum rig_rc rig_command_text_fill(const char *text,
                                  enum rig_rc (*put)(const void *context, const struct rig_command_placeholder *found,
                                                     struct rig_buf *out, struct rig_err *err),
                                  const void *context, struct rig_buf *out, struct rig_err *err)
{
    struct rig_command_placeholder found;
    const char *from = text;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && rig_command_text_next(from, &found)) {
        rig_buf_add(out, from, (size_t)(found.at - from));
        rc = put(context, &found, out, err);
        from = found.at + found.length;
    }
    rig_buf_add_text(out, from);
    if (rc == RIG_OK && out->failed)
        return rig_no_memory(err, "a command");
    return rc;
}

bool rig_command_text_is_plain(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,=@%:-")] == '\0';
}

bool rig_command_text_is_routed(const char *text)
{
    struct rig_command_placeholder found;
    bool routed = false;
    for (const char *from = text; rig_command_text_next(from, &found); from = found.at + found.length) {
        routed |= found.word == RIG_COMMAND_PORT;
        if (found.word == RIG_COMMAND_DATA || found.word == RIG_COMMAND_DIR || found.word == RIG_COMMAND_PORT2 ||
            found.word == RIG_COMMAND_PORT3)
            return false;
    }
    return routed;
}
