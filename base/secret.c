#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { SHORTEST = 4 };

static char *secrets[RIG_SECRET_MAX];
static size_t secret_count;

void rig_secret_register(const char *text)
{
    if (text == NULL || strlen(text) < SHORTEST)
        return;
    for (size_t i = 0; i < secret_count; i++) {
        if (strcmp(secrets[i], text) == 0)
            return;
    }
    RIG_REQUIRE(secret_count < RIG_SECRET_MAX);
    char *copy = strdup(text);
    RIG_REQUIRE(copy != NULL);
    /* Longest first: a secret that is part of another must not break it up before it is found. */
    size_t at = secret_count++;
    for (; at > 0 && strlen(secrets[at - 1]) < strlen(copy); at--)
        secrets[at] = secrets[at - 1];
    secrets[at] = copy;
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
