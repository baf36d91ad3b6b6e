#include "history/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/window_private.h"

struct rig_window *rig_window_new(enum rig_workload workload, size_t limit_bytes)
{
    RIG_REQUIRE(workload < RIG_WORKLOAD_COUNT);
    struct rig_window *window = calloc(1, sizeof *window);
    if (window == NULL)
        return NULL;
    window->workload = workload;
    window->limit_bytes = limit_bytes == 0 ? SIZE_MAX : limit_bytes;
    window->last_position = RIG_POSITION_NONE;
    rig_table_init(&window->key_ids);
    rig_list_pool_init(&window->pool, limit_bytes);
    rig_text_table_init(&window->key_texts, limit_bytes);
    rig_text_table_init(&window->errors, limit_bytes);
    return window;
}

void rig_window_free(struct rig_window *window)
{
    if (window == NULL)
        return;
    rig_txn_vec_done(&window->txns);
    rig_mop_vec_done(&window->ops);
    rig_txn_vec_done(&window->open);
    rig_mop_vec_done(&window->open_ops);
    rig_table_done(&window->key_ids);
    rig_window_int64s_done(&window->names);
    rig_window_keys_done(&window->keys);
    rig_window_lists_done(&window->lists);
    rig_list_pool_done(&window->pool);
    rig_text_table_done(&window->key_texts);
    rig_text_table_done(&window->errors);
    rig_list_places_done(&window->places);
    rig_list_places_done(&window->list_places);
    rig_window_uint32s_done(&window->error_of);
    rig_window_uint64s_done(&window->order);
    rig_window_uint32s_done(&window->key_map);
    rig_window_uint32s_done(&window->list_map);
    rig_window_views_done(&window->spine_views);
    rig_window_views_done(&window->list_views);
    free(window);
}

size_t rig_window_bytes(const struct rig_window *window)
{
    return sizeof *window + (window->txns.capacity + window->open.capacity) * sizeof(struct rig_txn) +
           (window->ops.capacity + window->open_ops.capacity) * sizeof(struct rig_mop) +
           window->names.capacity * sizeof(int64_t) + window->keys.capacity * sizeof(struct rig_window_key) +
           window->key_ids.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)) +
           window->lists.capacity * sizeof(struct rig_window_list) + window->pool.arena.held_bytes +
           rig_text_table_bytes(&window->key_texts) + rig_text_table_bytes(&window->errors) +
           (window->places.capacity + window->list_places.capacity) * sizeof(struct rig_list_place) +
           (window->error_of.capacity + window->key_map.capacity + window->list_map.capacity) * sizeof(uint32_t) +
           window->order.capacity * sizeof(uint64_t) +
           (window->spine_views.capacity + window->list_views.capacity) * sizeof(struct rig_list);
}

enum rig_rc rig_window_no_room(struct rig_window *window, struct rig_err *err)
{
    window->failed = true;
    if (window->limit_bytes == SIZE_MAX)
        return rig_fail(err, RIG_E_LIMIT, "the history does not fit into memory (%llu transactions so far)",
                        (unsigned long long)window->added_count);
    return rig_fail(err, RIG_E_LIMIT,
                    "the history needs more than the %zu bytes allowed (%llu transactions so far); raise --max-memory",
                    window->limit_bytes, (unsigned long long)window->added_count);
}

/* ---- keys, errors and lists of a segment under the window's numbers ---- */

