/*
 * The forms in which programs show a secret: as it is, escaped, in hexadecimal, in base64.
 *
 * Private to base/secret.c, and to its test.
 */
#ifndef RIG_BASE_SECRET_FORMS_H
#define RIG_BASE_SECRET_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/secret.h"

enum { RIG_SECRET_SHIFTS = 3 }; /* base64: where in a group of three bytes the secret starts */

struct rig_secret_forms {
    char *text;
    size_t length;
    char *base64[RIG_SECRET_SHIFTS]; /* the characters that hold only bits of the secret */
    bool goes_on[RIG_SECRET_SHIFTS]; /* one more character holds the last bits of the secret */
};

/* Copies `text`. False without memory. */
bool rig_secret_forms_make(struct rig_secret_forms *forms, const char *text, size_t length);
void rig_secret_forms_free(struct rig_secret_forms *forms);
/* Sets the bytes that a form of the secret may start with. */
void rig_secret_forms_starts(const struct rig_secret_forms *forms, bool starts[256]);
/*
 * The number of bytes at the start of `text` that show the secret in any form; 0: none do. `inside_base64`: the
 * character before them, if there is one, shows some of its bits. `is_cut`: the text may end within a secret.
 */
size_t rig_secret_forms_match(const struct rig_secret_forms *forms, const char *text, bool is_cut, bool *inside_base64);

#endif
