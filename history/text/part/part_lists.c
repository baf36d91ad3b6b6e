#include "history/text/part/part_lists.h"

#include <string.h>

#include "base/bug.h"
#include "history/text/scan/list_text.h"

static const uint32_t none = RIG_TABLE_NONE;

/* After a number: moves to the next one, or past the closing bracket. False unless one or two blanks separate them. */
static bool next_number(const char **at, bool commas, bool *more)
{
    const char *from = *at;
    *more = *from != ']';
    if (!*more) {
        *at = from + 1;
        return true;
    }
    if (commas ? *from != ',' : !rig_list_is_blank(*from))
        return false;
    from++;
    from += commas ? *from == ' ' : rig_list_is_blank(*from);
    *at = from;
    return *from != ']';
}

/* False without memory and beyond the limit; the grammar then reports it. */
static bool keep_number(struct rig_part *part, int64_t number)
{
    struct rig_element_vec *elements = &part->elements;
    return (elements->count < elements->capacity || rig_part_may_grow(part, elements->count)) &&
           rig_element_vec_add(elements, number);
}

/* Reads numbers from *at up to and including the closing bracket into part->elements. */
static bool parse_numbers(struct rig_part *part, const char **at, bool commas)
{
    const char *from = *at;
    part->elements.count = 0;
    for (bool more = true; more;) {
        int64_t number;
        if (part->end - from < RIG_NUMBER_TEXT_ROOM || (from = rig_number_short(from, &number)) == NULL ||
            !next_number(&from, commas, &more) || !keep_number(part, number))
            return false;
    }
    *at = from;
    return true;
}

/* Appends elements to the spine, which then is the list that `mop` read, with the text `text` in the file. */
static bool grow_spine(struct rig_part *part, const struct rig_txn_op *mop, const int64_t *elements, uint32_t count,
                       const char *text, size_t length, bool grows)
{
    int64_t *room = rig_part_room_to_grow(part, mop->key, count);
    if (room == NULL)
        return false;
    if (count > 0)
        memcpy(room, elements, count * sizeof *room);
    return rig_part_has_grown(part, mop, count, text, length, grows);
}

/*
 * A list that has `shared` elements of the spine, all of them certain, followed by others: it joins the key's newest
 * branch if the two agree over their common length, else it is a new one.
 */
static bool add_branch(struct rig_part *part, struct rig_txn_op *mop, uint32_t shared, const int64_t *tail,
                       uint32_t tail_count)
{
    struct rig_segment *segment = part->segment;
    uint32_t *newest = &part->spines.at[mop->key].branch;
    struct rig_growing_branch *last = *newest == none ? NULL : &segment->branches.at[*newest];
    const struct rig_read_list list = {
        .at = segment->keys.at[mop->key].spine.at, .tail = tail, .shared = shared, .count = shared + tail_count};
    if (last == NULL || !rig_growing_branch_agrees(last, &list, shared)) {
        if (segment->branches.count >= RIG_LIST_BRANCH - 1 || !rig_part_note_spine(part, mop->key, true) ||
            !rig_growing_branches_add(&segment->branches,
                                      (struct rig_growing_branch){.key = mop->key, .shared = shared}))
            return false;
        *newest = (uint32_t)segment->branches.count - 1;
        last = &segment->branches.at[*newest];
    }
    mop->list = RIG_LIST_BRANCH | *newest;
    return rig_growing_branch_extend(&segment->pool, last, &list);
}

/* The first index below `count` at which a and b differ, or `count`. */
static uint32_t first_difference(const int64_t *a, const int64_t *b, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && a[i] == b[i])
        i++;
    return i;
}

/* A list of the first `known` elements of the spine, followed by part->elements, that differs from the certain part of
 * the spine. */
static bool leave_spine(struct rig_part *part, struct rig_txn_op *mop, uint32_t known)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    struct rig_element_vec *elements = &part->elements;
    uint32_t certain = part->spines.at[mop->key].certain, count = (uint32_t)elements->count;
    if (known <= certain) {
        uint32_t more = count < certain - known ? count : certain - known;
        uint32_t shared = first_difference(elements->at, spine->at + known, more);
        return add_branch(part, mop, known + shared, elements->at + shared, count - shared);
    }
    uint32_t doubtful = known - certain;
    if (!rig_element_vec_reserve(elements, elements->count + doubtful))
        return false;
    memmove(elements->at + doubtful, elements->at, count * sizeof *elements->at);
    memcpy(elements->at, spine->at + certain, doubtful * sizeof *elements->at);
    elements->count += doubtful;
    return add_branch(part, mop, certain, elements->at, count + doubtful);
}

