/*
 * Secrets: texts that no log, stored plan, history or report may show.
 *
 * Code that reads a secret (an option of type secret, a header, a conninfo's password, an expanded environment
 * variable) registers it; code that writes a text from a server or a command passes it through rig_secret_redact().
 * Texts shorter than 4 bytes are not registered: hiding them would mangle unrelated text.
 *
 * A secret is found as it is, and as programs encode it when they echo it: percent-encoded, with the escapes of JSON,
 * YAML, SQL and XML, in hexadecimal, and in base64, also in the middle of a longer encoded text. Where a text fills its
 * buffer (of 128 bytes or more), its end may be truncated: 4 bytes of a secret are hidden there, too.
 *
 * Time: O(size * secrets) comparisons that mostly end at their first byte. Threads: any; redaction takes no lock.
 * Secrets are never forgotten.
 */
#ifndef RIG_BASE_SECRET_H
#define RIG_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The forms in which programs show a secret: as it is, escaped, in hexadecimal, in base64.
 */

enum { RIG_SECRET_SHIFTS = 3 }; /* base64: where in a group of three bytes the secret starts */

struct rig_secret_forms {
    char *text;
    size_t length;
    char *base64[RIG_SECRET_SHIFTS]; /* the characters that hold only bits of the secret */
    bool goes_on[RIG_SECRET_SHIFTS]; /* one more character holds the last bits of the secret */
};

void rig_secret_forms_free(struct rig_secret_forms *forms);

#define RIG_SECRET_MASK "***"

/* Copies `text`. False when RIG_SECRET_MAX are kept already, or memory runs out: then it is not hidden. */
enum { RIG_SECRET_MAX = 256, RIG_SECRET_SHORTEST = 4 /* bytes */ };
bool rig_secret_register(const char *text);
/* Replaces every registered secret inside `text` (NUL-ended, at most `size` bytes) by the mask, in place; if one
 * secret contains another, the longer one counts. */
void rig_secret_redact(char *text, size_t size);

#endif
