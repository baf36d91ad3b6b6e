#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"

enum { ALIGNMENT = 16 };
static const size_t first_block_bytes = (size_t)64 << 10;
static const size_t largest_block_bytes = (size_t)16 << 20;
static const size_t least_abandoned_bytes = (size_t)2 << 20; /* smaller ranges are soon reused */
enum { BLOCK_SHARE = 16 };                                   /* share of the limit that may be held unused */

struct rig_arena_block {
    struct rig_arena_block *next;
    size_t size;
    size_t used;
    size_t dirty; /* bytes handed out before the last reset */
    /* the data follows, aligned to 16 */
};

_Static_assert(sizeof(struct rig_arena_block) % ALIGNMENT == 0, "the data behind a block must be aligned");

void rig_arena_init(struct rig_arena *arena, size_t limit_bytes)
{
    RIG_REQUIRE(arena != NULL);
    *arena = (struct rig_arena){.limit_bytes = limit_bytes == 0 ? SIZE_MAX : limit_bytes};
}

static void free_blocks(struct rig_arena_block *block)
{
    while (block != NULL) {
        struct rig_arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void rig_arena_done(struct rig_arena *arena)
{
    free_blocks(arena->head);
    free_blocks(arena->spare);
    rig_arena_init(arena, arena->limit_bytes);
}

void rig_arena_reset(struct rig_arena *arena)
{
    while (arena->head != NULL) {
        struct rig_arena_block *block = arena->head;
        arena->head = block->next;
        if (block->dirty < block->used)
            block->dirty = block->used;
        block->used = 0;
        block->next = arena->spare;
        arena->spare = block;
    }
    arena->used_bytes = 0;
}

/* A spare block of at least `size` bytes becomes the head. */
static struct rig_arena_block *take_spare(struct rig_arena *arena, size_t size)
{
    struct rig_arena_block **link = &arena->spare;
    while (*link != NULL && (*link)->size < size)
        link = &(*link)->next;
    struct rig_arena_block *block = *link;
    if (block == NULL)
        return NULL;
    *link = block->next;
    block->next = arena->head;
    arena->head = block;
    return block;
}

/* Frees the blocks that a reset kept and that are too small for the request. */
static void drop_spare(struct rig_arena *arena)
{
    for (const struct rig_arena_block *block = arena->spare; block != NULL; block = block->next)
        arena->held_bytes -= block->size;
    free_blocks(arena->spare);
    arena->spare = NULL;
}

static struct rig_arena_block *add_block(struct rig_arena *arena, size_t size)
{
    struct rig_arena_block *spare = take_spare(arena, size);
    if (spare != NULL)
        return spare;
    size_t wanted = arena->head == NULL ? first_block_bytes : arena->head->size * 2;
    size_t share = arena->limit_bytes / BLOCK_SHARE, most = share > first_block_bytes ? share : first_block_bytes;
    if (wanted > largest_block_bytes)
        wanted = largest_block_bytes;
    if (wanted > most)
        wanted = most;
    if (wanted < size)
        wanted = size;
    if (wanted > arena->limit_bytes - arena->held_bytes)
        drop_spare(arena);
    if (wanted > arena->limit_bytes - arena->held_bytes)
        wanted = size;
    if (wanted > arena->limit_bytes - arena->held_bytes)
        return NULL;
    struct rig_arena_block *block = calloc(1, sizeof *block + wanted);
    if (block == NULL)
        return NULL;
    block->size = wanted;
    block->next = arena->head;
    arena->head = block;
    arena->held_bytes += wanted;
    return block;
}

/* Dirty bytes are cleared when `zeroed`; fresh ones are zero already. */
static void *hand_out(struct rig_arena *arena, size_t size, bool zeroed)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct rig_arena_block *block = arena->head;
    if (block == NULL || block->size - block->used < size) {
        block = add_block(arena, size);
        if (block == NULL)
            return NULL;
    }
    void *memory = (char *)(block + 1) + block->used;
    if (zeroed && block->used < block->dirty)
        memset(memory, 0, size < block->dirty - block->used ? size : block->dirty - block->used);
    block->used += size;
    arena->used_bytes += size;
    return memory;
}

void *rig_arena_alloc(struct rig_arena *arena, size_t size)
{
    return hand_out(arena, size, true);
}

void *rig_arena_room(struct rig_arena *arena, size_t count, size_t size)
{
    RIG_REQUIRE(size > 0);
    return count > SIZE_MAX / size ? NULL : hand_out(arena, count * size, false);
}

void *rig_arena_array(struct rig_arena *arena, size_t count, size_t size)
{
    RIG_REQUIRE(size > 0);
    if (count > SIZE_MAX / size)
        return NULL;
    return rig_arena_alloc(arena, count * size);
}

void rig_arena_abandon(void *memory, size_t size)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)memory;
    const uintptr_t ahead = (page_bytes - at % page_bytes) % page_bytes, behind = (at + size) % page_bytes;
    if (size >= least_abandoned_bytes)
        (void)madvise((char *)memory + ahead, size - ahead - behind, MADV_DONTNEED);
}

char *rig_arena_text(struct rig_arena *arena, const char *text, size_t length)
{
    char *copy = rig_arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}
