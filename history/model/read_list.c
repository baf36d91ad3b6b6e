#include "history/model/read_list.h"

#include <string.h>

static uint32_t lower(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void rig_read_copy(const struct rig_read_list *list, uint32_t from, uint32_t to, int64_t *elements)
{
    uint32_t shared = lower(list->shared, to);
    if (from < shared) {
        memcpy(elements, list->at + from, (shared - from) * sizeof *elements);
        elements += shared - from;
        from = shared;
    }
    if (from < to)
        memcpy(elements, list->tail + (from - list->shared), (to - from) * sizeof *elements);
}

const int64_t *rig_read_whole(const struct rig_read_list *list, struct rig_arena *arena)
{
    if (list->count > 0 && list->shared == list->count)
        return list->at;
    int64_t *copy = rig_arena_room(arena, (size_t)list->count + 1, sizeof *copy);
    if (copy != NULL)
        rig_read_copy(list, 0, list->count, copy);
    return copy;
}

bool rig_read_same(const struct rig_read_list *left, const struct rig_read_list *right, uint32_t count)
{
    uint32_t i = lower(lower(left->shared, right->shared), count);
    if (i > 0 && left->at != right->at && memcmp(left->at, right->at, i * sizeof *left->at) != 0)
        return false;
    while (i < count && rig_read_element(left, i) == rig_read_element(right, i))
        i++;
    return i == count;
}
