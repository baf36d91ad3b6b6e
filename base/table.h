/*
 * Hash table from uint64_t to uint32_t: open addressing, linear probing, flat arrays, at most 7/8 full.
 *
 * 12 bytes a slot; a look-up costs O(1) expected, about one cache miss. Keys and values are arbitrary except that the
 * value RIG_TABLE_NONE marks "absent".
 *
 * Threads: one writer or many readers.
 */
#ifndef RIG_BASE_TABLE_H
#define RIG_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_TABLE_NONE UINT32_MAX

struct rig_table {
    uint64_t *keys;
    uint32_t *values;
    size_t slot_count; /* a power of two, or 0 */
    size_t used;
};

void rig_table_init(struct rig_table *table);
void rig_table_done(struct rig_table *table);
/* Empties the table, keeps its memory. Time: linear in the slots. */
void rig_table_clear(struct rig_table *table);
/* The value of `key`, or RIG_TABLE_NONE. */
uint32_t rig_table_get(const struct rig_table *table, uint64_t key);
/*
 * The address of the value of `key`; the value is RIG_TABLE_NONE when the key is new, and the caller stores another
 * one. NULL when memory runs out. Valid until the next rig_table_put().
 */
uint32_t *rig_table_put(struct rig_table *table, uint64_t key);
/* Removes the key, if it is there. */
void rig_table_remove(struct rig_table *table, uint64_t key);

#endif
