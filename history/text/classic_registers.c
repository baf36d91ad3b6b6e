/*
 * Histories of classic invariants that are read as registers (classic_operations.h):
 *
 *   sequential   {:f :write, :value 4}              4_0, 4_1, ... are written in this order, a transaction each
 *                {:f :read, :value [4 ["4_1" nil]]}  and read in reverse order
 *   dirty-reads  {:f :write, :value 5}              [[:w 0 5] [:w 1 5] ...]
 *                {:f :read, :value [5 5]}           [[:r 0 5] [:r 1 5]]
 *   or, with strong reads of all rows at the end,
 *                {:f :write, :value 5}              [[:w 5 1]]
 *                {:f :read, :value 5}               [[:r 5 1]]
 *                {:f :strong-read, :value #{4 5}}   [[:r 4 1] [:r 5 1] [:r 6 nil] ...]
 *   unique-ids   {:f :generate, :value 7}           [[:r 7 nil] [:w 7 <a number of its own>]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/text/classic_private.h"

static bool writes(const struct rig_classic_item *item)
{
    return rig_classic_is_one_of(&item->function, rig_classic_writes);
}

/* Enters the first sequence of the value, which it has; the closer. */
static char enter_sequence(const struct rig_classic *r, const struct rig_text_slice *value,
                           struct rig_text_cursor *cursor)
{
    *cursor = rig_classic_cursor(r, value->at);
    return rig_classic_enter(r, cursor, false);
}

/* ---- sequential ---- */

static bool is_key(const struct rig_text_slice *key)
{
    int64_t number;
    return rig_classic_number(key, &number);
}

/* Whether the item is nil, or the text "<key>_<anything>". */
static bool is_subkey(const struct rig_text_slice *key, const struct rig_text_slice *item)
{
    const struct rig_text_slice text = rig_classic_bare(item->at, item->length);
    return rig_classic_is_null(item) ||
           (text.length > key->length && memcmp(text.at, key->at, key->length) == 0 && text.at[key->length] == '_');
}

bool rig_classic_shows_subkeys(const struct rig_classic *r, const struct rig_classic_item *read, bool *found)
{
    struct rig_text_slice pair[2], item;
    struct rig_text_cursor cursor;
    if (!rig_classic_is_pair(r, &read->value, pair) || !is_key(&pair[0]) || !rig_classic_is_sequence(r, &pair[1]))
        return false;
    const char closer = enter_sequence(r, &pair[1], &cursor);
    for (bool is_first = true; rig_classic_next(r, &cursor, closer, is_first, &item); is_first = false) {
        if (!is_subkey(&pair[0], &item))
            return false;
        *found |= !rig_classic_is_null(&item);
    }
    return true;
}

static bool shows_subkeys(const struct rig_classic *r, const struct rig_classic_item *read)
{
    bool found = false;
    return rig_classic_shows_subkeys(r, read, &found);
}

/* Notes how many subkeys reads show, and of each key one more than the highest that a read found. */
static bool find_subkeys(struct rig_classic *r)
{
    r->group = 1; /* without a read, one is enough */
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *read = &r->items.at[i];
        struct rig_text_slice pair[2], item;
        struct rig_text_cursor cursor;
        if (!read->is_client || !rig_classic_reads(read) || read->type != RIG_OPERATION_OK || !shows_subkeys(r, read))
            continue;
        (void)rig_classic_is_pair(r, &read->value, pair);
        const size_t length = rig_classic_count(r, &pair[1]);
        uint32_t *most = rig_table_put(&r->known, rig_classic_hash(&pair[0]));
        if (most == NULL)
            return false;
        if (*most == RIG_TABLE_NONE)
            *most = 0;
        if (length > r->group)
            r->group = length;
        const char closer = enter_sequence(r, &pair[1], &cursor);
        for (size_t j = 0; rig_classic_next(r, &cursor, closer, j == 0, &item); j++) {
            if (!rig_classic_is_null(&item) && length - j > *most)
                *most = (uint32_t)(length - j);
        }
    }
    return true;
}

/* One transaction of one operation on a subkey; value NULL: it reads nil, unless it writes. */
static void put_subkey(struct rig_classic *r, const struct rig_classic_item *item, enum rig_operation_type type,
                       const struct rig_text_slice *key, size_t number, bool is_write, bool found)
{
    struct rig_classic_item own = *item;
    own.type = type;
    rig_classic_begin(r, &own, r->written);
    char text[64];
    const int length = snprintf(text, sizeof text, "\"%.*s_%zu\"", (int)key->length, key->at, number);
    const struct rig_text_slice subkey = {.at = text, .length = (size_t)length};
    rig_classic_begin_micro(r, is_write ? "w" : "r", &subkey);
    if (found)
        rig_classic_end_number(r, 1);
    else
        rig_classic_end_null(r);
    rig_classic_end(r);
}

