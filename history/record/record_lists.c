#include "history/record/record_lists.h"

#include <string.h>

bool rig_record_place_branch(struct rig_record_decoder *decoder, struct rig_record_key *key, uint32_t shared,
                             const int64_t *tail, uint32_t tail_count, struct rig_txn_op *mop)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_growing_branches *branches = &segment->branches;
    struct rig_growing_branch *last = key->branch_of == decoder->stamp ? &branches->at[key->branch] : NULL;
    const struct rig_read_list list = {
        .at = key->spine.at, .tail = tail, .shared = shared, .count = shared + tail_count};
    if (last == NULL || last->key != key->local || !rig_growing_branch_agrees(last, &list, shared)) {
        if (branches->count >= RIG_LIST_BRANCH ||
            !rig_growing_branches_add(branches, (struct rig_growing_branch){.key = key->local, .shared = shared}))
            return false;
        key->branch = (uint32_t)(branches->count - 1);
        key->branch_of = decoder->stamp;
        last = &branches->at[key->branch];
    }
    mop->key = key->local;
    mop->list = RIG_LIST_BRANCH | key->branch;
    mop->count = list.count;
    if (tail_count > RIG_RECORD_FEW && !rig_record_may_take(decoder, 2 * (uint64_t)tail_count * sizeof *tail))
        return false;
    return rig_growing_branch_extend(&segment->pool, last, &list);
}

/* A read of `count` elements, all of the key's spine. False when memory runs out. */
static bool place_prefix(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                         uint32_t count, struct rig_txn_op *mop)
{
    if (key->stamp != decoder->stamp && !rig_record_use_key(decoder, key))
        return false;
    if (count > key->good) {
        if (outcome == RIG_OUTCOME_FAIL)
            return rig_record_place_branch(decoder, key, key->good, key->spine.at + key->good, count - key->good, mop);
        key->good = count;
    }
    mop->key = mop->list = key->local;
    mop->count = count;
    return true;
}

/* Reads `count` elements to `to`; the first is stored as the difference to `last`. */
static bool get_elements(struct rig_record_decoder *decoder, int64_t last, int64_t *to, uint64_t count)
{
    struct rig_record_cursor cursor = decoder->cursor;
    for (uint64_t i = 0; i < count; i++)
        to[i] = last = rig_sum(last, rig_cursor_signed(&cursor));
    decoder->cursor = cursor;
    return cursor.bad == NULL;
}

/* Room for the elements of a list; a small file can demand many. */
static bool reserve_scratch(struct rig_record_decoder *decoder, uint64_t count)
{
    const bool grows = count > decoder->scratch.capacity && count > RIG_RECORD_FEW;
    return (!grows || (count <= UINT32_MAX && rig_record_may_take(decoder, 2 * count * sizeof(int64_t)))) &&
           rig_record_element_vec_reserve(&decoder->scratch, count);
}

/* A list of `shared` elements of the spine and `own` that follow in the file, as a branch of the segment's spine. */
static enum rig_rc get_branch(struct rig_record_decoder *decoder, struct rig_record_key *key, uint32_t shared,
                              uint64_t own, struct rig_txn_op *mop)
{
    uint32_t first = shared < key->good ? shared : key->good, between = shared - first;
    if (!reserve_scratch(decoder, between + own))
        return rig_record_no_memory(decoder);
    int64_t *scratch = decoder->scratch.at;
    if (between > 0)
        memcpy(scratch, key->spine.at + first, between * sizeof *scratch);
    if (!get_elements(decoder, shared == 0 ? 0 : key->spine.at[shared - 1], scratch + between, own))
        return rig_record_no_number(decoder);
    return rig_record_place_branch(decoder, key, first, scratch, between + (uint32_t)own, mop)
               ? RIG_OK
               : rig_record_no_memory(decoder);
}