uint32_t rig_window_key_id(struct rig_window *window, int64_t name)
{
    uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)name);
    if (id == NULL)
        return RIG_WINDOW_NONE;
    if (*id != RIG_TABLE_NONE)
        return *id;
    if (window->names.count >= UINT32_MAX / 2 || !rig_window_int64s_add(&window->names, name) ||
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

static bool place_whole(struct rig_window *window, uint32_t key, const int64_t *elements, uint32_t count,
                        struct rig_list_place *place)
{
    struct rig_window_key *k = &window->keys.at[key];
    struct rig_growing_list *last = k->last_whole == RIG_WINDOW_NONE ? NULL : &window->lists.at[k->last_whole].list;
    if (last == NULL || !rig_growing_list_agrees(last, elements, count)) {
        if (window->lists.count >= UINT32_MAX / 2 ||
            !rig_window_lists_add(&window->lists, (struct rig_window_list){.key = key}))
            return false;
        k->last_whole = (uint32_t)(window->lists.count - 1);
        last = &window->lists.at[k->last_whole].list;
    }
    place->whole = k->last_whole;
    return count <= last->count ||
           rig_growing_list_add(&window->pool, last, elements + last->count, count - last->count);
}

static uint32_t first_difference(const int64_t *a, const int64_t *b, uint32_t from, uint32_t count)
{
    if (from < count && memcmp(a + from, b + from, (count - from) * sizeof *a) == 0)
        return count;
    while (from < count && a[from] == b[from])
        from++;
    return from;
}

static bool place_spine(struct rig_window *window, uint32_t key, const int64_t *elements, uint32_t count,
                        struct rig_list_place *place)
{
    struct rig_growing_list *spine = &window->keys.at[key].spine;
    uint32_t common = count < spine->count ? count : spine->count;
    place->whole = RIG_WINDOW_NONE;
    place->agreed = first_difference(spine->at, elements, place->agreed, common);
    if (place->agreed < common)
        return place_whole(window, key, elements, count, place);
    place->agreed = count;
    return count <= spine->count ||
           rig_growing_list_add(&window->pool, spine, elements + spine->count, count - spine->count);
}

/* Of a list that goes on from the spine, only what a transaction read that did not fail becomes part of it: what a
 * failed one read of its own would keep every later list from being a prefix. */
static bool place_list(struct rig_window *window, const struct rig_growing_list *list, struct rig_list_place *place)
{
    struct rig_growing_list *spine = &window->keys.at[place->key].spine;
    uint32_t common = list->count < spine->count ? list->count : spine->count;
    place->whole = RIG_WINDOW_NONE;
    place->agreed = first_difference(spine->at, list->at, 0, common);
    if (place->agreed == spine->count && place->good > spine->count) {
        if (!rig_growing_list_add(&window->pool, spine, list->at + spine->count, place->good - spine->count))
            return false;
        place->agreed = place->good;
    }
    return place->agreed == list->count || place_whole(window, place->key, list->at, list->count, place);
}

/* Of each whole list, how much was read by transactions that did not fail. */
static void note_good(struct rig_window *window, const struct rig_segment *segment)
{
    for (size_t txn = 0; txn < segment->txns.count; txn++) {
        bool last = txn + 1 == segment->txns.count;
        uint32_t end = last ? (uint32_t)segment->ops.count : segment->txns.at[txn + 1].first_op;
        if (segment->txns.at[txn].outcome == RIG_OUTCOME_FAIL)
            continue;
        for (uint32_t i = segment->txns.at[txn].first_op; i < end; i++) {
            const struct rig_mop *mop = &segment->ops.at[i];
            if (!rig_mop_reads_list(mop) || !rig_mop_is_whole(mop))
                continue;
            uint32_t list = mop->list & ~RIG_LIST_WHOLE;
            RIG_REQUIRE(list < segment->lists.count && mop->count <= segment->lists.at[list].list.count);
            if (window->list_places.at[list].good < mop->count)
                window->list_places.at[list].good = mop->count;
        }
    }
}

static enum rig_rc map_key(struct rig_window *window, const struct rig_segment_key *from, struct rig_list_place *place,
                           struct rig_err *err)
{
    int64_t name = from->key;
    if (from->text != NULL) {
        enum rig_rc rc = rig_window_text_key(window, from->text, from->text_length, &name, err);
        if (rc != RIG_OK)
            return rc;
    } else if (window->key_texts.count > 0) {
        return rig_fail(err, RIG_E_INPUT, "a number as key in a history whose keys are texts; use one kind of key");
    }
    *place = (struct rig_list_place){.key = rig_window_key_id(window, name), .last_op = RIG_WINDOW_NONE};
    if (place->key == RIG_WINDOW_NONE || !place_spine(window, place->key, from->spine.at, from->spine.count, place))
        return rig_window_no_room(window, err);
    return RIG_OK;
}

static enum rig_rc map_keys(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    if (!rig_list_places_reserve(&window->places, segment->keys.count) ||
        !rig_list_places_reserve(&window->list_places, segment->lists.count))
        return rig_window_no_room(window, err);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < segment->keys.count && rc == RIG_OK; i++)
        rc = map_key(window, &segment->keys.at[i], &window->places.at[i], err);
    for (size_t i = 0; i < segment->lists.count && rc == RIG_OK; i++) {
        RIG_REQUIRE(segment->lists.at[i].key < segment->keys.count);
        uint32_t key = window->places.at[segment->lists.at[i].key].key;
        window->list_places.at[i] = (struct rig_list_place){.key = key};
    }
    if (rc == RIG_OK && segment->lists.count > 0)
        note_good(window, segment);
    for (size_t i = 0; i < segment->lists.count && rc == RIG_OK; i++) {
        if (!place_list(window, &segment->lists.at[i].list, &window->list_places.at[i]))
            rc = rig_window_no_room(window, err);
    }
    return rc;
}

