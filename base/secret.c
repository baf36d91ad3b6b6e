#include "base/secret.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/secret_forms.h"

/* A text that fills its buffer except for these bytes may have been truncated. */
enum { CUT_LEAST_BYTES = 128, CUT_SLACK_BYTES = 8 };

/* All secrets at one moment. A set is immutable: threads read it without a lock, and a new secret makes a new set.
 * Older sets are kept, because a thread may still read them. */
struct secret_set {
    const struct secret_set *older;
    bool starts[256]; /* the bytes that a secret may start with, in any of its forms */
    size_t count;
    struct rig_secret_forms *forms[]; /* longest first, so that no part of one stays visible */
};

static _Atomic(const struct secret_set *) newest; /* NULL: there is none */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;

/* The set with one more secret at place `at`; NULL when memory runs out. */
static struct secret_set *extend(const struct secret_set *set, size_t at, const char *text, size_t length)
{
    const size_t count = set == NULL ? 0 : set->count;
    struct secret_set *made = calloc(1, sizeof *made + (count + 1) * sizeof made->forms[0]);
    struct rig_secret_forms *forms = calloc(1, sizeof *forms);
    if (made == NULL || forms == NULL || !rig_secret_forms_make(forms, text, length)) {
        free(made);
        free(forms);
        return NULL;
    }
    if (set != NULL)
        memcpy(made->starts, set->starts, sizeof made->starts);
    rig_secret_forms_starts(forms, made->starts);
    for (size_t i = 0; i < count; i++)
        made->forms[i < at ? i : i + 1] = set->forms[i];
    made->forms[at] = forms;
    made->count = count + 1;
    made->older = set;
    return made;
}

static bool add(const char *text, size_t length)
{
    const struct secret_set *set = atomic_load(&newest);
    const size_t count = set == NULL ? 0 : set->count;
    size_t at = 0;
    for (; at < count && set->forms[at]->length >= length; at++) {
        if (strcmp(set->forms[at]->text, text) == 0)
            return true;
    }
    const struct secret_set *made = count == RIG_SECRET_MAX ? NULL : extend(set, at, text, length);
    if (made != NULL)
        atomic_store(&newest, made);
    return made != NULL;
}

bool rig_secret_register(const char *text)
{
    if (text == NULL || strlen(text) < RIG_SECRET_SHORTEST)
        return true;
    pthread_mutex_lock(&register_lock);
    const bool added = add(text, strlen(text));
    pthread_mutex_unlock(&register_lock);
    return added;
}

/* The longest piece at the start of `text` that shows a secret; 0: none. */
static size_t shown_at(const struct secret_set *set, const char *text, bool is_cut, bool *inside_base64)
{
    size_t longest = 0;
    for (size_t i = 0; i < set->count; i++) {
        bool inside = false;
        const size_t length = rig_secret_forms_match(set->forms[i], text, is_cut, &inside);
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
    const struct secret_set *set = atomic_load_explicit(&newest, memory_order_acquire);
    if (set == NULL)
        return;
    static const size_t mask_length = sizeof RIG_SECRET_MASK - 1;
    const bool is_cut = size >= CUT_LEAST_BYTES && strlen(text) + CUT_SLACK_BYTES >= size;
    char *to = text;
    const char *kept_from = text; /* behind the last mask */
    for (const char *at = text; *at != '\0';) {
        bool inside_base64 = false;
        const size_t length = set->starts[(unsigned char)*at] ? shown_at(set, at, is_cut, &inside_base64) : 0;
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
