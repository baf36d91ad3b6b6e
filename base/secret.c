#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/secret_forms.h"

/* A text that fills its buffer but for these was cut to fit, perhaps. */
enum { CUT_LEAST_BYTES = 128, CUT_SLACK_BYTES = 8 };

static struct rig_secret_forms secrets[RIG_SECRET_MAX];
static size_t secret_count;
static bool starts[256]; /* the bytes that a secret may start with, in any of its forms */

bool rig_secret_register(const char *text)
{
    if (text == NULL || strlen(text) < RIG_SECRET_SHORTEST)
        return true;
    /* Longest first, so that a secret within another one does not leave the rest of that one uncovered. */
    const size_t length = strlen(text);
    size_t at = 0;
    for (; at < secret_count && secrets[at].length >= length; at++) {
        if (strcmp(secrets[at].text, text) == 0)
            return true;
    }
    struct rig_secret_forms made;
    if (secret_count == RIG_SECRET_MAX || !rig_secret_forms_make(&made, text, length))
        return false;
    memmove(&secrets[at + 1], &secrets[at], (secret_count - at) * sizeof secrets[0]);
    secrets[at] = made;
    secret_count++;
    rig_secret_forms_starts(&made, starts);
    return true;
}

/* The longest piece at the start of `text` that shows a secret; 0: none. */
static size_t shown_at(const char *text, bool is_cut, bool *inside_base64)
{
    size_t longest = 0;
    for (size_t i = 0; i < secret_count; i++) {
        bool inside = false;
        const size_t length = rig_secret_forms_match(&secrets[i], text, is_cut, &inside);
        if (length > longest) {
            longest = length;
            *inside_base64 = inside;
        }
    }
    return longest;
}

void rig_secret_redact(char *text, size_t size)
{
    RIG_REQUIRE(memchr(text, '\0', size) != NULL);
    if (secret_count == 0)
        return;
    static const size_t mask_length = sizeof RIG_SECRET_MASK - 1;
    const bool is_cut = size >= CUT_LEAST_BYTES && strlen(text) + CUT_SLACK_BYTES >= size;
    char *to = text;
    const char *kept_from = text; /* behind the last mask */
    for (const char *at = text; *at != '\0';) {
        bool inside_base64 = false;
        const size_t length = starts[(unsigned char)*at] ? shown_at(at, is_cut, &inside_base64) : 0;
        if (length == 0) {
            *to++ = *at++;
            continue;
        }
        /* The character before holds the first bits of the secret's first byte. */
        if (inside_base64 && to > kept_from)
            to--;
        /* The mask is never longer than what shows a secret, so the text only shrinks. */
        memcpy(to, RIG_SECRET_MASK, mask_length);
        to += mask_length;
        kept_from = to;
        at += length;
    }
    *to = '\0';
}

void rig_secret_forget(void)
{
    for (size_t i = 0; i < secret_count; i++)
        rig_secret_forms_free(&secrets[i]);
    secret_count = 0;
    memset(starts, 0, sizeof starts);
}
