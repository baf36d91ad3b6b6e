#include <string.h>

#include "checker/judge/stream/retired_private.h"

static uint64_t average_last(const struct rig_key_pages *pages)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pages->pages.count; i++)
        sum += pages->pages.at[i].last;
    return pages->pages.count == 0 ? 0 : sum / pages->pages.count;
}

/* Keeps only the names of its keys, as used. */
static bool keep_names(struct rig_retired *retired, const struct rig_key_page *page)
{
    const bool are_texts = retired->texts.count > 0;
    bool fits = true;
    for (uint64_t i = 0; fits && i < RIG_PAGE_KEYS; i++) {
        uint64_t name = page->number * RIG_PAGE_KEYS + i;
        const char *text = are_texts ? retired->texts.texts[name] : NULL;
        if ((page->held >> i & 1U) != 0)
            fits = rig_key_set_add(&retired->forgotten, (int64_t)name, text, text == NULL ? 0 : strlen(text));
    }
    return fits;
}

/* Forgets the pages that changed earlier than the average: most keys that are used again are used again soon. */
static bool forget_pages(struct rig_retired *retired)
{
    struct rig_key_pages *pages = &retired->resting;
    const uint64_t average = average_last(pages);
    for (size_t i = pages->pages.count; i-- > 0;) {
        if (pages->pages.at[i].last <= average) {
            if (!keep_names(retired, &pages->pages.at[i]))
                return false;
            rig_key_pages_remove_page(pages, i);
        }
    }
    rig_key_pages_fit(pages);
    return true;
}

/* ---- texts of the remaining keys ---- */

/* New names of text keys after the texts of forgotten ones are freed. */
struct renaming {
    const struct rig_retired *from;
    struct rig_text_table texts;
    struct rig_table ids;
    struct rig_key_pages resting;
};

static bool rename_key(struct renaming *to, uint64_t name, uint64_t *renamed)
{
    const char *text = to->from->texts.texts[name];
    *renamed = rig_text_table_put(&to->texts, text, strlen(text));
    return *renamed != RIG_TABLE_NONE;
}

static bool rename_page(struct renaming *to, const struct rig_key_page *page)
{
    uint64_t renamed;
    size_t length;
    bool fits = true;
    for (uint64_t i = 0; fits && i < RIG_PAGE_KEYS; i++) {
        uint64_t name = page->number * RIG_PAGE_KEYS + i;
        const uint8_t *packed = rig_key_pages_get(&to->from->resting, name, &length);
        fits = packed == NULL ||
               (rename_key(to, name, &renamed) && rig_key_pages_put(&to->resting, renamed, packed, length, page->last));
    }
    return fits;
}

static bool rename_all(struct renaming *to)
{
    const struct rig_retired *from = to->from;
    bool fits = true;
    for (size_t i = 0; fits && i < from->keys.count; i++) {
        uint64_t renamed;
        fits = rename_key(to, from->keys.at[i].name, &renamed);
        uint32_t *id = fits ? rig_table_put(&to->ids, renamed) : NULL;
        fits = id != NULL;
        if (fits)
            *id = (uint32_t)i;
    }
    for (size_t i = 0; fits && i < from->resting.pages.count; i++)
        fits = rename_page(to, &from->resting.pages.at[i]);
    return fits;
}

/* Frees the texts of forgotten keys; keeps them when memory runs out. */
static bool drop_texts(struct rig_retired *retired)
{
    struct renaming to = {.from = retired};
    rig_text_table_init(&to.texts, 0);
    rig_table_init(&to.ids);
    bool fits = rename_all(&to);
    for (size_t i = 0; fits && i < retired->keys.count; i++)
        fits = rename_key(&to, retired->keys.at[i].name, &retired->keys.at[i].name);
    struct rig_text_table texts = fits ? retired->texts : to.texts;
    struct rig_table ids = fits ? retired->ids : to.ids;
    struct rig_key_pages replaced = fits ? retired->resting : to.resting;
    if (fits) {
        retired->texts = to.texts;
        retired->ids = to.ids;
        retired->resting = to.resting;
    }
    rig_text_table_done(&texts);
    rig_table_done(&ids);
    rig_key_pages_done(&replaced);
    return fits;
}

bool rig_retired_forget(struct rig_retired *retired)
{
    bool fits = forget_pages(retired);
    retired->any_forgotten = true;
    return rig_key_set_settle(&retired->forgotten) && fits && (retired->texts.count == 0 || drop_texts(retired));
}
