#include "history/record_lists.h"

#include <string.h>

static bool place_whole(struct rig_record_decoder *decoder, struct rig_record_key *key, const int64_t *elements,
                        uint32_t count, struct rig_mop *mop)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_segment_lists *lists = &segment->lists;
    bool has_list = key->whole_of == decoder->stamp;
    if (!has_list || !rig_growing_list_agrees(&lists->at[key->whole].list, elements, count)) {
        if (lists->count >= RIG_LIST_WHOLE ||
            !rig_segment_lists_add(lists, (struct rig_segment_list){.key = key->local}))
            return false;
        key->whole = (uint32_t)(lists->count - 1);
        key->whole_of = decoder->stamp;
    }
    struct rig_growing_list *list = &lists->at[key->whole].list;
    mop->key = key->local;
    mop->list = RIG_LIST_WHOLE | key->whole;
    mop->count = count;
    return count <= list->count ||
           rig_growing_list_add(&segment->pool, list, elements + list->count, count - list->count);
}

bool rig_record_place_prefix(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                             uint32_t count, struct rig_mop *mop)
{
    if (key->stamp != decoder->stamp && !rig_record_use_key(decoder, key))
        return false;
    if (count > key->good) {
        if (outcome == RIG_OUTCOME_FAIL)
            return place_whole(decoder, key, key->spine.at, count, mop);
        key->good = count;
    }
    mop->key = mop->list = key->local;
    mop->count = count;
    return true;
}

/* Reads `count` elements, of which the first is told as the difference to `last`, to `to`. */
static bool get_elements(struct rig_record_decoder *decoder, int64_t last, int64_t *to, uint64_t count)
{
    struct rig_record_cursor cursor = decoder->cursor;
    for (uint64_t i = 0; i < count; i++)
        to[i] = last = rig_sum(last, rig_cursor_signed(&cursor));
    decoder->cursor = cursor;
    return cursor.bad == NULL;
}

/* Room for elements of a list, which a small file can make many. */
static bool reserve_scratch(struct rig_record_decoder *decoder, uint64_t count)
{
    return count <= decoder->shape->limit_bytes / sizeof(int64_t) &&
           rig_record_element_vec_reserve(&decoder->scratch, count);
}

/* Elements of the spine, and `own` that follow in the file, in the scratch. */
static enum rig_rc get_whole(struct rig_record_decoder *decoder, const struct rig_record_key *key, uint32_t shared,
                             uint64_t own)
{
    if (!reserve_scratch(decoder, shared + own))
        return rig_record_no_memory(decoder);
    int64_t *scratch = decoder->scratch.at;
    if (shared > 0)
        memcpy(scratch, key->spine.at, shared * sizeof *scratch);
    if (!get_elements(decoder, shared == 0 ? 0 : scratch[shared - 1], scratch + shared, own))
        return rig_record_no_number(decoder);
    return RIG_OK;
}

/* Whether a read becomes the file's spine. */
static bool is_followed(const struct rig_record_decoder *decoder, enum rig_outcome outcome)
{
    return decoder->shape->version == 1 || outcome != RIG_OUTCOME_FAIL;
}

/* Shares elements with the spine, then goes its own way; becomes the spine when it is longer. */
static enum rig_rc get_apart(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                             struct rig_mop *mop)
{
    uint64_t shared = rig_cursor_number(&decoder->cursor);
    uint64_t own = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (own > rig_cursor_left(&decoder->cursor))
        return rig_record_damaged(decoder, "a count larger than the frame");
    if (shared >= key->spine.count || own == 0 || shared + own >= UINT32_MAX)
        return rig_record_damaged(decoder, "a list that does not part from its spine");
    enum rig_rc rc = get_whole(decoder, key, (uint32_t)shared, own);
    if (rc != RIG_OK)
        return rc;
    uint32_t count = (uint32_t)(shared + own);
    if (count <= key->spine.count || !is_followed(decoder, outcome))
        return place_whole(decoder, key, decoder->scratch.at, count, mop) ? RIG_OK : rig_record_no_memory(decoder);
    if (!rig_record_settle_key(decoder, key))
        return rig_record_no_memory(decoder);
    key->spine.count = (uint32_t)shared;
    if (key->good > shared)
        key->good = (uint32_t)shared;
    if (!rig_growing_list_add(&decoder->pool, &key->spine, decoder->scratch.at + shared, (uint32_t)own) ||
        !rig_record_place_prefix(decoder, key, outcome, count, mop))
        return rig_record_no_memory(decoder);
    return RIG_OK;
}

/* Goes on from the spine. */
static enum rig_rc get_longer(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                              uint64_t more, struct rig_mop *mop)
{
    uint32_t count = key->spine.count;
    if (more > rig_cursor_left(&decoder->cursor))
        return rig_record_damaged(decoder, "a list longer than the frame");
    if (!is_followed(decoder, outcome)) {
        enum rig_rc rc = get_whole(decoder, key, count, more);
        if (rc != RIG_OK)
            return rc;
        return place_whole(decoder, key, decoder->scratch.at, count + (uint32_t)more, mop)
                   ? RIG_OK
                   : rig_record_no_memory(decoder);
    }
    if (count + more >= UINT32_MAX || !rig_growing_list_reserve(&decoder->pool, &key->spine, (uint32_t)more))
        return rig_record_no_memory(decoder);
    if (!get_elements(decoder, count == 0 ? 0 : key->spine.at[count - 1], key->spine.at + count, more))
        return rig_record_no_number(decoder);
    key->spine.count = count + (uint32_t)more;
    return rig_record_place_prefix(decoder, key, outcome, key->spine.count, mop) ? RIG_OK
                                                                                 : rig_record_no_memory(decoder);
}

enum rig_rc rig_record_get_list(struct rig_record_decoder *decoder, uint32_t key_number, enum rig_outcome outcome,
                                uint64_t code, struct rig_mop *mop)
{
    struct rig_record_key *key = &decoder->keys.at[key_number];
    if (key->stamp != decoder->stamp && !rig_record_use_key(decoder, key))
        return rig_record_no_memory(decoder);
    if (code == RIG_READ_CODE_APART)
        return get_apart(decoder, key, outcome, mop);
    if ((code - RIG_READ_CODE_PREFIX) % 2 == 1)
        return get_longer(decoder, key, outcome, (code - RIG_READ_CODE_LONGER) / 2 + 1, mop);
    uint64_t fewer = (code - RIG_READ_CODE_PREFIX) / 2;
    if (fewer > key->spine.count)
        return rig_record_damaged(decoder, "a list shorter than nothing");
    return rig_record_place_prefix(decoder, key, outcome, key->spine.count - (uint32_t)fewer, mop)
               ? RIG_OK
               : rig_record_no_memory(decoder);
}