/* A client inserts a subkey after it got the answer to the one before: those before one that was seen are done. */
static enum rig_rc put_insertions(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    const struct rig_text_slice *key = &rig_classic_asked(r, item)->value;
    if (!is_key(key))
        return rig_classic_refuse(r, item, "of a key that is not an integer of 18 digits");
    const uint32_t seen = rig_table_get(&r->known, rig_classic_hash(key));
    const bool done = answer->type == RIG_OPERATION_OK;
    for (size_t i = 0; i < r->group; i++) {
        const bool before_seen = seen != RIG_TABLE_NONE && i + 1 < seen;
        const enum rig_operation_type type = done || before_seen ? RIG_OPERATION_OK : RIG_OPERATION_INFO;
        put_subkey(r, item, type, key, i, true, true);
    }
    return RIG_OK;
}

static enum rig_rc put_reverse_reads(struct rig_classic *r, const struct rig_classic_item *item)
{
    struct rig_text_slice pair[2], value;
    struct rig_text_cursor cursor;
    if (!shows_subkeys(r, item))
        return rig_classic_refuse(r, item, "whose value is not a key and a list of its subkeys or nil");
    (void)rig_classic_is_pair(r, &item->value, pair);
    const size_t count = rig_classic_count(r, &pair[1]);
    const char closer = enter_sequence(r, &pair[1], &cursor);
    for (size_t i = 0; i < count && rig_classic_next(r, &cursor, closer, i == 0, &value); i++)
        put_subkey(r, item, RIG_OPERATION_OK, &pair[0], count - 1 - i, false, !rig_classic_is_null(&value));
    return RIG_OK;
}

static enum rig_rc put_sequential(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (rig_classic_reads(item))
        return put_reverse_reads(r, item);
    return writes(item) ? put_insertions(r, item) : rig_classic_refuse(r, item, "is not known");
}

/* The times of the parts of an operation are not known, only their order: there are no invocations. */
static bool has_no_part(const struct rig_classic *r, const struct rig_classic_item *item)
{
    (void)r;
    if (item->type == RIG_OPERATION_INVOKE && item->partner != RIG_TABLE_NONE)
        return true;
    return rig_classic_reads(item) && item->type != RIG_OPERATION_OK;
}

const struct rig_classic_form rig_classic_sequential = {
    .workload = RIG_WORKLOAD_SEQUENTIAL, .prepare = find_subkeys, .skips = has_no_part, .put_all = put_sequential};

/* ---- dirty reads ---- */

static bool is_strong(const struct rig_classic_item *item)
{
    return rig_slice_is(&item->function, "strong-read");
}

static bool is_refresh(const struct rig_classic *r, const struct rig_classic_item *item)
{
    (void)r;
    return rig_slice_is(&item->function, "refresh");
}

static bool note_row(struct rig_classic *r, const struct rig_text_slice *row)
{
    uint32_t *slot = rig_table_put(&r->known, rig_classic_hash(row));
    if (slot == NULL || *slot != RIG_TABLE_NONE)
        return slot != NULL;
    *slot = (uint32_t)r->keys.count;
    return rig_text_slices_add(&r->keys, *row);
}

/* Whether the operation is about one row by its number. */
static bool is_of_one_row(const struct rig_classic *r, const struct rig_classic_item *item)
{
    return is_strong(item) || is_refresh(r, item) || (rig_classic_reads(item) && rig_classic_is_number(&item->value));
}

/* All rows that some operation names, where strong reads tell which of them exist; else the longest read, or one. */
static bool find_rows(struct rig_classic *r)
{
    r->group = 1;
    for (size_t i = 0; i < r->items.count; i++)
        r->is_wide |= r->items.at[i].is_client && is_of_one_row(r, &r->items.at[i]);
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        struct rig_text_slice row;
        struct rig_text_cursor cursor;
        if (!item->is_client || rig_classic_is_null(&item->value) || is_refresh(r, item))
            continue;
        if (!rig_classic_is_sequence(r, &item->value)) {
            if (r->is_wide && !note_row(r, &item->value))
                return false;
            continue;
        }
        const size_t count = rig_classic_count(r, &item->value);
        r->group = count > r->group ? count : r->group;
        const char closer = enter_sequence(r, &item->value, &cursor);
        for (bool is_first = true; r->is_wide && rig_classic_next(r, &cursor, closer, is_first, &row);
             is_first = false) {
            if (!note_row(r, &row))
                return false;
        }
    }
    return true;
}

static void put_register(struct rig_classic *r, const char *name, size_t number)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%zu", number);
    const struct rig_text_slice key = {.at = text, .length = (size_t)length};
    rig_classic_begin_micro(r, name, &key);
}

