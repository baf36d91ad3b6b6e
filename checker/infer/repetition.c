#include "checker/infer/repetition.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 16, STACK_BITS = 4096 };

struct place {
    int64_t value;
    uint32_t index;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool unique_by_sorting(const struct rig_read_list *list, uint32_t *unique)
{
    struct place *places = malloc(((size_t)list->count + 1) * sizeof *places);
    if (places == NULL)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        places[i] = (struct place){rig_read_element(list, i), i};
    qsort(places, list->count, sizeof *places, compare_places);
    *unique = list->count;
    for (uint32_t i = 1; i < list->count; i++) {
        if (places[i].value == places[i - 1].value && places[i].index < *unique)
            *unique = places[i].index;
    }
    free(places);
    return true;
}

static uint32_t unique_by_comparing(const struct rig_read_list *list)
{
    for (uint32_t i = 1; i < list->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (rig_read_element(list, i) == rig_read_element(list, j))
                return i;
        }
    }
    return list->count;
}

/* One bit a slot of the key. Returns false when a value lies outside the slots, or there are too many of them. */
static bool unique_by_slots(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                            uint32_t *unique)
{
    const struct rig_key_versions *k = &versions->keys[key];
    int64_t lowest = versions->key_places[key].lowest;
    uint64_t seen[STACK_BITS / 64] = {0};
    if (versions->key_places[key].shift != 0 || k->slot_count > STACK_BITS)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t slot = (uint64_t)rig_read_element(list, i) - (uint64_t)lowest;
        if (slot >= k->slot_count)
            return false;
        uint64_t bit = UINT64_C(1) << (slot % 64);
        if (seen[slot / 64] & bit) {
            *unique = i;
            return true;
        }
        seen[slot / 64] |= bit;
    }
    *unique = list->count;
    return true;
}

/* Every list marks its slots with its own number. Returns false for a value that no transaction appended. */
static bool unique_by_marks(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                            struct rig_marks *marks, uint32_t *unique)
{
    uint32_t mark = ++marks->latest;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rig_append *slot = rig_versions_find(versions, key, rig_read_element(list, i));
        if (slot == NULL)
            return false;
        uint32_t *at = &marks->at[slot - versions->slots];
        if (*at == mark) {
            *unique = i;
            return true;
        }
        *at = mark;
    }
    *unique = list->count;
    return true;
}

bool rig_unique_prefix(const struct rig_versions *versions, uint32_t key, const struct rig_read_list *list,
                       struct rig_marks *marks, uint32_t *unique)
{
    if (list->count <= SMALL) {
        *unique = unique_by_comparing(list);
        return true;
    }
    if (marks->at != NULL && unique_by_marks(versions, key, list, marks, unique))
        return true;
    return unique_by_slots(versions, key, list, unique) || unique_by_sorting(list, unique);
}
