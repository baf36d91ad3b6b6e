#include "history/part_lists.h"

#include <string.h>

#include "base/bug.h"
#include "history/list_text.h"

static const uint32_t none = RIG_TABLE_NONE;

/* Behind a number: to the next one, or behind the closing bracket. False for anything but one or two blanks. */
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

/* Numbers from *at up to and with the closing bracket, into part->elements. */
static bool parse_numbers(struct rig_part *part, const char **at, bool commas)
{
    struct rig_element_vec *elements = &part->elements;
    const char *from = *at;
    elements->count = 0;
    for (bool more = true; more;) {
        int64_t number;
        if (part->end - from < RIG_NUMBER_TEXT_ROOM || (from = rig_number_short(from, &number)) == NULL ||
            !next_number(&from, commas, &more) || !rig_element_vec_add(elements, number))
            return false;
    }
    *at = from;
    return true;
}

/* Adds elements behind those of the spine, which then is what `mop` read, and stands in the file as `text`. */
static bool grow_spine(struct rig_part *part, const struct rig_mop *mop, const int64_t *elements, uint32_t count,
                       const char *text, size_t length, bool grows)
{
    int64_t *room = rig_part_room_to_grow(part, mop->key, count);
    if (room == NULL)
        return false;
    if (count > 0)
        memcpy(room, elements, count * sizeof *room);
    return rig_part_has_grown(part, mop, count, text, length, grows);
}

/* A list that is no prefix of the spine: the same as the key's newest whole list as far as both go, or a new one. */
static bool add_whole(struct rig_part *part, struct rig_mop *mop, const int64_t *elements, uint32_t count)
{
    struct rig_segment *segment = part->segment;
    uint32_t *newest = &part->spines.at[mop->key].whole;
    struct rig_growing_list *last = *newest == none ? NULL : &segment->lists.at[*newest].list;
    if (last == NULL || !rig_growing_list_agrees(last, elements, count)) {
        if (segment->lists.count >= RIG_LIST_WHOLE - 1 || !rig_part_note_spine(part, mop->key) ||
            !rig_segment_lists_add(&segment->lists, (struct rig_segment_list){.key = mop->key}))
            return false;
        *newest = (uint32_t)segment->lists.count - 1;
        last = &segment->lists.at[*newest].list;
    }
    mop->list = RIG_LIST_WHOLE | *newest;
    return count <= last->count ||
           rig_growing_list_add(&segment->pool, last, elements + last->count, count - last->count);
}

/* Puts the first `count` elements of the spine before those of part->elements. */
static bool complete_elements(struct rig_part *part, const struct rig_growing_list *spine, uint32_t count)
{
    struct rig_element_vec *elements = &part->elements;
    if (!rig_element_vec_reserve(elements, elements->count + count))
        return false;
    memmove(elements->at + count, elements->at, elements->count * sizeof *elements->at);
    if (count > 0)
        memcpy(elements->at, spine->at, count * sizeof *elements->at);
    elements->count += count;
    return true;
}

bool rig_part_read_prefix(struct rig_part *part, const struct rig_mop *mop, bool grows)
{
    if (mop->count <= part->spines.at[mop->key].certain)
        return true;
    if (!rig_part_note_spine(part, mop->key))
        return false;
    rig_part_read_spine(part, mop, grows);
    return true;
}

void rig_part_end_doubt(struct rig_part *part, uint32_t key)
{
    struct rig_part_spine *as_text = &part->spines.at[key];
    struct rig_growing_list *spine = &part->segment->keys.at[key].spine;
    struct rig_mop whole = {.key = key};
    if (spine->count == as_text->certain)
        return;
    part->no_memory = part->no_memory || !add_whole(part, &whole, spine->at, spine->count);
    if (part->no_memory)
        return;
    for (uint32_t i = as_text->doubt; i != none; i = part->doubts.at[i].before) {
        struct rig_mop *mop = &part->segment->ops.at[part->doubts.at[i].op];
        RIG_INVARIANT(mop->key == key);
        if (mop->count > as_text->certain && !rig_mop_is_whole(mop))
            mop->list = whole.list;
    }
    spine->count = as_text->certain;
    as_text->doubt = none;
    as_text->text = NULL;
    as_text->length = as_text->count = 0;
}

void rig_part_end_doubts(struct rig_part *part)
{
    for (uint32_t key = 0; part->doubts.count > 0 && key < part->segment->keys.count; key++)
        rig_part_end_doubt(part, key);
}

/* A list in the file: `known` elements of it are the spine's, the others are part->elements. */
static bool place_list(struct rig_part *part, struct rig_mop *mop, uint32_t known, const char *text, size_t length,
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
        bool fits = complete_elements(part, spine, known) && add_whole(part, mop, part->elements.at, (uint32_t)count);
        part->no_memory = part->no_memory || !fits;
        return fits;
    }
    if (count >= spine->count && count > part->spines.at[mop->key].count)
        return grow_spine(part, mop, rest + (spine->count - known), (uint32_t)(count - spine->count), text, length,
                          grows);
    return rig_part_read_prefix(part, mop, grows);
}

const char *rig_part_parse_list(struct rig_part *part, struct rig_mop *mop, const char *at, const char *behind,
                                uint32_t known, bool commas, bool grows)
{
    const char *from = behind;
    if (from > at && !rig_list_is_blank(from[-1])) {
        while (from > at && !rig_list_is_blank(from[-1]))
            from--;
        known--; /* it may be another number */
    }
    bool fits = parse_numbers(part, &from, commas) && place_list(part, mop, known, at, (size_t)(from - 1 - at), grows);
    return fits ? from : NULL;
}

bool rig_part_list(struct rig_part *part, struct rig_mop *mop, const struct rig_micro *micro, const int64_t *elements,
                   bool grows)
{
    const struct rig_growing_list *spine = &part->segment->keys.at[mop->key].spine;
    uint32_t count = (uint32_t)micro->element_count;
    bool fits = true;
    mop->list = mop->key;
    mop->count = count;
    if (!rig_growing_list_agrees(spine, elements, count) || (count > spine->count && !grows))
        fits = add_whole(part, mop, elements, count);
    else if (count > spine->count) /* its text may be anything: it is not compared with */
        fits = grow_spine(part, mop, elements + spine->count, count - spine->count, NULL, 0, grows);
    part->no_memory = part->no_memory || !fits;
    return fits;
}