/* Whether a read becomes the file's spine. */
static bool is_followed(const struct rig_record_decoder *decoder, enum rig_outcome outcome)
{
    return decoder->shape->version == 1 || outcome != RIG_OUTCOME_FAIL;
}

/* Shares elements with the spine, then differs; becomes the spine if it is longer. */
static enum rig_rc get_apart(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                             struct rig_txn_op *mop)
{
    uint64_t shared = rig_cursor_number(&decoder->cursor);
    uint64_t own = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (own > rig_cursor_left(&decoder->cursor))
        return rig_record_damaged(decoder, "a count larger than the frame");
    if (shared >= key->spine.count || own == 0 || shared + own >= UINT32_MAX)
        return rig_record_damaged(decoder, "a list that does not diverge from its spine");
    uint32_t count = (uint32_t)(shared + own);
    if (count <= key->spine.count || !is_followed(decoder, outcome))
        return get_branch(decoder, key, (uint32_t)shared, own, mop);
    if (!rig_record_settle_key(decoder, key) || !reserve_scratch(decoder, own))
        return rig_record_no_memory(decoder);
    if (!get_elements(decoder, shared == 0 ? 0 : key->spine.at[shared - 1], decoder->scratch.at, own))
        return rig_record_no_number(decoder);
    key->spine.count = (uint32_t)shared;
    if (key->good > shared)
        key->good = (uint32_t)shared;
    if (!rig_growing_list_add(&decoder->pool, &key->spine, decoder->scratch.at, (uint32_t)own) ||
        !place_prefix(decoder, key, outcome, count, mop))
        return rig_record_no_memory(decoder);
    return RIG_OK;
}

/* Continues the spine. */
static enum rig_rc get_longer(struct rig_record_decoder *decoder, struct rig_record_key *key, enum rig_outcome outcome,
                              uint64_t more, struct rig_txn_op *mop)
{
    uint32_t count = key->spine.count;
    if (more > rig_cursor_left(&decoder->cursor))
        return rig_record_damaged(decoder, "a list longer than the frame");
    if (count + more >= UINT32_MAX - RIG_FEW_ELEMENTS ||
        (more > RIG_RECORD_FEW && !rig_record_may_take(decoder, 2 * (count + more) * sizeof(int64_t))))
        return rig_record_no_memory(decoder);
    if (!is_followed(decoder, outcome))
        return get_branch(decoder, key, count, more, mop);
    if (!rig_growing_list_reserve(&decoder->pool, &key->spine, (uint32_t)more + RIG_FEW_ELEMENTS))
        return rig_record_no_memory(decoder);
    if (!get_elements(decoder, count == 0 ? 0 : key->spine.at[count - 1], key->spine.at + count, more))
        return rig_record_no_number(decoder);
    key->spine.count = count + (uint32_t)more;
    return place_prefix(decoder, key, outcome, key->spine.count, mop) ? RIG_OK : rig_record_no_memory(decoder);
}

enum rig_rc rig_record_get_list(struct rig_record_decoder *decoder, uint32_t key_number, enum rig_outcome outcome,
                                uint64_t code, struct rig_txn_op *mop)
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
    if (key->spine.count > 0 && !rig_growing_list_reserve(&decoder->pool, &key->spine, RIG_FEW_ELEMENTS))
        return rig_record_no_memory(decoder);
    return place_prefix(decoder, key, outcome, key->spine.count - (uint32_t)fewer, mop) ? RIG_OK
                                                                                        : rig_record_no_memory(decoder);
}

/* ---- Errors ---- */

static enum rig_rc use_text(struct rig_record_decoder *decoder, const char *text, uint32_t length, uint32_t *id)
{
    struct rig_segment *segment = decoder->segment;
    struct rig_segment_error error = {.text = rig_arena_text(&segment->texts, text, length), .length = length};
    if (error.text == NULL || segment->errors.count >= UINT32_MAX - 1 ||
        !rig_segment_errors_add(&segment->errors, error))
        return rig_record_no_memory(decoder);
    *id = (uint32_t)segment->errors.count;
    return RIG_OK;
}

