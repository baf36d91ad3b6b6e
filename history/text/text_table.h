/*
 * Distinct texts, numbered from 0 in order of first appearance.
 *
 * Space: the texts, 8 bytes a text, a hash table (base/table.h). A look-up hashes the text (xxh3) and compares it.
 * Threads: one writer or many readers.
 */
#ifndef RIG_HISTORY_TEXT_TEXT_TABLE_H
#define RIG_HISTORY_TEXT_TEXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

struct rig_text_table {
    struct rig_arena arena; /* owns the texts */
    struct rig_table ids;   /* hash -> id */
    char **texts;
    uint32_t count;
    uint32_t capacity;
};

/* `limit_bytes` bounds the texts; 0: no limit. */
void rig_text_table_init(struct rig_text_table *table, size_t limit_bytes);
void rig_text_table_done(struct rig_text_table *table);
/* The number of the text, new or known; RIG_TABLE_NONE when memory or the limit is spent. No NUL inside. */
uint32_t rig_text_table_put(struct rig_text_table *table, const char *text, size_t length);
/* The number of the text, or RIG_TABLE_NONE. */
uint32_t rig_text_table_get(const struct rig_text_table *table, const char *text, size_t length);
/* The hash by which texts are found. */
uint64_t rig_text_hash(const char *text, size_t length);
/* Bytes held. */
size_t rig_text_table_bytes(const struct rig_text_table *table);

#endif
