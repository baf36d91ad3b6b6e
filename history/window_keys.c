/* The keys of a window and the lists that were read of them. */
#include <string.h>

#include "history/window_private.h"

uint32_t rig_window_key_id(struct rig_window *window, int64_t name)
{
    uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)name);
    if (id == NULL)
        return RIG_WINDOW_NONE;
    if (*id != RIG_TABLE_NONE)
        return *id;
    if (window->names.count >= UINT32_MAX / 2 || !rig_window_int64s_add(&window->names, name) ||
        !rig_window_uses_add(&window->uses, (struct rig_key_use){.lowest = INT64_MAX, .highest = INT64_MIN}) ||
        !rig_window_keys_add(&window->keys, (struct rig_window_key){.last_whole = RIG_WINDOW_NONE}))
        return RIG_WINDOW_NONE;
    return *id = (uint32_t)(window->names.count - 1);
}

enum rig_rc rig_window_text_key(struct rig_window *window, const char *text, size_t length, int64_t *name,
                                struct rig_err *err)
{
    if (window->key_texts.count == 0 && window->names.count > 0)
        return rig_fail(err, RIG_E_INPUT, "a text key in a history whose keys are numbers; use one kind of key");
    if (memchr(text, '\0', length) != NULL)
        return rig_fail(err, RIG_E_INPUT, "a key with a NUL character in it; rename the key");
    uint32_t id = rig_text_table_put(&window->key_texts, text, length);
    if (id == RIG_TABLE_NONE)
        return rig_window_no_room(window, err);
    *name = id;
    return RIG_OK;
}

static bool place_whole(struct rig_window *window, struct rig_list_place *place, struct rig_list list)
{
    struct rig_window_key *key = &window->keys.at[place->key];
    struct rig_growing_list *last = key->last_whole == RIG_WINDOW_NONE ? NULL : &window->lists.at[key->last_whole].list;
    if (last == NULL || !rig_growing_list_agrees(last, list.at, list.count)) {
        if (window->lists.count >= UINT32_MAX / 2 ||
            !rig_window_lists_add(&window->lists, (struct rig_window_list){.key = place->key}))
            return false;
        key->last_whole = (uint32_t)(window->lists.count - 1);
        last = &window->lists.at[key->last_whole].list;
    }
    place->whole = key->last_whole;
    return list.count <= last->count ||
           rig_growing_list_add(&window->pool, last, list.at + last->count, list.count - last->count);
}

static uint32_t first_difference(const int64_t *a, const int64_t *b, uint32_t count)
{
    enum { BLOCK = 64 };
    uint32_t at = 0;
    if (count > 0 && a[count - 1] == b[count - 1] && memcmp(a, b, count * sizeof *a) == 0)
        return count;
    while (count - at > BLOCK && memcmp(a + at, b + at, BLOCK * sizeof *a) == 0)
        at += BLOCK;
    while (at < count && a[at] == b[at])
        at++;
    return at;
}

bool rig_window_place_list(struct rig_window *window, struct rig_list list, uint32_t good, struct rig_list_place *place)
{
    struct rig_growing_list *spine = &window->keys.at[place->key].spine;
    uint32_t common = list.count < spine->count ? list.count : spine->count;
    place->whole = RIG_WINDOW_NONE;
    place->agreed = first_difference(spine->at, list.at, common);
    if (place->agreed == spine->count && good > spine->count) {
        if (!rig_growing_list_add(&window->pool, spine, list.at + spine->count, good - spine->count))
            return false;
        place->agreed = good;
    }
    return place->agreed == list.count || place_whole(window, place, list);
}