/* Error 0 is none, here and there. */
static enum rig_rc map_errors(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    if (!rig_window_uint32s_reserve(&window->error_of, segment->errors.count + 1))
        return rig_window_no_room(window, err);
    window->error_of.at[0] = 0;
    for (size_t i = 0; i < segment->errors.count; i++) {
        const struct rig_segment_error *error = &segment->errors.at[i];
        uint32_t id = rig_text_table_put(&window->errors, error->text, error->length);
        if (id == RIG_TABLE_NONE)
            return rig_window_no_room(window, err);
        window->error_of.at[i + 1] = id + 1;
    }
    return RIG_OK;
}

/* ---- operations ---- */

/* Every list is a prefix of a spine: nothing to branch on. */
static void take_plain_ops(struct rig_list_place *places, size_t key_count, const struct rig_mop *from, size_t count,
                           struct rig_mop *to)
{
    for (size_t i = 0; i < count; i++) {
        struct rig_mop mop = from[i];
        RIG_REQUIRE(mop.key < key_count);
        struct rig_list_place *place = &places[mop.key];
        place->last_op = (uint32_t)i;
        mop.list = rig_mop_reads_list(&mop) ? place->key : mop.list;
        mop.key = place->key;
        to[i] = mop;
    }
}

static void take_ops(const struct rig_window *window, const struct rig_segment *segment, struct rig_mop *to)
{
    for (size_t i = 0; i < segment->ops.count; i++) {
        struct rig_mop mop = segment->ops.at[i];
        RIG_REQUIRE(mop.key < segment->keys.count);
        struct rig_list_place *place = &window->places.at[mop.key];
        place->last_op = (uint32_t)i;
        mop.key = place->key;
        if (rig_mop_reads_list(&mop)) {
            bool whole = rig_mop_is_whole(&mop);
            RIG_REQUIRE(!whole || (mop.list & ~RIG_LIST_WHOLE) < segment->lists.count);
            const struct rig_list_place *list = whole ? &window->list_places.at[mop.list & ~RIG_LIST_WHOLE] : place;
            mop.list = mop.count <= list->agreed ? list->key : RIG_LIST_WHOLE | list->whole;
        }
        to[i] = mop;
    }
}

static bool is_plain(const struct rig_window *window, const struct rig_segment *segment)
{
    bool plain = segment->lists.count == 0;
    for (size_t i = 0; i < segment->keys.count; i++)
        plain &= window->places.at[i].whole == RIG_WINDOW_NONE;
    return plain;
}

/* The transaction of the operation `op`. */
static uint64_t txn_of_op(const struct rig_txn_vec *txns, uint32_t op)
{
    size_t low = 0, high = txns->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (txns->at[middle].first_op <= op)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void note_use(struct rig_window *window, const struct rig_segment *segment)
{
    for (size_t i = 0; i < segment->keys.count; i++) {
        const struct rig_list_place *place = &window->places.at[i];
        if (place->last_op == RIG_WINDOW_NONE)
            continue;
        uint64_t used_at = window->added_count + txn_of_op(&segment->txns, place->last_op) + 1;
        struct rig_window_key *key = &window->keys.at[place->key];
        if (key->used_at < used_at)
            key->used_at = used_at;
    }
}

/* ---- transactions ---- */

/* What is wrong with the positions of a segment where something is. */
static enum rig_rc explain_positions(const struct rig_window *window, const struct rig_segment *segment,
                                     struct rig_err *err)
{
    uint32_t last = window->last_position;
    for (size_t i = 0; i < segment->txns.count; i++) {
        const struct rig_txn *txn = &segment->txns.at[i];
        if (txn->invoke_at != RIG_POSITION_NONE && txn->invoke_at >= txn->complete_at)
            return rig_fail(err, RIG_E_INPUT, "the transaction at position %u completes before it is invoked",
                            (unsigned)txn->complete_at);
        if (last != RIG_POSITION_NONE && txn->complete_at == last)
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; number them apart", (unsigned)last);
        if (last != RIG_POSITION_NONE && txn->complete_at < last)
            return rig_fail(err, RIG_E_INPUT, "position %u behind position %u; sort the operations",
                            (unsigned)txn->complete_at, (unsigned)last);
        last = txn->complete_at;
    }
    RIG_INVARIANT(false);
}

/* Copies the transactions; completions ascend, and each comes behind its invocation, unless `unordered`. */
static enum rig_rc take_txns(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    const struct rig_txn *from = segment->txns.at;
    struct rig_txn *to = window->txns.at + window->txns.count;
    const uint32_t *error_of = window->error_of.at;
    uint32_t first_op = (uint32_t)window->ops.count;
    uint32_t above = window->last_position + 1; /* 0 at first */
    uint64_t with_invocation = 0;
    bool wrong = false;
    for (size_t i = 0; i < segment->txns.count; i++) {
        struct rig_txn txn = from[i];
        RIG_REQUIRE(txn.complete_at != RIG_POSITION_NONE && txn.error <= segment->errors.count);
        bool invoked = txn.invoke_at != RIG_POSITION_NONE;
        wrong |= (txn.complete_at < above) | (invoked & (txn.invoke_at >= txn.complete_at));
        above = txn.complete_at + 1;
        with_invocation += invoked;
        txn.first_op += first_op;
        txn.error = error_of[txn.error];
        to[i] = txn;
    }
    if (wrong && !segment->unordered)
        return explain_positions(window, segment, err);
    window->last_position = above - 1;
    window->with_invocation += with_invocation;
    return RIG_OK;
}

static int compare_order(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The segment's open transactions by invocation: invocation << 32 | transaction. */
static bool order_open(struct rig_window *window, const struct rig_segment *segment)
{
    size_t count = segment->open.count;
    if (!rig_window_uint64s_reserve(&window->order, count))
        return false;
    uint64_t *order = window->order.at;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint64_t)segment->open.at[i].invoke_at << 32 | i;
        sorted &= i == 0 || order[i - 1] < order[i];
    }
    if (!sorted)
        qsort(order, count, sizeof *order, compare_order);
    return true;
}

