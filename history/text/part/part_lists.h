/*
 * The lists of a part: each read is a prefix of its key's spine, or of a branch.
 *
 * While a part is read, a spine may have more than its certain elements (struct rig_part_spine): those that only failed
 * transactions have read so far. With most databases others read them a moment later, so that failed transactions need
 * no list of their own.
 *
 * Threads: one a part.
 */
#ifndef RIG_HISTORY_TEXT_PART_PART_LISTS_H
#define RIG_HISTORY_TEXT_PART_PART_LISTS_H

#include "history/text/part/operation_part.h"

/*
 * Reads the list with its text at `at` as the result of `mop`; it leaves or continues the spine's text at `behind`, and
 * `known` numbers begin before that. Returns the position after the closing bracket, or NULL if the list is unusual or
 * contradicts uncertain elements. `commas`: one comma must separate numbers; else commas are blanks. `grows`: it may
 * become the spine permanently.
 */
const char *rig_part_parse_list(struct rig_part *part, struct rig_txn_op *mop, const char *at, const char *behind,
                                uint32_t known, bool commas, bool grows);
/* Room for `count` more elements after those of the spine; NULL when memory runs out. */
RIG_PART_INLINE int64_t *rig_part_room_to_grow(struct rig_part *part, uint32_t key, uint32_t count)
{
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    if (!rig_growing_list_has_room(spine, count) && !rig_growing_list_reserve(&part->segment->pool, spine, count)) {
        part->no_memory = true;
        return NULL;
    }
    return spine->at + spine->count;
}

/* Notes the state of the key's spine for rig_part_take_back(); unless it `grows`, reserves a doubt. False when
 * memory runs out. */
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
 * `mop`, which has its place in the segment, read a prefix of its key's spine, which was noted; `grows`: its
 * transaction did not fail. There is no branch on whether it read more than was certain.
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
 * Adds the `count` elements that were written into that room. `mop` read the whole new spine; `text` is its text in the
 * file, followed by a closing bracket. False when memory runs out.
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
/* Cuts the key's spine to its certain elements; those that only failed transactions read become a branch. This
 * cannot be undone. */
void rig_part_end_doubt(struct rig_part *part, uint32_t key);
/* The same for all keys, at the end of the part. */
void rig_part_end_doubts(struct rig_part *part);
/* A list that was parsed, of a key without doubts. False when memory runs out. */
bool rig_part_list(struct rig_part *part, struct rig_txn_op *mop, const struct rig_micro *micro,
                   const int64_t *elements, bool grows);

#endif
