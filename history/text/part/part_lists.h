/*
 * The lists of a part: what was read is a prefix of its key's spine, or of a branch.
 *
 * While a part is read, a spine may have more than what is certain (struct rig_part_spine): what failed transactions
 * read beyond it. Of most databases they read what others read a moment later, too, and need no list of their own.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_PART_LISTS_H
#define RIG_HISTORY_TEXT_PART_PART_LISTS_H

#include "history/text/part/operation_part.h"

/*
 * The list whose text begins at `at`, as the result of `mop`; it parts from the spine's text at `behind`, or goes on
 * there, and `known` numbers begin before. Where the text goes on behind the closing bracket, or NULL when it has
 * anything unusual in it, or contradicts what is not certain. `commas`: they must stand between numbers, once; else
 * they are blanks. `grows`: it may become the spine, for good.
 */
const char *rig_part_parse_list(struct rig_part *part, struct rig_txn_op *mop, const char *at, const char *behind,
                                uint32_t known, bool commas, bool grows);
/* Room for `count` more elements behind those of the spine; NULL when memory runs out. */
RIG_PART_INLINE int64_t *rig_part_room_to_grow(struct rig_part *part, uint32_t key, uint32_t count)
{
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    if (!rig_growing_list_has_room(spine, count) && !rig_growing_list_reserve(&part->segment->pool, spine, count)) {
        part->no_memory = true;
        return NULL;
    }
    return spine->at + spine->count;
}

/* Notes what the spine of the key is, for rig_part_take_back(); unless it `grows`, there is room for a doubt then.
 * False when memory runs out. */
RIG_PART_INLINE bool rig_part_note_spine(struct rig_part *part, uint32_t key, bool grows)
{
    if ((part->changes.count == part->changes.capacity && !rig_part_may_grow(part, part->changes.count)) ||
        !rig_part_changes_reserve(&part->changes, part->changes.count + 1) ||
        (!grows && !rig_part_doubts_reserve(&part->doubts, part->doubts.count + 1))) {
        part->no_memory = true;
        return false;
    }
    struct rig_part_change *change = &part->changes.at[part->changes.count++];
    change->key = key;
    change->count = part->segment->keys.at[key].spine.count;
    change->spine = part->spines.at[key];
    return true;
}

/*
 * `mop`, which has its place in the segment, read a prefix of its key's spine, which was noted; `grows`: for somebody
 * who did not fail. There is no branch on whether it read more than was certain.
 */
RIG_PART_INLINE void rig_part_read_spine(struct rig_part *part, const struct rig_txn_op *mop, bool grows)
{
    struct rig_part_spine *spine = &part->spines.at[mop->key];
    bool is_new = mop->count > spine->certain;
    if (grows) {
        spine->certain = is_new ? mop->count : spine->certain;
        part->grows |= is_new;
        return;
    }
    uint32_t doubt = (uint32_t)part->doubts.count;
    part->doubts.at[doubt] = (struct rig_part_doubt){(uint32_t)(mop - part->segment->ops.at), spine->doubt};
    part->doubts.count += is_new;
    spine->doubt = is_new ? doubt : spine->doubt;
}

/*
 * The next `count` elements were written into that room, and `mop` read all that the spine has now, which stands in
 * the file as `text`, behind which is a closing bracket. False when memory runs out.
 */
RIG_PART_INLINE bool rig_part_has_grown(struct rig_part *part, const struct rig_txn_op *mop, uint32_t count,
                                        const char *text, size_t length, bool grows)
{
    struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    struct rig_part_spine *as_text = &part->spines.at[mop->key];
    if (!rig_part_note_spine(part, mop->key, grows))
        return false;
    spine->count += count;
    as_text->text = text;
    as_text->length = length;
    as_text->count = spine->count;
    rig_part_read_spine(part, mop, grows);
    return true;
}

/* `mop` read a prefix of the spine that is shorter than its text. False when memory runs out. */
bool rig_part_read_prefix(struct rig_part *part, const struct rig_txn_op *mop, bool grows);
/* Of the key's spine only what is certain stays; what failed transactions read beyond is a branch. Nothing of this
 * can be taken back. */
void rig_part_end_doubt(struct rig_part *part, uint32_t key);
/* The same for all keys, at the end of the part. */
void rig_part_end_doubts(struct rig_part *part);
/* A list that was parsed, of a key without doubts. False when memory runs out. */
bool rig_part_list(struct rig_part *part, struct rig_txn_op *mop, const struct rig_micro *micro,
                   const int64_t *elements, bool grows);

#endif