/* Which of the rows a strong read shows: a byte each, in the order of r->keys. NULL when memory runs out. */
static uint8_t *mark_shown(const struct rig_classic *r, const struct rig_text_slice *value)
{
    uint8_t *shown = calloc(r->keys.count + 1, 1);
    struct rig_text_slice row;
    struct rig_text_cursor cursor;
    if (shown == NULL)
        return NULL;
    const char closer = enter_sequence(r, value, &cursor);
    for (bool is_first = true; rig_classic_next(r, &cursor, closer, is_first, &row); is_first = false)
        shown[rig_table_get(&r->known, rig_classic_hash(&row))] = 1;
    return shown;
}

static enum rig_rc put_strong_read(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_text_slice *value = &rig_classic_answer(r, item)->value;
    if (!rig_classic_is_ok(r, item))
        return RIG_OK;
    if (!rig_classic_is_sequence(r, value))
        return rig_classic_refuse(r, item, "whose value is not a set or a list");
    uint8_t *shown = mark_shown(r, value);
    if (shown == NULL)
        return rig_cursor_no_memory(&r->parser.cursor);
    for (size_t i = 0; i < r->keys.count; i++) {
        rig_classic_begin_micro(r, "r", &r->keys.at[i]);
        if (item->type == RIG_OPERATION_OK && shown[i])
            rig_classic_end_number(r, 1);
        else
            rig_classic_end_null(r);
    }
    free(shown);
    return RIG_OK;
}

static enum rig_rc put_row(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_text_slice *row = &rig_classic_asked(r, item)->value;
    if (rig_classic_is_null(row))
        return rig_classic_refuse(r, item, "without a value");
    rig_classic_begin_micro(r, writes(item) ? "w" : "r", row);
    if (writes(item) || item->type == RIG_OPERATION_OK)
        rig_classic_end_number(r, 1);
    else
        rig_classic_end_micro(r, NULL);
    return RIG_OK;
}

/* The values of the rows in their order, of a read; the same one in each, of a write. */
static enum rig_rc put_rows(struct rig_classic *r, const struct rig_classic_item *item)
{
    const bool reads = rig_classic_reads(item);
    const struct rig_text_slice *value = reads ? &item->value : &rig_classic_asked(r, item)->value;
    struct rig_text_slice seen;
    struct rig_text_cursor cursor;
    if (!reads && rig_classic_is_null(value))
        return rig_classic_refuse(r, item, "without a value");
    const bool known = reads && item->type == RIG_OPERATION_OK && !rig_classic_is_null(value);
    if (known && !rig_classic_is_sequence(r, value))
        return rig_classic_refuse(r, item, "whose value is not a list of the rows' values");
    const size_t count = known ? rig_classic_count(r, value) : r->group;
    const char closer = known ? enter_sequence(r, value, &cursor) : '\0';
    for (size_t i = 0; i < count; i++) {
        put_register(r, reads ? "r" : "w", i);
        if (known)
            (void)rig_classic_next(r, &cursor, closer, i == 0, &seen);
        rig_classic_end_micro(r, known ? &seen : reads ? NULL : value);
    }
    return RIG_OK;
}

/* An invocation has as many micro-operations as its completion, which may show fewer rows than the longest read. */
static enum rig_rc put_invoked_rows(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    const size_t all = r->group;
    if (answer->type == RIG_OPERATION_OK && rig_classic_is_sequence(r, &answer->value))
        r->group = rig_classic_count(r, &answer->value);
    const enum rig_rc rc = put_rows(r, item);
    r->group = all;
    return rc;
}

static enum rig_rc put_dirty_reads(struct rig_classic *r, const struct rig_classic_item *item)
{
    if (is_strong(item))
        return put_strong_read(r, item);
    if (!writes(item) && !rig_classic_reads(item))
        return rig_classic_refuse(r, item, "is not known");
    if (r->is_wide)
        return put_row(r, item);
    return rig_classic_reads(item) && item->type == RIG_OPERATION_INVOKE ? put_invoked_rows(r, item)
                                                                         : put_rows(r, item);
}

const struct rig_classic_form rig_classic_dirty_reads = {.workload = RIG_WORKLOAD_DIRTY_READS,
                                                         .reads_at_once = true,
                                                         .prepare = find_rows,
                                                         .skips = is_refresh,
                                                         .put = put_dirty_reads};

/* ---- unique ids ---- */

/* Whether no client knows its id. */
static bool has_no_id(const struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    return answer->type != RIG_OPERATION_OK || rig_classic_is_null(&answer->value);
}

/* The id was free, and is taken from now on. */
static enum rig_rc put_id(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *answer = rig_classic_answer(r, item);
    rig_classic_begin_micro(r, "r", &answer->value);
    rig_classic_end_null(r);
    rig_classic_begin_micro(r, "w", &answer->value);
    rig_classic_end_number(r, 1 + (answer - r->items.at));
    return RIG_OK;
}

const struct rig_classic_form rig_classic_unique_ids = {
    .workload = RIG_WORKLOAD_UNIQUE_IDS, .skips = has_no_id, .put = put_id};
