/*
 * The lists of a part: what was read is a prefix of its key's spine, or stored whole.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_PART_LISTS_H
#define RIG_HISTORY_PART_LISTS_H

#include "history/operation_part.h"

/*
 * The list whose text begins at `at`, as the result of `mop`; it parts from the spine's text at `behind`, or goes on
 * there, and `known` numbers begin before. Where the text goes on behind the closing bracket, or NULL when it has
 * anything unusual in it. `commas`: they must stand between numbers, once; else they are blanks. `grows`: it may become
 * the spine.
 */
const char *rig_part_parse_list(struct rig_part *part, struct rig_mop *mop, const char *at, const char *behind,
                                uint32_t known, bool commas, bool grows);
/* Room for `count` more elements behind those of the spine; NULL when memory runs out. */
static inline int64_t *rig_part_room_to_grow(struct rig_part *part, uint32_t key, uint32_t count)
{
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    if (!rig_growing_list_has_room(spine, count) && !rig_growing_list_reserve(&part->segment->pool, spine, count)) {
        part->no_memory = true;
        return NULL;
    }
    return spine->at + spine->count;
}

/*
 * The next `count` elements were written into that room: the spine has them, and stands in the file as `text`, behind
 * which is a closing bracket. False when memory runs out.
 */
static inline bool rig_part_has_grown(struct rig_part *part, uint32_t key, uint32_t count, const char *text,
                                      size_t length)
{
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    struct rig_part_spine *as_text = &part->spines.at[key];
    if (!rig_part_changes_reserve(&part->changes, part->changes.count + 1)) {
        part->no_memory = true;
        return false;
    }
    struct rig_part_change *change = &part->changes.at[part->changes.count++];
    change->key = key;
    change->count = spine->count;
    change->spine = *as_text;
    spine->count += count;
    as_text->text = text;
    as_text->length = length;
    as_text->count = spine->count;
    part->grows |= count > 0;
    return true;
}

/* A list that was parsed. False when memory runs out. */
bool rig_part_list(struct rig_part *part, struct rig_mop *mop, const struct rig_micro *micro, const int64_t *elements,
                   bool grows);

#endif
