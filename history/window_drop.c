/* What a window forgets: rig_window_drop(). */
#include <string.h>

#include "base/bug.h"
#include "history/window_private.h"

/* So many texts are kept although nothing names them any more. */
enum { IDLE_TEXTS = 4096 };

/* Dense numbers for the keys and the whole lists that stay. */
static void number_what_stays(struct rig_window *window, const uint8_t *drop_key)
{
    uint32_t key_count = 0, list_count = 0;
    for (size_t i = 0; i < window->keys.count; i++) {
        RIG_REQUIRE(!drop_key[i] || !window->keys.at[i].is_open);
        window->key_map.at[i] = drop_key[i] ? RIG_WINDOW_NONE : key_count++;
    }
    for (size_t i = 0; i < window->lists.count; i++)
        window->list_map.at[i] = drop_key[window->lists.at[i].key] ? RIG_WINDOW_NONE : list_count++;
}

/* Renumbers the operations [from, end) that stay, moves them to `to`, and returns how many there are. */
static uint32_t keep_ops(struct rig_window *window, uint32_t from, uint32_t end, uint32_t to)
{
    uint32_t first = to;
    for (; from < end; from++) {
        struct rig_mop mop = window->ops.at[from];
        uint32_t key = window->key_map.at[mop.key];
        if (key == RIG_WINDOW_NONE)
            continue;
        if (rig_mop_reads_list(&mop))
            mop.list = rig_mop_is_whole(&mop) ? RIG_LIST_WHOLE | window->list_map.at[mop.list & ~RIG_LIST_WHOLE] : key;
        mop.key = key;
        window->ops.at[to++] = mop;
    }
    return to - first;
}

static void keep_txns(struct rig_window *window, const uint8_t *judged)
{
    uint32_t op_count = 0;
    size_t txn_count = 0;
    for (size_t i = 0; i < window->txns.count; i++) {
        struct rig_txn txn = window->txns.at[i];
        uint32_t end = i + 1 < window->txns.count ? window->txns.at[i + 1].first_op : (uint32_t)window->ops.count;
        uint32_t kept = keep_ops(window, txn.first_op, end, op_count);
        if (judged[i] != RIG_JUDGED_NOT)
            txn.judged = judged[i];
        RIG_REQUIRE(txn.judged != RIG_JUDGED_NOT || kept == end - txn.first_op);
        if (kept == 0 && txn.judged != RIG_JUDGED_NOT)
            continue;
        txn.first_op = op_count;
        op_count += kept;
        window->txns.at[txn_count++] = txn;
    }
    window->txns.count = txn_count;
    window->ops.count = op_count;
}

static void keep_lists(struct rig_window *window)
{
    size_t count = 0;
    for (size_t i = 0; i < window->lists.count; i++) {
        struct rig_window_list *list = &window->lists.at[i];
        if (window->list_map.at[i] == RIG_WINDOW_NONE) {
            rig_growing_list_release(&window->pool, &list->list);
            continue;
        }
        window->lists.at[count++] = (struct rig_window_list){window->key_map.at[list->key], list->list};
    }
    window->lists.count = count;
}

static void keep_keys(struct rig_window *window)
{
    size_t count = 0;
    for (size_t i = 0; i < window->keys.count; i++) {
        struct rig_window_key *key = &window->keys.at[i];
        if (window->key_map.at[i] == RIG_WINDOW_NONE) {
            rig_growing_list_release(&window->pool, &key->spine);
            continue;
        }
        if (key->last_whole != RIG_WINDOW_NONE)
            key->last_whole = window->list_map.at[key->last_whole];
        window->keys.at[count] = *key;
        window->names.at[count++] = window->names.at[i];
    }
    window->keys.count = window->names.count = count;
    for (size_t i = 0; i < window->open_ops.count; i++)
        window->open_ops.at[i].key = window->key_map.at[window->open_ops.at[i].key];
}

/* Texts of keys that are gone go too, once there are many. Without memory for it they stay. */
static void keep_key_texts(struct rig_window *window)
{
    struct rig_text_table *texts = &window->key_texts;
    if (texts->count / 2 < window->names.count + IDLE_TEXTS)
        return;
    struct rig_text_table kept;
    rig_text_table_init(&kept, window->limit_bytes);
    bool fits = true;
    for (size_t i = 0; i < window->names.count && fits; i++) {
        const char *text = texts->texts[window->names.at[i]];
        fits = rig_text_table_put(&kept, text, strlen(text)) == i;
    }
    if (!fits) {
        rig_text_table_done(&kept);
        return;
    }
    for (size_t i = 0; i < window->names.count; i++)
        window->names.at[i] = (int64_t)i;
    rig_text_table_done(texts);
    *texts = kept;
}

/* The same for errors, which transactions name. */
static void keep_errors(struct rig_window *window)
{
    struct rig_text_table *errors = &window->errors;
    if (errors->count / 2 < window->txns.count + IDLE_TEXTS)
        return;
    struct rig_text_table kept;
    rig_text_table_init(&kept, window->limit_bytes);
    bool fits = true;
    for (size_t i = 0; i < window->txns.count && fits; i++) {
        const struct rig_txn *txn = &window->txns.at[i];
        const char *text = txn->error == 0 ? NULL : errors->texts[txn->error - 1];
        fits = text == NULL || rig_text_table_put(&kept, text, strlen(text)) != RIG_TABLE_NONE;
    }
    for (size_t i = 0; i < window->txns.count && fits; i++) {
        struct rig_txn *txn = &window->txns.at[i];
        const char *text = txn->error == 0 ? NULL : errors->texts[txn->error - 1];
        txn->error = text == NULL ? 0 : rig_text_table_get(&kept, text, strlen(text)) + 1;
    }
    rig_text_table_done(fits ? errors : &kept);
    if (fits)
        *errors = kept;
}

/* There is room: the table held more keys before. */
static void index_keys(struct rig_window *window)
{
    rig_table_clear(&window->key_ids);
    for (size_t i = 0; i < window->names.count; i++) {
        uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)window->names.at[i]);
        RIG_INVARIANT(id != NULL);
        *id = (uint32_t)i;
    }
}

void rig_window_drop(struct rig_window *window, const uint8_t *judged, const uint8_t *drop_key)
{
    RIG_REQUIRE(window->view.txn_count == window->txns.count && window->view.key_count == window->keys.count);
    number_what_stays(window, drop_key);
    keep_txns(window, judged);
    keep_lists(window);
    keep_keys(window);
    keep_key_texts(window);
    keep_errors(window);
    index_keys(window);
    window->view = (struct rig_history){0};
}