enum rig_rc rig_record_get_error(struct rig_record_decoder *decoder, uint32_t *id)
{
    uint64_t code = rig_cursor_number(&decoder->cursor);
    if (decoder->cursor.bad != NULL)
        return rig_record_no_number(decoder);
    if (code < RIG_ERROR_FIRST_ID) {
        const char *at = NULL;
        uint32_t length = 0;
        enum rig_rc rc = rig_record_get_text(decoder, &at, &length);
        if (rc != RIG_OK || code == RIG_ERROR_INLINE)
            return rc != RIG_OK ? rc : use_text(decoder, at, length, id);
        struct rig_record_text text = {.at = rig_arena_text(&decoder->texts, at, length), .length = length};
        if (text.at == NULL || !rig_record_text_vec_add(&decoder->errors, text))
            return rig_record_no_memory(decoder);
        code = decoder->errors.count - 1 + RIG_ERROR_FIRST_ID;
    }
    if (code - RIG_ERROR_FIRST_ID >= decoder->errors.count)
        return rig_record_damaged(decoder, "an error text that is not defined");
    struct rig_record_text *text = &decoder->errors.at[code - RIG_ERROR_FIRST_ID];
    if (text->stamp != decoder->stamp) {
        enum rig_rc rc = use_text(decoder, text->at, text->length, &text->id);
        if (rc != RIG_OK)
            return rc;
        text->stamp = decoder->stamp;
    }
    *id = text->id;
    return RIG_OK;
}

/* ---- Side columns ---- */

static enum rig_rc get_new_name(struct rig_record_decoder *decoder, int64_t *number)
{
    struct rig_columns_name name = {0};
    enum rig_rc rc = rig_record_get_text(decoder, &name.text, &name.length);
    if (rc != RIG_OK)
        return rc;
    if (!rig_column_name_fits(name.text, name.length))
        return rig_record_damaged(decoder, "a name that is empty, too long, or has control characters");
    name.text = rig_arena_text(&decoder->texts, name.text, name.length);
    if (name.text == NULL || !rig_columns_name_vec_add(&decoder->columns.names, name))
        return rig_record_no_memory(decoder);
    *number = (int64_t)decoder->columns.names.count - 1;
    return RIG_OK;
}

/* A value that differs from the last one, which was expected. */
static enum rig_rc get_other(struct rig_record_decoder *decoder, enum rig_column column, struct rig_column_row *last)
{
    const uint64_t code = rig_cursor_number(&decoder->cursor);
    int64_t value = 0;
    enum rig_rc rc = RIG_OK;
    if (code == RIG_COLUMN_CODE_NONE) {
        last->given &= ~RIG_COLUMN_BIT(column);
        return RIG_OK;
    }
    if (rig_column_infos[column].type == RIG_COLUMN_NUMBER)
        value = rig_unzigzag(code - 1);
    else if (code == RIG_COLUMN_CODE_NEW_NAME)
        rc = get_new_name(decoder, &value);
    else if (code - RIG_COLUMN_CODE_FIRST_NAME < decoder->columns.names.count)
        value = (int64_t)(code - RIG_COLUMN_CODE_FIRST_NAME);
    else
        return rig_record_damaged(decoder, "a name that is not defined");
    rig_column_give(last, column, value);
    return rc;
}

