#include "history/text/text_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void rig_text_table_init(struct rig_text_table *table, size_t limit_bytes)
{
    *table = (struct rig_text_table){0};
    rig_arena_init(&table->arena, limit_bytes);
    rig_table_init(&table->ids);
}

void rig_text_table_done(struct rig_text_table *table)
{
    rig_arena_done(&table->arena);
    rig_table_done(&table->ids);
    free(table->texts);
    table->texts = NULL;
    table->count = table->capacity = 0;
}

static bool same(const char *known, const char *text, size_t length)
{
    return strncmp(known, text, length) == 0 && known[length] == '\0';
}

/* Two texts with the same 64-bit hash get successive keys, so the hash alone never decides equality. */
uint32_t rig_text_table_get(const struct rig_text_table *table, const char *text, size_t length)
{
    for (uint64_t hash = rig_text_hash(text, length);; hash++) {
        uint32_t id = rig_table_get(&table->ids, hash);
        if (id == RIG_TABLE_NONE || same(table->texts[id], text, length))
            return id;
    }
}

static bool reserve(struct rig_text_table *table)
{
    if (table->count < table->capacity)
        return true;
    uint32_t capacity = table->capacity == 0 ? 16 : table->capacity * 2;
    if (table->capacity >= UINT32_MAX / 2)
        return false;
    char **texts = realloc(table->texts, capacity * sizeof *texts);
    if (texts == NULL)
        return false;
    table->texts = texts;
    table->capacity = capacity;
    return true;
}

uint64_t rig_text_hash(const char *text, size_t length)
{
    return XXH3_64bits(text, length);
}

uint32_t rig_text_table_put(struct rig_text_table *table, const char *text, size_t length)
{
    if (!reserve(table))
        return RIG_TABLE_NONE;
    for (uint64_t hash = rig_text_hash(text, length);; hash++) {
        uint32_t *id = rig_table_put(&table->ids, hash);
        if (id == NULL)
            return RIG_TABLE_NONE;
        if (*id != RIG_TABLE_NONE && same(table->texts[*id], text, length))
            return *id;
        if (*id != RIG_TABLE_NONE)
            continue;
        char *copy = rig_arena_text(&table->arena, text, length);
        if (copy == NULL)
            return RIG_TABLE_NONE;
        table->texts[table->count] = copy;
        return *id = table->count++;
    }
}

size_t rig_text_table_bytes(const struct rig_text_table *table)
{
    return table->arena.held_bytes + table->capacity * sizeof(char *) +
           table->ids.slot_count * (sizeof(uint64_t) + sizeof(uint32_t));
}
