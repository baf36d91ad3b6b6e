/*
 * Where a text holds a secret: passwords in connection strings (`password=...`, also quoted, and any key that ends so),
 * in URLs (`scheme://user:password@host`) and in JSON, header lines (`Authorization: ...`), and arguments of commands
 * (`curl -u user:password`, `--token ...`). When in doubt more is hidden, not less.
 *
 * Time: O(length) a call. Threads: any.
 */
#ifndef RIG_BASE_PASSWORD_H
#define RIG_BASE_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct rig_password_span {
    size_t start, length; /* bytes; with the quotes of a quoted one */
};

enum rig_password_place {
    RIG_PASSWORD_TEXT,     /* any text */
    RIG_PASSWORD_HEADER,   /* `Name: value`: each value, except those of headers that never hold a secret */
    RIG_PASSWORD_ARGUMENT, /* of a command; a line for a shell, too */
};

/* Where a text stands. Borrows the arguments before it. */
struct rig_password_context {
    enum rig_password_place place;
    const char *const *before; /* RIG_PASSWORD_ARGUMENT: the program and its arguments so far */
    size_t before_count;
};

/* The first secret in `text` that ends after `from`, without the part before `from`; false when there is none.
 * `context`: NULL for any text. */
bool rig_password_find(const struct rig_password_context *context, const char *text, size_t from,
                       struct rig_password_span *span);
/* Registers every secret in `text` (base/secret.h), as written and decoded; false when there is no room left. */
bool rig_password_register(const struct rig_password_context *context, const char *text);
/* Writes `text` with its secrets masked. */
void rig_password_mask(const struct rig_password_context *context, const char *text, struct rig_buf *out);
/* True when a key or a variable of this name holds something that must not be shown, whatever its option says. */
bool rig_password_is_key(const char *key);

#endif
