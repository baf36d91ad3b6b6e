#include "checker/infer/set_plain.h"

bool rig_set_plain_init(struct rig_set_plain *plain, const struct rig_sets *sets, struct rig_arena *arena)
{
    const size_t keys = (size_t)sets->history->key_count + 1;
    *plain = (struct rig_set_plain){.sets = sets};
    plain->length = rig_arena_array(arena, keys, sizeof *plain->length);
    plain->ended = rig_arena_array(arena, keys, sizeof *plain->ended);
    plain->seen = rig_arena_array(arena, (size_t)sets->element_count + 1, sizeof *plain->seen);
    return plain->length != NULL && plain->ended != NULL && plain->seen != NULL;
}

static bool take(struct rig_set_plain *plain, uint32_t key, int64_t value)
{
    const struct rig_sets *sets = plain->sets;
    const uint32_t element = rig_sets_find(sets, key, value);
    if (element == RIG_SET_NONE || plain->seen[element] ||
        sets->history->txns[sets->elements[element].writer].outcome == RIG_OUTCOME_FAIL)
        return false;
    plain->seen[element] = 1;
    return true;
}

bool rig_set_plain_is(struct rig_set_plain *plain, uint32_t key, const struct rig_read_list *list)
{
    if (list->shared != list->count)
        return false;
    while (plain->length[key] < list->count && !plain->ended[key]) {
        plain->ended[key] = !take(plain, key, list->at[plain->length[key]]);
        plain->length[key] += !plain->ended[key];
    }
    return list->count <= plain->length[key];
}