static enum rig_rc get_spans(struct rig_record_decoder *decoder, enum rig_column column, size_t txn)
{
    struct rig_columns *columns = &decoder->segment->columns;
    struct rig_column_values *numbers = &decoder->columns.spans;
    const uint64_t count = rig_cursor_number(&decoder->cursor);
    int64_t last = 0;
    /* Each number takes a byte at least. */
    if (decoder->cursor.bad != NULL || count == 0 || count > rig_cursor_left(&decoder->cursor) / 2)
        return rig_record_damaged(decoder, "spans without numbers");
    if (!rig_column_values_reserve(numbers, 2 * (size_t)count))
        return rig_record_no_memory(decoder);
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        last = rig_sum(last, rig_cursor_signed(&decoder->cursor));
        if (last < 0 || last > RIG_SPAN_MOST)
            return rig_record_damaged(decoder, "a span that is negative or too long");
        numbers->at[i] = last;
    }
    const int64_t place =
        rig_columns_spans_add(columns, (struct rig_spans){.at = numbers->at, .count = (uint32_t)count});
    return place != RIG_COLUMN_NONE && rig_columns_set(columns, column, txn, place) ? RIG_OK
                                                                                    : rig_record_no_memory(decoder);
}

/* The columns of the segment's transaction `txn` that are not as expected; keeps the others in `last`. */
static enum rig_rc get_unexpected(struct rig_record_decoder *decoder, uint64_t differs, struct rig_column_row *last,
                                  size_t txn)
{
    struct rig_columns_decoder *columns = &decoder->columns;
    if (differs >> columns->columns.count != 0)
        return rig_record_damaged(decoder, "a side column that the header does not name");
    for (; differs != 0; differs &= differs - 1) {
        const enum rig_column column = (enum rig_column)columns->columns.at[__builtin_ctzll(differs)];
        const enum rig_column_expected expected = rig_column_infos[column].expected;
        if (expected == RIG_COLUMN_EXPECT_LAST) {
            enum rig_rc rc = get_other(decoder, column, last);
            if (rc != RIG_OK)
                return rc;
            continue;
        }
        if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
            enum rig_rc rc = get_spans(decoder, column, txn);
            if (rc != RIG_OK)
                return rc;
            continue;
        }
        int64_t value = rig_cursor_signed(&decoder->cursor);
        if (expected == RIG_COLUMN_EXPECT_NEXT)
            value = columns->next[column] = rig_sum(columns->next[column], value);
        if (!rig_columns_set(&decoder->segment->columns, column, txn, value))
            return rig_record_no_memory(decoder);
    }
    return RIG_OK;
}

/* The number in the segment of a name of the block; RIG_COLUMN_NONE when memory runs out. */
static int64_t name_in_segment(struct rig_record_decoder *decoder, int64_t number)
{
    struct rig_columns_name *name = &decoder->columns.names.at[number];
    if (name->stamp != decoder->stamp) {
        name->number = rig_columns_name(&decoder->segment->columns, name->text, name->length);
        name->stamp = decoder->stamp;
    }
    return name->number;
}

static bool set_lasting(struct rig_record_decoder *decoder, const struct rig_column_row *last, size_t txn)
{
    for (uint32_t i = 0; i < decoder->columns.lasting_count; i++) {
        const enum rig_column column = (enum rig_column)decoder->columns.lasting[i];
        int64_t value = last->at[column];
        if ((last->given & RIG_COLUMN_BIT(column)) == 0)
            continue;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
            value = name_in_segment(decoder, value);
            if (value == RIG_COLUMN_NONE)
                return false;
        }
        if (!rig_columns_set(&decoder->segment->columns, column, txn, value))
            return false;
    }
    return true;
}

enum rig_rc rig_record_get_columns(struct rig_record_decoder *decoder, const struct rig_record_slot *slot)
{
    const size_t txn = decoder->segment->txns.count;
    const uint64_t differs = rig_cursor_number(&decoder->cursor);
    struct rig_column_row *last = slot == &decoder->lone
                                      ? &decoder->columns.last_lone
                                      : rig_columns_last(&decoder->columns, (size_t)(slot - decoder->slots.at));
    if (last == NULL)
        return rig_record_no_memory(decoder);
    enum rig_rc rc = differs == 0 ? RIG_OK : get_unexpected(decoder, differs, last, txn);
    if (rc == RIG_OK && !set_lasting(decoder, last, txn))
        return rig_record_no_memory(decoder);
    return rc;
}
