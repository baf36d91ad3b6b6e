#include "checker/judge/stream/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/text/text_table.h"

/* The note of a key: the number of transactions complete at the end of the segment that used it last; or: */
enum { UNUSED = 0, PAGE_BITS = 3, PAGE_KEYS = 1 << PAGE_BITS };
static const uint32_t never_done = UINT32_MAX - 1; /* below RIG_TABLE_NONE */

/* Keys that are consecutive numbers share a place in the table. */
struct census_page {
    uint32_t last[PAGE_KEYS];
};

RIG_VEC(struct census_page, census_pages)

struct rig_census {
    uint64_t txn_count; /* complete ones so far */
    struct rig_table page_ids;
    struct census_pages pages;
    struct rig_table texts; /* hash of a text -> last use */
};

struct rig_census *rig_census_new(void)
{
    struct rig_census *census = calloc(1, sizeof *census);
    if (census == NULL)
        return NULL;
    rig_table_init(&census->page_ids);
    rig_table_init(&census->texts);
    return census;
}

void rig_census_free(struct rig_census *census)
{
    if (census == NULL)
        return;
    rig_table_done(&census->page_ids);
    rig_table_done(&census->texts);
    census_pages_done(&census->pages);
    free(census);
}

size_t rig_census_bytes(const struct rig_census *census)
{
    return (census->page_ids.slot_count + census->texts.slot_count) * (sizeof(uint64_t) + sizeof(uint32_t)) +
           census->pages.capacity * sizeof(struct census_page);
}

static uint32_t *place_of_number(struct rig_census *census, int64_t key)
{
    uint32_t *id = rig_table_put(&census->page_ids, (uint64_t)key >> PAGE_BITS);
    if (id == NULL)
        return NULL;
    if (*id == RIG_TABLE_NONE) {
        if (census->pages.count >= RIG_TABLE_NONE || !census_pages_add(&census->pages, (struct census_page){{UNUSED}}))
            return NULL;
        *id = (uint32_t)(census->pages.count - 1);
    }
    return &census->pages.at[*id].last[(uint64_t)key & (PAGE_KEYS - 1)];
}

static bool note(struct rig_census *census, const struct rig_segment_key *key, uint32_t last)
{
    uint32_t *place = key->text == NULL ? place_of_number(census, key->key)
                                        : rig_table_put(&census->texts, rig_text_hash(key->text, key->text_length));
    if (place == NULL)
        return false;
    *place = last;
    return true;
}

bool rig_census_put(struct rig_census *census, int64_t key, uint32_t last)
{
    uint32_t *place = place_of_number(census, key);
    if (place != NULL)
        *place = last < never_done ? last : never_done;
    return place != NULL;
}

/* Open transactions stand last: every segment repeats them until they complete. */
bool rig_census_note(struct rig_census *census, const struct rig_segment *segment)
{
    bool fits = true;
    census->txn_count += segment->txns.count;
    uint32_t now = census->txn_count < never_done ? (uint32_t)census->txn_count : never_done;
    for (size_t i = 0; fits && i < segment->keys.count; i++)
        fits = note(census, &segment->keys.at[i], now);
    for (size_t i = 0; fits && i < segment->open_ops.count; i++) {
        RIG_REQUIRE(segment->open_ops.at[i].key < segment->keys.count);
        fits = note(census, &segment->keys.at[segment->open_ops.at[i].key], never_done);
    }
    return fits;
}

bool rig_census_is_used_after(const struct rig_census *census, const struct rig_history *history, uint32_t key,
                              uint64_t txn_count)
{
    uint32_t last = RIG_TABLE_NONE;
    int64_t name = history->keys[key];
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        last = rig_table_get(&census->texts, rig_text_hash(text, strlen(text)));
    } else {
        uint32_t id = rig_table_get(&census->page_ids, (uint64_t)name >> PAGE_BITS);
        if (id != RIG_TABLE_NONE)
            last = census->pages.at[id].last[(uint64_t)name & (PAGE_KEYS - 1)];
    }
    return last == RIG_TABLE_NONE || last == UNUSED || last > txn_count;
}