static void take_open_txn(struct rig_window *window, const struct rig_segment *segment, size_t index)
{
    struct rig_txn txn = segment->open.at[index];
    size_t end = index + 1 < segment->open.count ? segment->open.at[index + 1].first_op : segment->open_ops.count;
    RIG_REQUIRE(txn.invoke_at != RIG_POSITION_NONE && txn.complete_at == RIG_POSITION_NONE);
    size_t from = txn.first_op;
    txn.first_op = (uint32_t)window->open_ops.count;
    txn.outcome = RIG_OUTCOME_INFO;
    window->open.at[window->open.count++] = txn;
    for (; from < end; from++) {
        struct rig_mop mop = segment->open_ops.at[from];
        RIG_REQUIRE(mop.key < segment->keys.count && mop.read_state == RIG_READ_UNKNOWN);
        mop.key = window->places.at[mop.key].key;
        window->keys.at[mop.key].is_open = true;
        window->open_ops.at[window->open_ops.count++] = mop;
    }
}

/* The open transactions of the segment take the place of those before. */
static enum rig_rc take_open(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    for (size_t i = 0; i < window->open_ops.count; i++)
        window->keys.at[window->open_ops.at[i].key].is_open = false;
    window->open.count = 0;
    window->open_ops.count = 0;
    if (!rig_txn_vec_reserve(&window->open, segment->open.count) ||
        !rig_mop_vec_reserve(&window->open_ops, segment->open_ops.count) || !order_open(window, segment))
        return rig_window_no_room(window, err);
    for (size_t i = 0; i < segment->open.count; i++) {
        size_t index = window->order.at[i] & UINT32_MAX;
        if (i > 0 && segment->open.at[index].invoke_at == window->open.at[i - 1].invoke_at)
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; number them apart",
                            (unsigned)segment->open.at[index].invoke_at);
        take_open_txn(window, segment, index);
    }
    return RIG_OK;
}

static enum rig_rc check_invocations(const struct rig_window *window, struct rig_err *err)
{
    uint64_t all = window->added_count + window->open.count;
    uint64_t with_invocation = window->with_invocation + window->open.count;
    if (with_invocation == 0 || with_invocation == all)
        return RIG_OK;
    return rig_fail(err, RIG_E_INPUT, "%llu of %llu transactions have no invocation; give all of them one, or none",
                    (unsigned long long)(all - with_invocation), (unsigned long long)all);
}