bool rig_part_read_prefix(struct rig_part *part, const struct rig_txn_op *mop, bool grows)
{
    if (mop->count <= part->spines.at[mop->key].certain)
        return true;
    if (!rig_part_note_spine(part, mop->key, grows))
        return false;
    rig_part_read_spine(part, mop, grows);
    return true;
}

void rig_part_end_doubt(struct rig_part *part, uint32_t key)
{
    struct rig_part_spine *as_text = &part->spines.at[key];
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    struct rig_txn_op branch = {.key = key};
    if (spine->count == as_text->certain)
        return;
    uint32_t certain = as_text->certain;
    part->no_memory =
        part->no_memory || !add_branch(part, &branch, certain, spine->at + certain, spine->count - certain);
    if (part->no_memory)
        return;
    for (uint32_t i = as_text->doubt; i != none; i = part->doubts.at[i].before) {
        struct rig_txn_op *mop = &part->segment->ops.at[part->doubts.at[i].op];
        RIG_INVARIANT(mop->key == key);
        if (mop->count > certain && !rig_txn_op_is_branch(mop))
            mop->list = branch.list;
    }
    spine->count = certain;
    as_text->doubt = none;
    as_text->text = NULL;
    as_text->length = as_text->count = 0;
}

void rig_part_end_doubts(struct rig_part *part)
{
    for (uint32_t key = 0; part->doubts.count > 0 && key < part->segment->keys.count; key++)
        rig_part_end_doubt(part, key);
}

/* A list in the file: its first `known` elements are the spine's, the others are part->elements. */
static bool place_list(struct rig_part *part, struct rig_txn_op *mop, uint32_t known, const char *text, size_t length,
                       bool grows)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    const int64_t *rest = part->elements.at;
    size_t count = known + part->elements.count;
    size_t common = count < spine->count ? count : spine->count;
    bool agrees = common == known || memcmp(rest, spine->at + known, (common - known) * sizeof *rest) == 0;
    if (count >= UINT32_MAX)
        return false;
    mop->count = (uint32_t)count;
    if (!agrees && grows && spine->count > part->spines.at[mop->key].certain)
        return false;
    if (!agrees || (count > spine->count && !grows)) {
        bool fits = leave_spine(part, mop, known);
        part->no_memory = part->no_memory || !fits;
        return fits;
    }
    if (count >= spine->count && count > part->spines.at[mop->key].count)
        return grow_spine(part, mop, rest + (spine->count - known), (uint32_t)(count - spine->count), text, length,
                          grows);
    return rig_part_read_prefix(part, mop, grows);
}

const char *rig_part_parse_list(struct rig_part *part, struct rig_txn_op *mop, const char *at, const char *behind,
                                uint32_t known, bool commas, bool grows)
{
    const char *from = behind;
    if (from > at && !rig_list_is_blank(from[-1])) {
        while (from > at && !rig_list_is_blank(from[-1]))
            from--;
        known--; /* the number may go on differently */
    }
    bool fits = parse_numbers(part, &from, commas) && place_list(part, mop, known, at, (size_t)(from - 1 - at), grows);
    return fits ? from : NULL;
}

bool rig_part_list(struct rig_part *part, struct rig_txn_op *mop, const struct rig_micro *micro,
                   const int64_t *elements, bool grows)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    uint32_t count = (uint32_t)micro->element_count;
    bool fits = true;
    mop->list = mop->key;
    mop->count = count;
    uint32_t common = count < spine->count ? count : spine->count;
    uint32_t shared =
        rig_growing_list_agrees(spine, elements, count) ? common : first_difference(elements, spine->at, common);
    if (shared < count && (shared < spine->count || !grows))
        fits = add_branch(part, mop, shared, elements + shared, count - shared);
    else if (count > spine->count) /* its text may be unusual, so it is not kept for comparisons */
        fits = grow_spine(part, mop, elements + spine->count, count - spine->count, NULL, 0, grows);
    part->no_memory = part->no_memory || !fits;
    return fits;
}
