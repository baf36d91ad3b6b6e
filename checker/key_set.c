#include "checker/key_set.h"

#include "history/text/text_table.h"

enum { PAGE_BITS = 6, PAGE_KEYS = 1 << PAGE_BITS };

void rig_key_set_done(struct rig_key_set *set)
{
    rig_table_done(&set->pages);
    rig_key_set_words_done(&set->words);
    rig_table_done(&set->texts);
}

size_t rig_key_set_bytes(const struct rig_key_set *set)
{
    return (set->pages.slot_count + set->texts.slot_count) * (sizeof(uint64_t) + sizeof(uint32_t)) +
           set->words.capacity * sizeof(uint64_t);
}

bool rig_key_set_add(struct rig_key_set *set, int64_t number, const char *text, size_t length)
{
    uint32_t *place = text == NULL ? rig_table_put(&set->pages, (uint64_t)number >> PAGE_BITS)
                                   : rig_table_put(&set->texts, rig_text_hash(text, length));
    if (place == NULL)
        return false;
    if (text != NULL) {
        *place = 0;
        return true;
    }
    if (*place == RIG_TABLE_NONE) {
        if (set->words.count >= RIG_TABLE_NONE || !rig_key_set_words_add(&set->words, 0))
            return false;
        *place = (uint32_t)(set->words.count - 1);
    }
    set->words.at[*place] |= UINT64_C(1) << ((uint64_t)number & (PAGE_KEYS - 1));
    return true;
}

bool rig_key_set_has(const struct rig_key_set *set, int64_t number, const char *text, size_t length)
{
    if (text != NULL)
        return rig_table_get(&set->texts, rig_text_hash(text, length)) != RIG_TABLE_NONE;
    uint32_t word = rig_table_get(&set->pages, (uint64_t)number >> PAGE_BITS);
    return word != RIG_TABLE_NONE && (set->words.at[word] >> ((uint64_t)number & (PAGE_KEYS - 1)) & 1u) != 0;
}
