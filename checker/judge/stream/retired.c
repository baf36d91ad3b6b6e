#include "checker/judge/stream/retired.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/judge/stream/type_windows.h"
#include "checker/judge/stream/retired_private.h"

enum { DENSE_SLACK = 1 << 16 /* bits */ };

enum rig_rc rig_retired_no_memory(struct rig_err *err)
{
    return rig_memory_limit(err, "the finished keys");
}

struct rig_retired *rig_retired_new(enum rig_workload workload, size_t forgotten_bytes)
{
    struct rig_retired *retired = calloc(1, sizeof *retired);
    if (retired == NULL)
        return NULL;
    retired->type = rig_type_windows(workload)->retired;
    rig_table_init(&retired->ids);
    rig_text_table_init(&retired->texts, 0);
    retired->forgotten.most_bytes = forgotten_bytes;
    return retired;
}

void rig_retired_free(struct rig_retired *retired)
{
    if (retired == NULL)
        return;
    for (size_t i = 0; i < retired->keys.count; i++) {
        free(retired->keys.at[i].bits);
        free(retired->keys.at[i].prefix);
    }
    retired_keys_done(&retired->keys);
    rig_table_done(&retired->ids);
    rig_key_pages_done(&retired->resting);
    rig_text_table_done(&retired->texts);
    rig_key_set_done(&retired->forgotten);
    packed_keys_done(&retired->packed);
    rig_segment_keys_done(&retired->cleaned.keys);
    rig_growing_branches_done(&retired->cleaned.branches);
    rig_txn_op_vec_done(&retired->cleaned.ops);
    key_numbers_done(&retired->numbers);
    list_limits_done(&retired->spine_limits);
    list_limits_done(&retired->branch_limits);
    free(retired);
}

size_t rig_retired_bytes(const struct rig_retired *retired)
{
    return retired->keys.capacity * sizeof(struct retired_key) + retired->ids.slot_count * 12 + retired->owned_bytes +
           rig_key_pages_bytes(&retired->resting) + rig_text_table_bytes(&retired->texts) +
           rig_key_set_bytes(&retired->forgotten) + retired->cleaned.ops.capacity * sizeof(struct rig_txn_op) +
           retired->cleaned.keys.capacity * sizeof(struct rig_segment_key);
}

uint64_t rig_retired_unordered(const struct rig_retired *retired)
{
    return retired->unordered;
}

uint64_t rig_retired_hash_on(uint64_t hash, const struct rig_read_list *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)rig_read_element(list, i)) * 0xd6e8feb86659fd93U;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- keys and values ---- */

/* The name under which the key is kept; false when it is a text that is not known. */
static bool find_name(const struct rig_retired *retired, const struct rig_history *history, uint32_t key,
                      uint64_t *name)
{
    *name = (uint64_t)history->keys[key];
    if (history->key_texts == NULL)
        return true;
    const char *text = history->key_texts[*name];
    *name = rig_text_table_get(&retired->texts, text, strlen(text));
    return *name != RIG_TABLE_NONE;
}

uint32_t rig_retired_find(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name;
    return find_name(retired, history, key, &name) ? rig_table_get(&retired->ids, name) : RIG_RETIRED_NONE;
}

bool rig_retired_is_forgotten(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    int64_t name = history->keys[key];
    const char *text = history->key_texts == NULL ? NULL : history->key_texts[name];
    return rig_key_set_has(&retired->forgotten, name, text, text == NULL ? 0 : strlen(text));
}

struct retired_key *rig_retired_add(struct rig_retired *retired, uint64_t name)
{
    uint32_t *id = retired->keys.count < RIG_RETIRED_NONE ? rig_table_put(&retired->ids, name) : NULL;
    if (id == NULL || !retired_keys_add(&retired->keys, (struct retired_key){.name = name,
                                                                             .hash = rig_retired_empty_hash,
                                                                             .cut_hash = rig_retired_empty_hash}))
        return NULL;
    *id = (uint32_t)(retired->keys.count - 1);
    return &retired->keys.at[*id];
}

struct retired_key *rig_retired_put(struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint64_t name = (uint64_t)history->keys[key];
    if (history->key_texts != NULL) {
        const char *text = history->key_texts[name];
        name = rig_text_table_put(&retired->texts, text, strlen(text));
        if (name == RIG_TABLE_NONE)
            return NULL;
    }
    uint32_t id = rig_table_get(&retired->ids, name);
    return id == RIG_TABLE_NONE ? rig_retired_add(retired, name) : &retired->keys.at[id];
}

bool rig_retired_holds(const struct retired_key *key, int64_t value)
{
    uint64_t place = (uint64_t)value - (uint64_t)key->lowest;
    if (key->values == 0 || place > key->span)
        return false;
    return key->bits == NULL || (key->bits[place / 64] >> (place % 64) & 1u);
}

