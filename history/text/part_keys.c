#include "history/text/part_keys.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOT_BITS = 10 };

static const uint32_t none = RIG_TABLE_NONE;

static bool make_slots(struct rig_part *part, unsigned bits)
{
    struct rig_part_slot *slots = malloc(sizeof *slots << bits);
    if (slots == NULL)
        return false;
    free(part->slots);
    part->slots = slots;
    part->slot_bits = bits;
    memset(slots, 0xff, sizeof *slots << bits); /* free: RIG_TABLE_NONE */
    return true;
}

bool rig_part_clear_keys(struct rig_part *part)
{
    if (part->slots == NULL)
        return make_slots(part, FIRST_SLOT_BITS);
    memset(part->slots, 0xff, sizeof *part->slots << part->slot_bits);
    return true;
}

static void put_slot(struct rig_part *part, uint64_t hash, uint32_t key)
{
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint32_t slot = rig_part_slot(part, hash);
    while (part->slots[slot].key != none)
        slot = (slot + 1) & mask;
    part->slots[slot] = (struct rig_part_slot){.hash = hash, .key = key};
}

static uint64_t text_hash(const char *text, uint32_t length)
{
    return XXH3_64bits(text, length);
}

static bool grow_slots(struct rig_part *part)
{
    const struct rig_segment_keys *keys = &part->segment->keys;
    if (part->slot_bits >= 31 || !make_slots(part, part->slot_bits + 1))
        return false;
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct rig_segment_key *key = &keys->at[i];
        put_slot(part, key->text == NULL ? (uint64_t)key->key : text_hash(key->text, key->text_length), i);
    }
    return true;
}

uint32_t rig_part_add_key(struct rig_part *part, uint64_t hash, int64_t number, const char *text, uint32_t length)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    struct rig_segment_key key = {.key = number, .text = text, .text_length = length};
    bool fits = keys->count < RIG_LIST_BRANCH - 1 &&
                (keys->count + 1 <= (size_t)1 << part->slot_bits >> 1 || grow_slots(part)) &&
                rig_segment_keys_add(keys, key) &&
                rig_part_spines_add(&part->spines, (struct rig_part_spine){.doubt = none, .branch = none});
    part->no_memory = part->no_memory || !fits;
    if (!fits)
        return none;
    put_slot(part, hash, (uint32_t)keys->count - 1);
    return (uint32_t)keys->count - 1;
}

uint32_t rig_part_text_key(struct rig_part *part, const char *text, uint32_t length)
{
    const struct rig_segment_key *keys = part->segment->keys.at;
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint64_t hash = text_hash(text, length);
    for (uint32_t slot = rig_part_slot(part, hash); part->slots[slot].key != none; slot = (slot + 1) & mask) {
        const struct rig_segment_key *key = &keys[part->slots[slot].key];
        if (part->slots[slot].hash == hash && key->text != NULL && key->text_length == length &&
            memcmp(key->text, text, length) == 0)
            return part->slots[slot].key;
    }
    /* The parser's texts last as long as the operation; the file's, as long as the segment. */
    const char *kept = text;
    if (text < part->parser.cursor.start || text >= part->end)
        kept = rig_arena_text(&part->segment->texts, text, length);
    if (kept == NULL) {
        part->no_memory = true;
        return none;
    }
    return rig_part_add_key(part, hash, 0, kept, length);
}

/* The key was the last one to come, so no other one's slot depends on its. */
void rig_part_remove_last_key(struct rig_part *part)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    const struct rig_segment_key *key = &keys->at[keys->count - 1];
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint32_t slot =
        rig_part_slot(part, key->text == NULL ? (uint64_t)key->key : text_hash(key->text, key->text_length));
    while (part->slots[slot].key != keys->count - 1)
        slot = (slot + 1) & mask;
    part->slots[slot].key = none;
    keys->count--;
    part->spines.count--;
}
