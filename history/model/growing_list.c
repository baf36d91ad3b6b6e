#include "history/model/growing_list.h"

#include <string.h>

#include "base/bug.h"

void rig_list_pool_init(struct rig_list_pool *pool, size_t limit_bytes)
{
    *pool = (struct rig_list_pool){0};
    rig_arena_init(&pool->arena, limit_bytes);
}

void rig_list_pool_done(struct rig_list_pool *pool)
{
    rig_arena_done(&pool->arena);
    memset(pool->free_rooms, 0, sizeof pool->free_rooms);
}

void rig_list_pool_reset(struct rig_list_pool *pool)
{
    rig_arena_reset(&pool->arena);
    memset(pool->free_rooms, 0, sizeof pool->free_rooms);
}

static size_t room_of(uint32_t room_class)
{
    return (size_t)RIG_LIST_SMALLEST_ROOM << room_class;
}

static void give_room(struct rig_list_pool *pool, int64_t *room, uint32_t room_class)
{
    memcpy(room, &pool->free_rooms[room_class], sizeof(int64_t *));
    pool->free_rooms[room_class] = room;
}

static int64_t *take_room(struct rig_list_pool *pool, uint32_t room_class)
{
    int64_t *room = pool->free_rooms[room_class];
    if (room == NULL)
        return rig_arena_room(&pool->arena, room_of(room_class), sizeof(int64_t));
    memcpy(&pool->free_rooms[room_class], room, sizeof(int64_t *));
    return room;
}

static bool grow(struct rig_list_pool *pool, struct rig_growing_list *list, size_t wanted)
{
    uint32_t room_class = list->at == NULL ? 0 : list->room_class;
    while (room_class < RIG_LIST_CLASS_COUNT && room_of(room_class) < wanted)
        room_class++;
    if (room_class == RIG_LIST_CLASS_COUNT)
        return false;
    int64_t *room = take_room(pool, room_class);
    if (room == NULL)
        return false;
    if (list->at != NULL) {
        memcpy(room, list->at, list->count * sizeof *room);
        give_room(pool, list->at, list->room_class);
    }
    list->at = room;
    list->room_class = room_class;
    return true;
}

bool rig_growing_list_reserve(struct rig_list_pool *pool, struct rig_growing_list *list, uint32_t count)
{
    size_t wanted = (size_t)list->count + count;
    if (wanted >= UINT32_MAX)
        return false;
    return (list->at != NULL && wanted <= room_of(list->room_class)) || grow(pool, list, wanted);
}

bool rig_growing_list_add(struct rig_list_pool *pool, struct rig_growing_list *list, const int64_t *elements,
                          uint32_t count)
{
    if (count == 0)
        return true;
    if (!rig_growing_list_reserve(pool, list, count))
        return false;
    RIG_INVARIANT((size_t)list->count + count <= room_of(list->room_class));
    memcpy(list->at + list->count, elements, count * sizeof *elements);
    list->count += count;
    return true;
}

void rig_growing_list_release(struct rig_list_pool *pool, struct rig_growing_list *list)
{
    if (list->at != NULL)
        give_room(pool, list->at, list->room_class);
    *list = (struct rig_growing_list){0};
}

bool rig_growing_list_agrees(const struct rig_growing_list *list, const int64_t *elements, uint32_t count)
{
    uint32_t common = count < list->count ? count : list->count;
    if (common == 0)
        return true;
    /* Lists of one key mostly differ at their ends, where each has what its own transaction appended. */
    return list->at[common - 1] == elements[common - 1] && memcmp(list->at, elements, common * sizeof *elements) == 0;
}

bool rig_growing_branch_agrees(const struct rig_growing_branch *branch, const struct rig_read_list *list,
                               uint32_t shared)
{
    if (branch->shared > shared || shared - branch->shared > RIG_BRANCH_REACH)
        return false;
    uint32_t count = rig_growing_branch_count(branch), common = count < list->count ? count : list->count;
    uint32_t i = branch->shared, in_spine = list->shared < common ? list->shared : common;
    const int64_t *tail = branch->tail.at;
    for (; i < in_spine; i++, tail++) {
        if (*tail != list->at[i])
            return false;
    }
    for (; i < common; i++, tail++) {
        if (*tail != list->tail[i - list->shared])
            return false;
    }
    return true;
}

bool rig_growing_branch_extend(struct rig_list_pool *pool, struct rig_growing_branch *branch,
                               const struct rig_read_list *list)
{
    uint32_t known = rig_growing_branch_count(branch);
    if (list->count <= known)
        return true;
    uint32_t more = list->count - known;
    if (!rig_growing_list_has_room(&branch->tail, more) && !rig_growing_list_reserve(pool, &branch->tail, more))
        return false;
    for (int64_t *to = branch->tail.at + branch->tail.count; known < list->count; known++)
        *to++ = rig_read_element(list, known);
    branch->tail.count += more;
    return true;
}
