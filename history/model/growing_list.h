/*
 * Lists of int64 that grow at their end, out of one pool: the spines of a history while it is built.
 *
 * A list has room for 4 << n elements; when it is full its memory goes back to the pool, for the next list of that
 * size. Lists of total length n take at most 2n elements, plus less than n that are free for reuse.
 *
 * Threads: one at a time.
 */
#ifndef RIG_HISTORY_MODEL_GROWING_LIST_H
#define RIG_HISTORY_MODEL_GROWING_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "history/model/history.h"

enum { RIG_LIST_CLASS_COUNT = 31, RIG_LIST_SMALLEST_ROOM = 4 };

struct rig_list_pool {
    struct rig_arena arena;
    int64_t *free_rooms[RIG_LIST_CLASS_COUNT]; /* a free block starts with the address of the next one */
};

/* A zeroed list is empty and has no room. */
struct rig_growing_list {
    int64_t *at;
    uint32_t count;
    uint32_t room_class; /* while `at` is set: room for 4 << room_class elements */
};

/* `limit_bytes` 0: no limit. */
void rig_list_pool_init(struct rig_list_pool *pool, size_t limit_bytes);
/* Frees all lists at once. */
void rig_list_pool_done(struct rig_list_pool *pool);

/* Empties all lists at once and keeps the memory. */
void rig_list_pool_reset(struct rig_list_pool *pool);

/* Appends elements; false, with the list unchanged, when memory or the limit is spent. */
bool rig_growing_list_add(struct rig_list_pool *pool, struct rig_growing_list *list, const int64_t *elements,
                          uint32_t count);
static inline bool rig_growing_list_has_room(const struct rig_growing_list *list, uint32_t count)
{
    return list->at != NULL && (size_t)list->count + count <= (size_t)RIG_LIST_SMALLEST_ROOM << list->room_class;
}

/* Room for `count` more elements, which the caller writes; false as above. */
bool rig_growing_list_reserve(struct rig_list_pool *pool, struct rig_growing_list *list, uint32_t count);
/* Gives the list's room back to the pool; the list is empty. */
void rig_growing_list_release(struct rig_list_pool *pool, struct rig_growing_list *list);
/* Whether `elements` and the list are equal over the length that both have. */
bool rig_growing_list_agrees(const struct rig_growing_list *list, const int64_t *elements, uint32_t count);

/*
 * Branches (struct rig_branch of history.h) that grow, while a history is built.
 *
 * Lists that failed transactions read are mostly read by others soon. So a branch may continue with elements that have
 * since joined the spine: lists that leave the spine one after the other are one branch instead of one each. The
 * distance is limited, so that few elements are compared and kept twice.
 *
 * Space: that of the tail. Time: linear in the tails, and RIG_BRANCH_REACH elements. Threads: one at a time.
 */

enum { RIG_BRANCH_REACH = 16 };

struct rig_growing_branch {
    uint32_t key;
    uint32_t shared; /* elements of the key's spine that it begins with; it may share more */
    struct rig_growing_list tail;
};

RIG_VEC(struct rig_growing_branch, rig_growing_branches)

static inline uint32_t rig_growing_branch_count(const struct rig_growing_branch *branch)
{
    return branch->shared + branch->tail.count;
}

/*
 * Whether a list of the same key, which shares its first `shared` elements with the spine, is near enough to join this
 * branch and equal to it over their common length.
 */
bool rig_growing_branch_agrees(const struct rig_growing_branch *branch, const struct rig_read_list *list,
                               uint32_t shared);
/* Appends the elements of such a list that the branch lacks. False when memory runs out. */
bool rig_growing_branch_extend(struct rig_list_pool *pool, struct rig_growing_branch *branch,
                               const struct rig_read_list *list);

#endif
