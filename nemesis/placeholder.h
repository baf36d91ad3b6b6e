/*
 * The node of a plan's command, as `{node}`, `{host}`, ... in its arguments and RIG_NODE_NAME, ... in its environment;
 * `{run}` and RIG_RUN_NAME are the run's name on the servers.
 *
 * A placeholder is a known name in braces, without blanks. All other braces stay as they are: `${VAR}`, `{ cmd; }`,
 * `{}`, `{a,b}`, awk's `{print}`. rig_placeholder_check() rejects a word in braces that is nearly a known name
 * (base/nearest.h) as a typing error; with blanks, `{ prot }`, it stays as it is.
 *
 * An argument needs no quoting, since a command runs without a shell. The script of `sh -c`, and of bash, su and the
 * like, does: a value with other characters than letters, digits and _./:@%+,=- is quoted for its place there, inside
 * or outside quotes and `$(...)`.
 *
 * Time: linear in the arguments. Threads: any.
 */
#ifndef RIG_NEMESIS_PLACEHOLDER_H
#define RIG_NEMESIS_PLACEHOLDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"

/* name in braces, variable */
#define RIG_PLACEHOLDER_TABLE(X)                                                                                       \
    X(NODE, "node", "RIG_NODE_NAME")                                                                                   \
    X(HOST, "host", "RIG_NODE_HOST")                                                                                   \
    X(PORT, "port", "RIG_NODE_PORT")                                                                                   \
    X(SOCKET, "socket", "RIG_NODE_SOCKET")                                                                             \
    X(DATA, "data", "RIG_NODE_DATA")                                                                                   \
    X(PID, "pid", "RIG_NODE_PID")                                                                                      \
    X(RUN, "run", "RIG_RUN_NAME")

#define RIG_PLACEHOLDER_VALUE(value, name, variable) RIG_PLACEHOLDER_##value,
enum rig_placeholder { RIG_PLACEHOLDER_TABLE(RIG_PLACEHOLDER_VALUE) RIG_PLACEHOLDER_COUNT };
#undef RIG_PLACEHOLDER_VALUE

enum { RIG_PLACE_BYTES = 1024 };

/* One node; an empty text: it has no such value. */
struct rig_place {
    char at[RIG_PLACEHOLDER_COUNT][RIG_PLACE_BYTES];
};

/* Whether an argument has a placeholder, or names a variable of the node. */
bool rig_placeholder_is_used(const struct rig_text_list *arguments);
/* Whether an argument has this placeholder or names its variable. */
bool rig_placeholder_names(const struct rig_text_list *arguments, enum rig_placeholder placeholder);
/* RIG_E_PLAN when one has a word in braces that is nearly a placeholder. `key`: the command's name in the plan. */
enum rig_rc rig_placeholder_check(const char *key, const struct rig_text_list *arguments, struct rig_err *err);
/* RIG_E_CLUSTER when the node lacks the value of a placeholder; the text lists the values that it has. */
enum rig_rc rig_placeholder_require(const struct rig_text_list *arguments, const struct rig_place *place,
                                    struct rig_err *err);
/* The arguments with all placeholders replaced, NULL-ended, in the arena. `place` NULL: unchanged. RIG_E_CLUSTER as
 * above, and when an argument is too long; RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_placeholder_expand(const struct rig_text_list *arguments, const struct rig_place *place,
                                   struct rig_arena *arena, const char *const **expanded, struct rig_err *err);
/* rig's environment with the node's variables and no others of these names, NULL-ended, in the arena; NULL when memory
 * runs out. `place` may be NULL. */
char **rig_placeholder_environment(const struct rig_place *place, struct rig_arena *arena);
/* "RIG_NODE_PORT=5432" in the arena; NULL when memory runs out, or the node has no such value. */
char *rig_placeholder_variable(const struct rig_place *place, enum rig_placeholder placeholder,
                               struct rig_arena *arena);

#endif
