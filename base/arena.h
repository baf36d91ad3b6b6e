/*
 * Arena: memory for one phase, freed at once.
 *
 * Blocks double from 64 KiB to 16 MiB, or to a sixteenth of the maximum, so an arena wastes at most half of what it
 * holds. rig_arena_alloc() aligns to 16 bytes and zeroes the memory. Running out of memory, or past the arena's
 * maximum, is reported by NULL; the caller turns it into RIG_E_LIMIT.
 *
 * Threads: one at a time.
 */
#ifndef RIG_BASE_ARENA_H
#define RIG_BASE_ARENA_H

#include <stddef.h>

struct rig_arena {
    struct rig_arena_block *head;
    struct rig_arena_block *spare; /* kept by a reset */
    size_t used_bytes;             /* handed out */
    size_t held_bytes;             /* taken from the system */
    size_t limit_bytes;            /* most that may be held */
};

/* `limit_bytes` 0 means no maximum. Allocates nothing yet. */
void rig_arena_init(struct rig_arena *arena, size_t limit_bytes);
/* Frees everything; the arena may be used again. */
void rig_arena_done(struct rig_arena *arena);

/* Invalidates everything that was handed out, and keeps the memory for reuse. */
void rig_arena_reset(struct rig_arena *arena);

/* `size` zeroed bytes, or NULL. */
void *rig_arena_alloc(struct rig_arena *arena, size_t size);
/* `count` uninitialised objects of `size` bytes, or NULL: for memory that the caller fills at once. */
void *rig_arena_room(struct rig_arena *arena, size_t count, size_t size);
/* `count` objects of `size` bytes, or NULL (also when the product overflows). */
void *rig_arena_array(struct rig_arena *arena, size_t count, size_t size);
/*
 * Says that `size` bytes which an arena handed out are not used before its next reset; their content is undefined from
 * now on. If they are many, their pages go back to the system until then.
 */
void rig_arena_abandon(void *memory, size_t size);
/* A copy of `length` bytes followed by a NUL, or NULL. */
char *rig_arena_text(struct rig_arena *arena, const char *text, size_t length);

#endif
