#include "history/history.h"

#include <stdio.h>

#include "base/bug.h"

void rig_history_key_text(const struct rig_history *history, uint32_t key, char *text, size_t size)
{
    RIG_REQUIRE(key < history->key_count && size >= 24);
    int64_t number = history->keys[key];
    if (history->key_texts == NULL)
        (void)snprintf(text, size, "%lld", (long long)number);
    else
        (void)snprintf(text, size, "%s%s", history->keyword_keys ? ":" : "", history->key_texts[number]);
}