static enum rig_rc make_room(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    size_t txn_count = window->txns.count + segment->txns.count + segment->open.count;
    size_t op_count = window->ops.count + segment->ops.count + segment->open_ops.count;
    if (txn_count + 1 >= UINT32_MAX || op_count >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 transactions or operations; split the history");
    return rig_txn_vec_reserve(&window->txns, txn_count + 1) && rig_mop_vec_reserve(&window->ops, op_count)
               ? RIG_OK
               : rig_window_no_room(window, err);
}

static enum rig_rc take(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    enum rig_rc rc = make_room(window, segment, err);
    if (rc == RIG_OK)
        rc = map_keys(window, segment, err);
    if (rc == RIG_OK)
        rc = map_errors(window, segment, err);
    if (rc == RIG_OK)
        rc = take_txns(window, segment, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_mop *to = window->ops.at + window->ops.count;
    if (is_plain(window, segment))
        take_plain_ops(window->places.at, segment->keys.count, segment->ops.at, segment->ops.count, to);
    else
        take_ops(window, segment, to);
    note_use(window, segment);
    window->txns.count += segment->txns.count;
    window->ops.count += segment->ops.count;
    window->added_count += segment->txns.count;
    return take_open(window, segment, err);
}

enum rig_rc rig_window_add(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    if (window->failed)
        return rig_fail(err, RIG_E_LIMIT, "the history could not be built");
    enum rig_rc rc = take(window, segment, err);
    if (rc == RIG_OK)
        rc = check_invocations(window, err);
    if (rc == RIG_OK && rig_window_bytes(window) > window->limit_bytes)
        rc = rig_window_no_room(window, err);
    window->skipped_count += segment->skipped_count;
    window->keyword_keys |= segment->keyword_keys;
    window->unordered |= segment->unordered;
    window->failed |= rc != RIG_OK;
    return rc;
}

/* ---- the window as a history ---- */

static bool view_lists(struct rig_window *window)
{
    if (!rig_window_views_reserve(&window->spine_views, window->keys.count + 1) ||
        !rig_window_views_reserve(&window->list_views, window->lists.count + 1) ||
        !rig_window_uint32s_reserve(&window->key_map, window->keys.count) ||
        !rig_window_uint32s_reserve(&window->list_map, window->lists.count))
        return false;
    for (size_t i = 0; i < window->keys.count; i++) {
        const struct rig_growing_list *spine = &window->keys.at[i].spine;
        window->spine_views.at[i] = (struct rig_list){.at = spine->at, .count = spine->count};
    }
    for (size_t i = 0; i < window->lists.count; i++) {
        const struct rig_growing_list *list = &window->lists.at[i].list;
        window->list_views.at[i] = (struct rig_list){.at = list->at, .count = list->count};
    }
    return true;
}

/* Puts the open transactions behind the complete ones; they are no part of what the vectors count. */
static bool view_open(struct rig_window *window)
{
    if (!rig_txn_vec_reserve(&window->txns, window->txns.count + window->open.count + 1) ||
        !rig_mop_vec_reserve(&window->ops, window->ops.count + window->open_ops.count))
        return false;
    struct rig_txn *to = window->txns.at + window->txns.count;
    for (size_t i = 0; i < window->open.count; i++) {
        to[i] = window->open.at[i];
        to[i].first_op += (uint32_t)window->ops.count;
    }
    if (window->open_ops.count > 0)
        memcpy(window->ops.at + window->ops.count, window->open_ops.at,
               window->open_ops.count * sizeof *window->open_ops.at);
    return true;
}

const struct rig_history *rig_window_history(struct rig_window *window, bool with_open)
{
    if (window->failed || !view_lists(window) || !rig_txn_vec_reserve(&window->txns, window->txns.count + 1) ||
        (with_open && !view_open(window)))
        return NULL;
    uint32_t txn_count = (uint32_t)(window->txns.count + (with_open ? window->open.count : 0));
    uint32_t op_count = (uint32_t)(window->ops.count + (with_open ? window->open_ops.count : 0));
    window->txns.at[txn_count] = (struct rig_txn){.first_op = op_count};
    window->view = (struct rig_history){
        .txns = window->txns.at,
        .txn_count = txn_count,
        .ops = window->ops.at,
        .op_count = op_count,
        .spines = window->spine_views.at,
        .key_count = (uint32_t)window->keys.count,
        .lists = window->list_views.at,
        .list_count = (uint32_t)window->lists.count,
        .keys = window->names.at,
        .key_texts = window->key_texts.count == 0 ? NULL : window->key_texts.texts,
        .keyword_keys = window->keyword_keys && window->key_texts.count > 0,
        .errors = window->errors.texts,
        .error_count = window->errors.count,
        .workload = window->workload,
        .has_invocations = window->with_invocation == window->added_count,
        .skipped_count = window->skipped_count,
    };
    return &window->view;
}

bool rig_window_key_is_open(const struct rig_window *window, uint32_t key)
{
    RIG_REQUIRE(key < window->keys.count);
    return window->keys.at[key].is_open;
}

uint64_t rig_window_key_used_at(const struct rig_window *window, uint32_t key)
{
    RIG_REQUIRE(key < window->keys.count);
    return window->keys.at[key].used_at;
}

uint64_t rig_window_used_now(const struct rig_window *window)
{
    return window->added_count;
}
