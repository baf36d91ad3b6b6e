/* The keys of a window and the lists that were read of them. */
#include <string.h>

#include "history/model/read_list.h"
#include "history/model/window_private.h"

uint32_t rig_window_key_id(struct rig_window *window, int64_t name)
{
    uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)name);
    if (id == NULL)
        return RIG_WINDOW_NONE;
    if (*id != RIG_TABLE_NONE)
        return *id;
    if (window->names.count >= UINT32_MAX / 2 || !rig_window_int64s_add(&window->names, name) ||
        !rig_window_uses_add(&window->uses, rig_key_use_none()) ||
        !rig_window_keys_add(&window->keys, (struct rig_window_key){.last_branch = RIG_WINDOW_NONE}))
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

/* Appends the list's elements with indices in [from, to). */
static bool add_elements(struct rig_window *window, struct rig_growing_list *to, const struct rig_read_list *list,
                         uint32_t from, uint32_t end)
{
    if (!rig_growing_list_reserve(&window->pool, to, end - from))
        return false;
    if (from < end)
        rig_read_copy(list, from, end, to->at + to->count);
    to->count += end - from;
    return true;
}

/* The list leaves the key's spine after the first place->agreed elements. */
static bool place_branch(struct rig_window *window, struct rig_list_place *place, const struct rig_read_list *list)
{
    struct rig_window_key *key = &window->keys.at[place->key];
    struct rig_growing_branch *last =
        key->last_branch == RIG_WINDOW_NONE ? NULL : &window->branches.at[key->last_branch];
    if (last == NULL || !rig_growing_branch_agrees(last, list, place->agreed)) {
        if (window->branches.count >= UINT32_MAX / 2 ||
            !rig_growing_branches_add(&window->branches,
                                      (struct rig_growing_branch){.key = place->key, .shared = place->agreed}))
            return false;
        key->last_branch = (uint32_t)(window->branches.count - 1);
        last = &window->branches.at[key->last_branch];
    }
    place->branch = key->last_branch;
    return rig_growing_branch_extend(&window->pool, last, list);
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

/* How many elements the list shares with the spine; the first `known` are known to be shared. */
static uint32_t count_agreed(const struct rig_growing_list *spine, const struct rig_read_list *list, uint32_t known)
{
    uint32_t common = list->count < spine->count ? list->count : spine->count;
    uint32_t first = list->shared < common ? list->shared : common;
    if (known < first)
        known += first_difference(spine->at + known, list->at + known, first - known);
    if (known < first || known >= common)
        return known;
    return known + first_difference(spine->at + known, list->tail + (known - list->shared), common - known);
}

bool rig_window_place_list(struct rig_window *window, const struct rig_read_list *list, uint32_t known, uint32_t good,
                           struct rig_list_place *place)
{
    struct rig_growing_list *spine = &window->keys.at[place->key].spine;
    place->branch = RIG_WINDOW_NONE;
    place->agreed = count_agreed(spine, list, known);
    if (place->agreed == spine->count && good > spine->count) {
        if (!add_elements(window, spine, list, spine->count, good))
            return false;
        place->agreed = good;
    }
    return place->agreed == list->count || place_branch(window, place, list);
}
