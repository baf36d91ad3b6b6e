#include "base/table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
    return x ^ (x >> 32);
}

void rig_table_init(struct rig_table *table)
{
    *table = (struct rig_table){0};
}

void rig_table_done(struct rig_table *table)
{
    free(table->keys);
    free(table->values);
    rig_table_init(table);
}

void rig_table_clear(struct rig_table *table)
{
    if (table->slot_count > 0)
        memset(table->values, 0xff, table->slot_count * sizeof *table->values);
    table->used = 0;
}

static size_t find_slot(const struct rig_table *table, uint64_t key)
{
    size_t slot = (size_t)mix(key) & (table->slot_count - 1);
    while (table->values[slot] != RIG_TABLE_NONE && table->keys[slot] != key)
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

uint32_t rig_table_get(const struct rig_table *table, uint64_t key)
{
    return table->slot_count == 0 ? RIG_TABLE_NONE : table->values[find_slot(table, key)];
}

static bool grow(struct rig_table *table)
{
    struct rig_table larger = {.slot_count = table->slot_count == 0 ? 64 : table->slot_count * 2, .used = 0};
    larger.keys = malloc(larger.slot_count * sizeof *larger.keys);
    larger.values = malloc(larger.slot_count * sizeof *larger.values);
    if (larger.keys == NULL || larger.values == NULL) {
        rig_table_done(&larger);
        return false;
    }
    memset(larger.values, 0xff, larger.slot_count * sizeof *larger.values);
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->values[i] == RIG_TABLE_NONE)
            continue;
        size_t slot = find_slot(&larger, table->keys[i]);
        larger.keys[slot] = table->keys[i];
        larger.values[slot] = table->values[i];
        larger.used++;
    }
    rig_table_done(table);
    *table = larger;
    return true;
}

uint32_t *rig_table_put(struct rig_table *table, uint64_t key)
{
    if (table->used + 1 > table->slot_count / 8 * 7 && !grow(table))
        return NULL;
    size_t slot = find_slot(table, key);
    if (table->values[slot] == RIG_TABLE_NONE) {
        table->keys[slot] = key;
        table->used++; /* counted even if the caller stores no value: only the load factor depends on it */
    }
    return &table->values[slot];
}

/* Closes the gap: entries after it that could lie nearer to their home slot move up (Knuth, volume 3, 6.4, algorithm
 * R). */
void rig_table_remove(struct rig_table *table, uint64_t key)
{
    if (table->slot_count == 0)
        return;
    size_t mask = table->slot_count - 1;
    size_t gap = find_slot(table, key);
    if (table->values[gap] == RIG_TABLE_NONE)
        return;
    for (size_t at = (gap + 1) & mask; table->values[at] != RIG_TABLE_NONE; at = (at + 1) & mask) {
        size_t home = (size_t)mix(table->keys[at]) & mask;
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        table->keys[gap] = table->keys[at];
        table->values[gap] = table->values[at];
        gap = at;
    }
    table->values[gap] = RIG_TABLE_NONE;
    table->used--;
}
