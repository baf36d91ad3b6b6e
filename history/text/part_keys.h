/*
 * The keys of a part: numbers and texts, numbered from 0 in the order of their first use.
 *
 * Space: 24 bytes a key. Threads: one a part.
 */
#ifndef RIG_HISTORY_PART_KEYS_H
#define RIG_HISTORY_PART_KEYS_H

#include "history/text/operation_part.h"

/* Empties the table of keys, which is made where there is none; false when memory runs out. */
bool rig_part_clear_keys(struct rig_part *part);
/* Takes back the key that came last. */
void rig_part_remove_last_key(struct rig_part *part);

/* Numbers of keys; RIG_TABLE_NONE when memory runs out. The text is borrowed as long as the segment is used. */
uint32_t rig_part_add_key(struct rig_part *part, uint64_t hash, int64_t number, const char *text, uint32_t length);
uint32_t rig_part_text_key(struct rig_part *part, const char *text, uint32_t length);

RIG_PART_INLINE uint32_t rig_part_slot(const struct rig_part *part, uint64_t hash)
{
    return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - part->slot_bits));
}

RIG_PART_INLINE uint32_t rig_part_number_key(struct rig_part *part, int64_t number)
{
    uint32_t mask = (uint32_t)(1U << part->slot_bits) - 1;
    uint32_t slot = rig_part_slot(part, (uint64_t)number);
    for (; part->slots[slot].key != RIG_TABLE_NONE; slot = (slot + 1) & mask) {
        if (part->slots[slot].hash == (uint64_t)number)
            return part->slots[slot].key;
    }
    return rig_part_add_key(part, (uint64_t)number, number, NULL, 0);
}

#endif
