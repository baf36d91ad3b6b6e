/*
 * The keys of a part: numbers and texts, numbered from 0 in the order of their first use.
 *
 * Space: 16 to 32 bytes a key. Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_PART_KEYS_H
#define RIG_HISTORY_TEXT_PART_PART_KEYS_H

#include "history/text/part/operation_part.h"

/*
 * The processes of a part, and which of them have an open transaction, in the order of the invocations.
 *
 * Threads: one a part.
 */

enum { RIG_PART_SMALL_PROCESSES = 1 << 16 /* numbers below it have a direct table */ };

/* The process invokes while it has an open transaction, which stays open forever. Gives the process a new entry,
 * without an open one; NULL when memory runs out. */
struct rig_part_process *rig_part_abandon(struct rig_part *part, struct rig_part_process *process);

/* The process, which fits 32 bits or has a name; NULL when memory runs out. */
struct rig_part_process *rig_part_find_process(struct rig_part *part, int64_t process);

/* The same, fastest for a known one; NULL also if the number does not fit. */
RIG_PART_INLINE struct rig_part_process *rig_part_process_of(struct rig_part *part, int64_t process)
{
    if (process >= 0 && process < RIG_PART_SMALL_PROCESSES) {
        uint32_t place = part->process_of_small[process];
        if (place < part->processes.count && part->processes.at[place].process == process)
            return &part->processes.at[place];
    }
    return process >= INT32_MIN && process <= INT32_MAX ? rig_part_find_process(part, process) : NULL;
}

/* Marks the process as having an open transaction; false when memory runs out. */
RIG_PART_INLINE bool rig_part_open_process(struct rig_part *part, struct rig_part_process *process)
{
    struct rig_part_invoked *invoked = &part->invoked;
    if (!rig_part_invoked_reserve(invoked, invoked->count + 1))
        return false;
    process->open = true;
    process->invocation = (uint32_t)invoked->count;
    invoked->at[invoked->count++] = (uint32_t)(process - part->processes.at);
    return true;
}

RIG_PART_INLINE void rig_part_close_process(struct rig_part_process *process)
{
    process->open = false;
}

/* Empties the table of keys, or creates it; false when memory runs out. */
bool rig_part_clear_keys(struct rig_part *part);
/* Removes the key that was added last. */
void rig_part_remove_last_key(struct rig_part *part);

/* Numbers of keys; RIG_TABLE_NONE when memory runs out. The text is borrowed as long as the segment is used. */
uint32_t rig_part_add_key(struct rig_part *part, uint32_t tag, int64_t number, const char *text, uint32_t length);
uint32_t rig_part_text_key(struct rig_part *part, const char *text, uint32_t length);

/* In the table of keys a small number is its own tag. Other keys have tags with this bit, which several may share. */
enum { RIG_PART_MIXED_BIT = 31 };

RIG_PART_INLINE uint32_t rig_part_mixed_tag(uint64_t hash)
{
    return (uint32_t)(hash >> 32 ^ hash) | 1U << RIG_PART_MIXED_BIT;
}

RIG_PART_INLINE uint32_t rig_part_number_tag(int64_t number)
{
    bool is_usual = (uint64_t)number >> RIG_PART_MIXED_BIT == 0;
    return is_usual ? (uint32_t)number : rig_part_mixed_tag((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15));
}

RIG_PART_INLINE uint32_t rig_part_slot(const struct rig_part *part, uint32_t tag)
{
    return (uint32_t)((uint64_t)tag * RIG_LANE_HASH >> part->slots.shift & part->slots.mask);
}

RIG_PART_INLINE uint32_t rig_part_number_key(struct rig_part *part, int64_t number)
{
    const uint32_t tag = rig_part_number_tag(number);
    const struct rig_lane_slot *slots = part->slots.at;
    for (uint32_t slot = rig_part_slot(part, tag); slots[slot].id != RIG_TABLE_NONE;
         slot = (slot + 1) & (uint32_t)part->slots.mask) {
        if (slots[slot].tag != tag)
            continue;
        const struct rig_segment_key *key = &part->segment->keys.at[slots[slot].id];
        if (tag >> RIG_PART_MIXED_BIT == 0 || (key->text == NULL && key->key == number))
            return slots[slot].id;
    }
    return rig_part_add_key(part, tag, number, NULL, 0);
}

#endif
