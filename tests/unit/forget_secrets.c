#include "tests/unit/forget_secrets.h"

#include <stdint.h>

#include "base/secret.c"

void forget_secrets(void)
{
    const struct secret_set *set = atomic_exchange(&newest, NULL);
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        rig_secret_forms_free(set->forms[i]);
        free(set->forms[i]);
    }
    while (set != NULL) {
        const struct secret_set *older = set->older;
        free((void *)(uintptr_t)set);
        set = older;
    }
}
