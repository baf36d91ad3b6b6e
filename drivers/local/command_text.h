/*
 * Placeholders in the texts of a cluster that a command starts: `{port}` is the node's own port, `{port:2}` that of
 * node 2 as other nodes and clients reach it, and so on (docs/clusters.md has the list).
 *
 * A placeholder is a known name in braces, without blanks, perhaps with the number of a node. All other braces stay as
 * they are: `${VAR}`, `{ cmd; }`, awk's `{print}`. A word that is nearly a known name is rejected as a typing error.
 *
 * The values are names of folders, numbers and node names, without a character that a shell interprets; so the text of
 * a script needs no quoting for them. rig_command_text_is_plain() is asked of each folder.
 */
#ifndef RIG_DRIVERS_LOCAL_COMMAND_TEXT_H
#define RIG_DRIVERS_LOCAL_COMMAND_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"

/* X(value, name): those of a node, `{primary}` apart. */
#define RIG_COMMAND_WORD_TABLE(X)                                                                                      \
    X(NODE, "node")                                                                                                    \
    X(NUMBER, "number")                                                                                                \
    X(HOST, "host")                                                                                                    \
    X(PORT, "port")                                                                                                    \
    X(PORT2, "port2")                                                                                                  \
    X(PORT3, "port3")                                                                                                  \
    X(ANNOUNCED, "announced")                                                                                          \
    X(DATA, "data")                                                                                                    \
    X(DIR, "dir")                                                                                                      \
    X(LOG, "log")                                                                                                      \
    X(PRIMARY, "primary")

#define RIG_COMMAND_WORD_VALUE(value, name) RIG_COMMAND_##value,
enum rig_command_word { RIG_COMMAND_WORD_TABLE(RIG_COMMAND_WORD_VALUE) RIG_COMMAND_WORD_COUNT };
#undef RIG_COMMAND_WORD_VALUE

enum { RIG_COMMAND_PORTS_MOST = 3 };

/* One placeholder of a text. */
struct rig_command_placeholder {
    enum rig_command_word word;
    unsigned node;  /* from 1; 0: none is named */
    const char *at; /* its brace in the text */
    size_t length;  /* with both braces */
};

/* The first placeholder from `text` on; false: there is none. */
bool rig_command_text_next(const char *text, struct rig_command_placeholder *placeholder);
/* RIG_E_PLAN for a word in braces that is nearly a placeholder, and for a node above `nodes`. `key`: its name in the
 * plan. `text` may be NULL. */
enum rig_rc rig_command_text_check(const char *key, const char *text, unsigned nodes, struct rig_err *err);
enum rig_rc rig_command_list_check(const char *key, const struct rig_text_list *list, unsigned nodes,
                                   struct rig_err *err);
/* Adds the text with each placeholder replaced by what `put` adds for it. RIG_E_PLAN from `put`. */
enum rig_rc rig_command_text_fill(const char *text,
                                  enum rig_rc (*put)(const void *context, const struct rig_command_placeholder *found,
                                                     struct rig_buf *out, struct rig_err *err),
                                  const void *context, struct rig_buf *out, struct rig_err *err);
/* Whether clients with this text reach nodes by the ports that the proxy carries, and by no folder. */
bool rig_command_text_is_routed(const char *text);
/* Whether no shell interprets a character of it. */
bool rig_command_text_is_plain(const char *text);

#endif
