#include "jobs/hunt/hunt_finds.h"

#include <string.h>

struct rig_hunt_find *rig_hunt_finds_get(struct rig_hunt_finds *finds, const char *anomaly, const char *level,
                                         const char *type)
{
    for (uint32_t i = 0; i < finds->count; i++) {
        struct rig_hunt_find *find = &finds->at[i];
        if (strcmp(find->anomaly, anomaly) == 0 && strcmp(find->level, level) == 0 && strcmp(find->type, type) == 0)
            return find;
    }
    return NULL;
}

uint32_t rig_hunt_finds_like(const struct rig_hunt_finds *finds, const struct rig_hunt_space *space, const char *level,
                             const struct rig_hunt_point *point)
{
    for (uint32_t i = 0; i < finds->count; i++) {
        const struct rig_hunt_find *other = &finds->at[i];
        if (other->is_explained && strcmp(other->level, level) == 0 &&
            rig_hunt_point_contains(space, point, &other->point))
            return other->number;
    }
    return 0;
}

struct rig_hunt_find *rig_hunt_finds_add(struct rig_hunt_finds *finds, const struct rig_hunt_find *find)
{
    if (finds->count == RIG_HUNT_FINDS_MOST)
        return NULL;
    struct rig_hunt_find *added = &finds->at[finds->count];
    *added = *find;
    added->number = ++finds->count;
    return added;
}
