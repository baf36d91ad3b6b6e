#include "history/text/part/part_keys.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const uint32_t none = RIG_TABLE_NONE;

static struct rig_part_process *add_process(struct rig_part *part, int64_t process, uint32_t *place)
{
    if (part->processes.count >= none - 1 || !rig_part_processes_reserve(&part->processes, part->processes.count + 1))
        return NULL;
    struct rig_part_process *added = &part->processes.at[part->processes.count];
    added->process = process;
    part->has_negative_process |= process < 0;
    added->first = RIG_FIRST_NOTHING;
    added->open = added->abandoned = false;
    *place = (uint32_t)part->processes.count++;
    return added;
}

/* Where the tables have the number of the process's entry; NULL when memory runs out. */
static uint32_t *place_of(struct rig_part *part, int64_t process)
{
    const bool small = process >= 0 && process < RIG_PART_SMALL_PROCESSES;
    return small ? &part->process_of_small[process] : rig_table_put(&part->process_of, (uint64_t)process);
}

struct rig_part_process *rig_part_abandon(struct rig_part *part, struct rig_part_process *process)
{
    uint32_t *place = place_of(part, process->process);
    process->abandoned = true;
    struct rig_part_process *again = place == NULL ? NULL : add_process(part, process->process, place);
    if (again != NULL)
        again->first = RIG_FIRST_INVOKED_AGAIN;
    return again;
}

struct rig_part_process *rig_part_find_process(struct rig_part *part, int64_t process)
{
    uint32_t *place;
    if (process >= 0 && process < RIG_PART_SMALL_PROCESSES) {
        place = &part->process_of_small[process];
        if (*place < part->processes.count && part->processes.at[*place].process == process)
            return &part->processes.at[*place];
        return add_process(part, process, place);
    }
    place = rig_table_put(&part->process_of, (uint64_t)process);
    if (place == NULL)
        return NULL;
    return *place == none ? add_process(part, process, place) : &part->processes.at[*place];
}

enum { FIRST_SLOT_BITS = 10 };

static bool make_slots(struct rig_part *part, unsigned bits)
{
    struct rig_lane_slot *slots = malloc(sizeof *slots << bits);
    if (slots == NULL)
        return false;
    free(part->slots.at);
    part->slots.at = slots;
    part->slots.shift = 32 - bits;
    part->slots.mask = ((uint64_t)1 << bits) - 1;
    memset(slots, 0xff, sizeof *slots << bits); /* free: RIG_TABLE_NONE */
    return true;
}

bool rig_part_clear_keys(struct rig_part *part)
{
    if (part->slots.at == NULL)
        return make_slots(part, FIRST_SLOT_BITS);
    memset(part->slots.at, 0xff, sizeof *part->slots.at * (part->slots.mask + 1));
    return true;
}

static uint32_t next_slot(const struct rig_part *part, uint32_t slot)
{
    return (slot + 1) & (uint32_t)part->slots.mask;
}

static void put_slot(struct rig_part *part, uint32_t tag, uint32_t key)
{
    uint32_t slot = rig_part_slot(part, tag);
    while (part->slots.at[slot].id != none)
        slot = next_slot(part, slot);
    part->slots.at[slot] = (struct rig_lane_slot){.id = key, .tag = tag};
}

static uint32_t tag_of(const struct rig_segment_key *key)
{
    return key->text == NULL ? rig_part_number_tag(key->key)
                             : rig_part_mixed_tag(XXH3_64bits(key->text, key->text_length));
}

static bool grow_slots(struct rig_part *part)
{
    const struct rig_segment_keys *keys = &part->segment->keys;
    if (part->slots.shift <= 1 || !rig_part_may_grow(part, keys->count) ||
        !make_slots(part, 33 - (unsigned)part->slots.shift))
        return false;
    for (uint32_t i = 0; i < keys->count; i++)
        put_slot(part, tag_of(&keys->at[i]), i);
    return true;
}

uint32_t rig_part_add_key(struct rig_part *part, uint32_t tag, int64_t number, const char *text, uint32_t length)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    struct rig_segment_key key = {.key = number, .text = text, .text_length = length};
    bool fits = keys->count < RIG_LIST_BRANCH - 1 &&
                (keys->count + 1 <= (part->slots.mask + 1) / 2 || grow_slots(part)) &&
                rig_segment_keys_add(keys, key) &&
                rig_part_spines_add(&part->spines, (struct rig_part_spine){.doubt = none, .branch = none});
    part->no_memory = part->no_memory || !fits;
    if (!fits)
        return none;
    put_slot(part, tag, (uint32_t)keys->count - 1);
    return (uint32_t)keys->count - 1;
}

uint32_t rig_part_text_key(struct rig_part *part, const char *text, uint32_t length)
{
    const struct rig_segment_key *keys = part->segment->keys.at;
    const struct rig_lane_slot *slots = part->slots.at;
    const uint32_t tag = rig_part_mixed_tag(XXH3_64bits(text, length));
    for (uint32_t slot = rig_part_slot(part, tag); slots[slot].id != none; slot = next_slot(part, slot)) {
        const struct rig_segment_key *key = &keys[slots[slot].id];
        if (slots[slot].tag == tag && key->text != NULL && key->text_length == length &&
            memcmp(key->text, text, length) == 0)
            return slots[slot].id;
    }
    /* The parser's texts live as long as the operation, those in the file as long as the segment. */
    const char *kept = text;
    if (text < part->parser.cursor.start || text >= part->end)
        kept = rig_arena_text(&part->segment->texts, text, length);
    if (kept == NULL) {
        part->no_memory = true;
        return none;
    }
    return rig_part_add_key(part, tag, 0, kept, length);
}

/* The key was added last, so no other key's slot depends on it. */
void rig_part_remove_last_key(struct rig_part *part)
{
    struct rig_segment_keys *keys = &part->segment->keys;
    uint32_t slot = rig_part_slot(part, tag_of(&keys->at[keys->count - 1]));
    while (part->slots.at[slot].id != keys->count - 1)
        slot = next_slot(part, slot);
    part->slots.at[slot] = (struct rig_lane_slot){.id = none, .tag = UINT32_MAX};
    keys->count--;
    part->spines.count--;
}
