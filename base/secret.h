/*
 * Secrets: texts that no log, stored plan, history or report may show.
 *
 * Whoever learns a secret (the plan's reader, from an option of type secret, a conninfo's password or an expanded
 * environment variable) registers it; whoever writes text that an outsider composed passes it through
 * rig_secret_redact(). Texts shorter than 4 bytes are not registered: hiding them would mangle unrelated text.
 *
 * Threads: register while there is one thread; redact from any.
 */
#ifndef RIG_BASE_SECRET_H
#define RIG_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define RIG_SECRET_MASK "***"

/* Copies `text`. False when RIG_SECRET_MAX are kept already, or memory runs out: then it is not hidden. */
enum { RIG_SECRET_MAX = 256 };
bool rig_secret_register(const char *text);
/* Replaces every registered secret inside `text` (NUL-ended, at most `size` bytes) by the mask, in place; of secrets
 * that contain each other, the longer one. */
void rig_secret_redact(char *text, size_t size);
/* Forgets all; for tests. */
void rig_secret_forget(void);

#endif
