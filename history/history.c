#include "history/history.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "history/history_storage.h"

void rig_history_free(struct rig_history *history)
{
    if (history == NULL)
        return;
    struct rig_history_storage *storage = history->storage;
    if (storage != NULL) {
        free(storage->elements);
        rig_list_pool_done(&storage->pool);
        rig_text_table_done(&storage->key_texts);
        rig_text_table_done(&storage->errors);
        free(storage);
    }
    free(history->txns);
    free(history->ops);
    free(history->spines);
    free(history->lists);
    free(history->keys);
    free(history->meta);
    free(history);
}

void rig_history_key_text(const struct rig_history *history, uint32_t key, char *text, size_t size)
{
    RIG_REQUIRE(key < history->key_count && size >= 24);
    int64_t number = history->keys[key];
    if (history->key_texts == NULL)
        (void)snprintf(text, size, "%lld", (long long)number);
    else
        (void)snprintf(text, size, "%s%s", history->keyword_keys ? ":" : "", history->key_texts[number]);
}
