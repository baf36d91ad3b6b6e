/*
 * Texts of a plan: variables of the environment, and the passwords inside texts.
 *
 * `${NAME}` stands for the variable's value, `${NAME:-default}` for the default when it is unset or empty, `$$` for one
 * `$`; any other `$` stands for itself. Passwords are recognised in connection strings (`password=...`, also quoted,
 * and any key that ends so) and in URLs (`scheme://user:password@host`). When in doubt more is hidden, not less.
 *
 * Private to runner/.
 */
#ifndef RIG_RUNNER_PLAN_TEXT_H
#define RIG_RUNNER_PLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Gives the expanded text, from the arena or `text` itself when there is nothing to expand. The error has no place. */
enum rig_rc rig_plan_expand(struct rig_arena *arena, const char *text, const char **expanded, struct rig_err *err);

struct rig_password_span {
    size_t start, length; /* bytes; with the quotes of a quoted one */
};

/* The first password in `text` that starts at `from` or behind it; false when there is none. */
bool rig_password_find(const char *text, size_t from, struct rig_password_span *span);
/* Registers every password in `text`, as written and as it is meant, as a secret; false when there is no room left. */
bool rig_password_register(const char *text);
/* Writes `text` with its passwords masked. */
void rig_password_mask(const char *text, struct rig_buf *out);
/* True when a key of this name holds something that must not be shown, whatever its option says. */
bool rig_password_is_key(const char *key);

#endif
