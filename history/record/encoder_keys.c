#include "history/record/encoder_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* Bytes of a key in a checkpoint (name, value, length of the spine), and of an element of the spine. */
enum { KEY_BYTES = 6, ELEMENT_BYTES = 1 };

/* A key is in use for this many of its usual intervals, and events, after its last use. */
static const uint64_t idle_intervals = 16;
static const uint64_t idle_events = 1024;

void rig_encoder_keys_init(struct rig_encoder_keys *keys)
{
    *keys = (struct rig_encoder_keys){0};
    rig_table_init(&keys->entry_of_key);
    rig_list_pool_init(&keys->pool, 0);
}

void rig_encoder_keys_done(struct rig_encoder_keys *keys)
{
    rig_encoder_key_vec_done(&keys->entries);
    rig_encoder_id_vec_done(&keys->free_entries);
    rig_table_done(&keys->entry_of_key);
    rig_list_pool_done(&keys->pool);
}

static void note_recent(struct rig_encoder_keys *keys, int64_t key, uint32_t entry)
{
    keys->recent[(uint64_t)key % RIG_ENCODER_RECENT] = entry + 1;
}

uint32_t rig_encoder_keys_search(struct rig_encoder_keys *keys, int64_t key)
{
    uint32_t entry = rig_table_get(&keys->entry_of_key, (uint64_t)key);
    if (entry != RIG_TABLE_NONE)
        note_recent(keys, key, entry);
    return entry;
}

static bool map_key(struct rig_encoder_keys *keys, uint32_t index)
{
    uint32_t *place = rig_table_put(&keys->entry_of_key, (uint64_t)keys->entries.at[index].key);
    if (place != NULL)
        *place = index;
    return place != NULL;
}

uint32_t rig_encoder_keys_add(struct rig_encoder_keys *keys, int64_t key, uint64_t event)
{
    struct rig_encoder_key entry = {
        .key = key, .first_at = event, .used_at = event, .id = keys->next_id++, .live = true};
    uint32_t index = (uint32_t)keys->entries.count;
    if (keys->free_entries.count > 0) {
        index = keys->free_entries.at[--keys->free_entries.count];
        keys->entries.at[index] = entry;
    } else if (!rig_encoder_key_vec_add(&keys->entries, entry)) {
        keys->failed = true;
        return 0;
    }
    keys->live_count++;
    if (!map_key(keys, index))
        keys->failed = true;
    note_recent(keys, key, index);
    return index;
}

void rig_encoder_keys_follow(struct rig_encoder_keys *keys, struct rig_encoder_key *entry,
                             const struct rig_record_read *read, uint32_t shared)
{
    struct rig_growing_list *spine = &entry->spine;
    uint32_t more = read->count - shared;
    entry->origin = read->origin;
    entry->origin_count = read->origin_count;
    keys->spine_elements += read->count - spine->count;
    spine->count = shared;
    if (!rig_growing_list_reserve(&keys->pool, spine, more)) {
        keys->failed = true;
        return;
    }
    memcpy(spine->at + shared, (const char *)read->elements + shared * sizeof(int64_t), more * sizeof(int64_t));
    spine->count = read->count;
}

/* ---- Which keys a block starts with ---- */

static bool is_in_use(const struct rig_encoder_key *entry, uint64_t now, uint64_t most_idle)
{
    if (!entry->live || entry->open_count > 0)
        return entry->live;
    uint64_t idle = now - entry->used_at;
    uint64_t interval = entry->use_count > 1 ? (entry->used_at - entry->first_at) / (entry->use_count - 1) : 0;
    return !entry->left && idle <= most_idle && idle <= idle_intervals * interval + idle_events;
}

static size_t likely_bytes(const struct rig_encoder_keys *keys, uint64_t now, uint64_t most_idle)
{
    size_t bytes = 0;
    for (size_t i = 0; i < keys->entries.count; i++) {
        const struct rig_encoder_key *entry = &keys->entries.at[i];
        if (is_in_use(entry, now, most_idle))
            bytes += KEY_BYTES + (size_t)entry->spine.count * ELEMENT_BYTES;
    }
    return bytes;
}

static int compare_items(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The entries that are in use, by their ids. */
static bool gather(const struct rig_encoder_keys *keys, uint64_t now, uint64_t most_idle,
                   struct rig_encoder_id_vec *kept)
{
    uint64_t *items = malloc((keys->entries.count + 1) * sizeof *items);
    bool fits = items != NULL && rig_encoder_id_vec_reserve(kept, keys->entries.count);
    size_t count = 0;
    for (size_t i = 0; fits && i < keys->entries.count; i++) {
        if (is_in_use(&keys->entries.at[i], now, most_idle))
            items[count++] = (uint64_t)keys->entries.at[i].id << 32 | i;
    }
    if (count > 1)
        qsort(items, count, sizeof *items, compare_items);
    kept->count = 0;
    for (size_t i = 0; i < count; i++)
        kept->at[kept->count++] = (uint32_t)items[i];
    free(items);
    return fits;
}

bool rig_encoder_keys_choose(const struct rig_encoder_keys *keys, uint64_t now, size_t most_bytes,
                             struct rig_encoder_id_vec *kept, size_t *bytes)
{
    uint64_t most_idle = now;
    *bytes = likely_bytes(keys, now, most_idle);
    while (*bytes > most_bytes && most_idle > 0) {
        most_idle /= 2;
        *bytes = likely_bytes(keys, now, most_idle);
    }
    return kept == NULL || gather(keys, now, most_idle, kept);
}

void rig_encoder_keys_keep(struct rig_encoder_keys *keys, const struct rig_encoder_id_vec *kept)
{
    for (size_t i = 0; i < keys->entries.count; i++)
        keys->entries.at[i].id = UINT32_MAX;
    for (size_t i = 0; i < kept->count; i++)
        keys->entries.at[kept->at[i]].id = (uint32_t)i;
    keys->next_id = (uint32_t)kept->count;
    rig_table_clear(&keys->entry_of_key);
    for (size_t i = 0; i < keys->entries.count; i++) {
        struct rig_encoder_key *entry = &keys->entries.at[i];
        if (!entry->live || entry->id != UINT32_MAX) {
            keys->failed |= entry->live && !map_key(keys, (uint32_t)i);
            continue;
        }
        RIG_INVARIANT(entry->open_count == 0);
        keys->spine_elements -= entry->spine.count;
        keys->live_count--;
        rig_growing_list_release(&keys->pool, &entry->spine);
        entry->live = false;
        keys->failed |= !rig_encoder_id_vec_add(&keys->free_entries, (uint32_t)i);
    }
}
