#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { SHORTEST = 4 };

static char *secrets[RIG_SECRET_MAX];
static size_t secret_count;

bool rig_secret_register(const char *text)
{
    if (text == NULL || strlen(text) < SHORTEST)
        return true;
    /* Longest first, so that a secret within another one does not leave the rest of that one uncovered. */
    const size_t length = strlen(text);
    size_t at = 0;
    for (; at < secret_count && strlen(secrets[at]) >= length; at++) {
        if (strcmp(secrets[at], text) == 0)
            return true;
    }
    char *copy = secret_count < RIG_SECRET_MAX ? strdup(text) : NULL;
    if (copy == NULL)
        return false;
    memmove(&secrets[at + 1], &secrets[at], (secret_count - at) * sizeof secrets[0]);
    secrets[at] = copy;
    secret_count++;
    return true;
}

static void redact_one(char *text, const char *secret)
{
    size_t length = strlen(secret);
    const size_t mask_length = sizeof RIG_SECRET_MASK - 1;
    for (char *found = strstr(text, secret); found != NULL; found = strstr(found + mask_length, secret)) {
        /* The mask is never longer than a secret, so the text only shrinks. */
        memcpy(found, RIG_SECRET_MASK, mask_length);
        memmove(found + mask_length, found + length, strlen(found + length) + 1);
    }
}

void rig_secret_redact(char *text, size_t size)
{
    RIG_REQUIRE(memchr(text, '\0', size) != NULL);
    for (size_t i = 0; i < secret_count; i++)
        redact_one(text, secrets[i]);
}

void rig_secret_forget(void)
{
    for (size_t i = 0; i < secret_count; i++)
        free(secrets[i]);
    secret_count = 0;
}