bool rig_retired_widen(struct rig_retired *retired, struct retired_key *key, const struct rig_retired_values *shown)
{
    if (shown->count == 0)
        return true;
    RIG_REQUIRE(shown->lowest <= shown->highest);
    RIG_REQUIRE((uint64_t)shown->highest - (uint64_t)shown->lowest >= shown->count - 1U);
    bool first = key->values == 0, sparse = !first && key->bits == NULL && !key->full;
    int64_t highest = first ? shown->highest : (int64_t)((uint64_t)key->lowest + key->span);
    int64_t lowest = first || shown->lowest < key->lowest ? shown->lowest : key->lowest;
    highest = shown->highest > highest ? shown->highest : highest;
    uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    uint64_t most = ((uint64_t)key->values + shown->count) * RIG_RETIRED_DENSE_FACTOR + DENSE_SLACK;
    uint64_t *bits = NULL;
    if (!first && lowest == key->lowest && span == key->span) {
        key->values += shown->count;
        return true;
    }
    /* Usually every value between the lowest and the highest was appended; then no bits are needed. */
    bool full = first && span == shown->count - 1U;
    if (!full && !sparse && span < most) {
        bits = calloc(rig_retired_words(span), sizeof *bits);
        if (bits == NULL)
            return false;
        retired->owned_bytes += rig_retired_words(span) * sizeof *bits;
        uint64_t shift = first ? 0 : (uint64_t)key->lowest - (uint64_t)lowest;
        for (uint64_t i = 0; !first && i <= key->span; i++) {
            uint64_t held = key->full ? 1 : key->bits[i / 64] >> (i % 64) & 1u;
            bits[(i + shift) / 64] |= held << ((i + shift) % 64);
        }
    }
    RIG_INVARIANT(lowest <= highest && (first || span >= key->span));
    if (key->bits != NULL)
        retired->owned_bytes -= rig_retired_words(key->span) * sizeof *bits;
    free(key->bits);
    key->bits = bits;
    key->full = full;
    key->lowest = lowest;
    key->span = span;
    key->values += shown->count;
    return true;
}

/* ---- remembering ---- */

/* owned_bytes counts bits and prefixes, and no list is shorter than the part that was cut off it. */
static bool bytes_are_counted(const struct rig_retired *retired)
{
    size_t bytes = 0;
    bool sound = true;
    for (size_t i = 0; i < retired->keys.count; i++) {
        const struct retired_key *key = &retired->keys.at[i];
        bytes += key->bits == NULL ? 0 : rig_retired_words(key->span) * sizeof *key->bits;
        bytes += key->prefix == NULL ? 0 : key->cut * sizeof *key->prefix;
        sound &= key->cut <= key->count && rig_table_get(&retired->ids, key->name) == i;
    }
    return sound && bytes == retired->owned_bytes;
}

enum rig_rc rig_retired_remember(struct rig_retired *retired, const struct rig_inference *inference,
                                 const uint8_t *fate, const uint8_t *judged, const uint8_t *anomalous, bool clean,
                                 struct rig_err *err)
{
    const struct rig_retiring r = {
        .retired = retired, .inference = inference, .judged = judged, .anomalous = anomalous, .clean = clean};
    const uint32_t key_count = inference->history->key_count;
    retired->now += retired->now < UINT32_MAX;
    for (uint32_t key = 0; key < key_count; key++) {
        if (fate[key] != RIG_KEY_ALIVE && !retired->type->remember(&r, key, fate[key] == RIG_KEY_DROPPED))
            return rig_retired_no_memory(err);
    }
    RIG_COSTLY(bytes_are_counted(retired));
    return RIG_OK;
}

void rig_retired_count(struct rig_retired *retired, const struct rig_inference *inference, const uint8_t *fate)
{
    const uint32_t key_count = retired->type->is_unordered == NULL ? 0 : inference->history->key_count;
    for (uint32_t key = 0; key < key_count; key++)
        retired->unordered += fate[key] == RIG_KEY_DROPPED && retired->type->is_unordered(inference, key);
}

bool rig_retired_is_settled(const struct rig_retired *retired, const struct rig_inference *inference, uint32_t key,
                            bool clean)
{
    return retired->type->is_settled != NULL && retired->type->is_settled(inference, key, clean);
}

struct rig_list rig_retired_prefix(const struct rig_retired *retired, const struct rig_history *history, uint32_t key)
{
    uint32_t number = retired == NULL ? RIG_RETIRED_NONE : rig_retired_find(retired, history, key);
    if (number == RIG_RETIRED_NONE || retired->keys.at[number].prefix == NULL)
        return (struct rig_list){0};
    return (struct rig_list){retired->keys.at[number].prefix, retired->keys.at[number].cut};
}
