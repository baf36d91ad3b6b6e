/* Adding a segment to a window: rig_window_add(). */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/window_private.h"

/* Prefetch distance for writes: that memory has not been touched for long. */
enum { AHEAD_BYTES = 1024 };

/* ---- the segment's numbers ---- */

static struct rig_read_list read_spine(const struct rig_segment_key *key, uint32_t shared, uint32_t count)
{
    return (struct rig_read_list){.at = key->spine.at, .shared = shared, .count = count};
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
    *place = (struct rig_list_place){.key = rig_window_key_id(window, name)};
    struct rig_read_list spine = read_spine(from, from->spine.count, from->spine.count);
    if (place->key == RIG_WINDOW_NONE || !rig_window_place_list(window, &spine, 0, spine.count, place))
        return rig_window_no_room(window, err);
    if (from->had_row)
        window->any_had_row = window->keys.at[place->key].had_row = true;
    return RIG_OK;
}

static enum rig_rc map_keys(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    if (!rig_list_places_reserve(&window->key_places, segment->keys.count) ||
        !rig_window_uint32s_reserve(&window->new_keys, segment->keys.count))
        return rig_window_no_room(window, err);
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < segment->keys.count && rc == RIG_OK; i++) {
        rc = map_key(window, &segment->keys.at[i], &window->key_places.at[i], err);
        window->new_keys.at[i] = window->key_places.at[i].key;
    }
    return rc;
}

/* Error 0 is none in both numberings. */
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

/* Copies the operations with the window's numbers, as if every list were a prefix of its key's spine. */
static void take_ops(const struct rig_window *window, const struct rig_segment *segment, struct rig_txn_op *restrict to)
{
    const struct rig_txn_op *restrict from = segment->ops.at;
    const uint32_t *restrict new_keys = window->new_keys.at; /* of every key, from the segment's note */
    size_t count = segment->ops.count;
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch((const char *)(to + i) + AHEAD_BYTES, 1);
        to[i] = from[i];
        to[i].key = new_keys[from[i].key];
    }
}

/* Whether the window's lists have all of the segment's. */
static bool spines_agree(const struct rig_window *window, const struct rig_segment *segment)
{
    bool agree = true;
    for (size_t i = 0; i < segment->keys.count; i++)
        agree &= window->key_places.at[i].agreed >= segment->keys.at[i].spine.count;
    return agree;
}

/* Finds the odd reads: those of branches, which were noted, and those longer than the agreement of the spines. */
static void find_odd(struct rig_window *window, const struct rig_segment *segment, const struct rig_segment_note *note)
{
    uint32_t *odd = window->odd.at;
    size_t count = 0;
    if (spines_agree(window, segment)) {
        window->odd.count = note->branch_reads.count;
        if (note->branch_reads.count > 0)
            memcpy(odd, note->branch_reads.at, note->branch_reads.count * sizeof *odd);
        return;
    }
    for (size_t i = 0; i < segment->ops.count; i++) {
        const struct rig_txn_op *mop = &segment->ops.at[i];
        bool branch = rig_txn_op_is_branch(mop), longer = mop->count > window->key_places.at[mop->key].agreed;
        odd[count] = (uint32_t)i;
        count += rig_txn_op_reads_list(mop) && (branch || longer);
    }
    window->odd.count = count;
}

/* The transaction of the operation `op`, from number `low` on. */
static size_t txn_of_op(const struct rig_segment *segment, size_t low, uint32_t op)
{
    const struct rig_txn *txns = segment->txns.at;
    size_t step = 1;
    if (segment->owned) { /* its lower 16 bits are known, and most operations are near each other */
        low += (uint16_t)(segment->ops.at[op].owner - low);
        step = (size_t)1 << 16;
    }
    while (low + step < segment->txns.count && txns[low + step].first_op <= op)
        low += step;
    return low;
}

/* Per branch, how many elements transactions read that did not fail. */
static void note_good(struct rig_window *window, const struct rig_segment *segment)
{
    size_t txn = 0;
    memset(window->good.at, 0, segment->branches.count * sizeof *window->good.at);
    for (size_t i = 0; i < window->odd.count; i++) {
        uint32_t op = window->odd.at[i];
        const struct rig_txn_op *mop = &segment->ops.at[op];
        if (!rig_txn_op_is_branch(mop))
            continue;
        uint32_t branch = rig_txn_op_branch(mop);
        RIG_REQUIRE(branch < segment->branches.count);
        RIG_REQUIRE(mop->count <= rig_growing_branch_count(&segment->branches.at[branch]));
        txn = txn_of_op(segment, txn, op);
        if (segment->txns.at[txn].outcome != RIG_OUTCOME_FAIL && window->good.at[branch] < mop->count)
            window->good.at[branch] = mop->count;
    }
}

static bool map_branches(struct rig_window *window, const struct rig_segment *segment)
{
    if (!rig_list_places_reserve(&window->branch_places, segment->branches.count) ||
        !rig_window_uint32s_reserve(&window->good, segment->branches.count))
        return false;
    if (segment->branches.count > 0)
        note_good(window, segment);
    for (size_t i = 0; i < segment->branches.count; i++) {
        const struct rig_growing_branch *from = &segment->branches.at[i];
        RIG_REQUIRE(from->key < segment->keys.count && from->shared <= segment->keys.at[from->key].spine.count);
        const struct rig_list_place *spine = &window->key_places.at[from->key];
        struct rig_read_list list =
            read_spine(&segment->keys.at[from->key], from->shared, rig_growing_branch_count(from));
        list.tail = from->tail.at;
        window->branch_places.at[i].key = spine->key;
        uint32_t known = from->shared < spine->agreed ? from->shared : spine->agreed;
        if (!rig_window_place_list(window, &list, known, window->good.at[i], &window->branch_places.at[i]))
            return false;
    }
    return true;
}

/* The lists of the odd operations have their places: stores these in the operations. */
static void mend_odd(struct rig_window *window, const struct rig_segment *segment, struct rig_txn_op *to)
{
    size_t txn = 0;
    for (size_t i = 0; i < window->odd.count; i++) {
        uint32_t op = window->odd.at[i];
        const struct rig_txn_op *mop = &segment->ops.at[op];
        const struct rig_list_place *place = rig_txn_op_is_branch(mop)
                                                 ? &window->branch_places.at[rig_txn_op_branch(mop)]
                                                 : &window->key_places.at[mop->key];
        RIG_REQUIRE(mop->count <= place->agreed || place->branch != RIG_WINDOW_NONE);
        to[op].list = mop->count > place->agreed ? RIG_LIST_BRANCH | place->branch : place->key;
        /* The note has it as it was in the segment; failed transactions do not count. */
        txn = txn_of_op(segment, txn, op);
        bool counts = segment->txns.at[txn].outcome != RIG_OUTCOME_FAIL, branch = mop->count > place->agreed;
        window->any_branch |= counts & branch;
        window->contradicted |= counts & (branch != rig_txn_op_is_branch(mop));
    }
}

/* ---- transactions ---- */

/* Words the error of a segment whose positions are wrong. */
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
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; give them different numbers",
                            (unsigned)last);
        if (last != RIG_POSITION_NONE && txn->complete_at < last)
            return rig_fail(err, RIG_E_INPUT, "position %u after position %u; sort the operations",
                            (unsigned)txn->complete_at, (unsigned)last);
        last = txn->complete_at;
    }
    RIG_INVARIANT(false);
}

/* Copies the transactions and counts those that are ok; completions ascend, and each follows its invocation, unless
 * `unordered`. */
static enum rig_rc take_txns(struct rig_window *window, const struct rig_segment *segment, uint64_t *ok,
                             struct rig_err *err)
{
    const struct rig_txn *from = segment->txns.at;
    struct rig_txn *to = window->txns.at + window->txns.count;
    const uint32_t *error_of = window->error_of.at;
    uint32_t first_op = (uint32_t)window->ops.count;
    uint32_t above = window->last_position + 1; /* 0 at first */
    uint64_t with_invocation = 0, ok_count = 0;
    bool wrong = false;
    for (size_t i = 0; i < segment->txns.count; i++) {
        struct rig_txn txn = from[i];
        __builtin_prefetch((const char *)(to + i) + AHEAD_BYTES, 1);
        RIG_REQUIRE(txn.complete_at != RIG_POSITION_NONE && txn.error <= segment->errors.count);
        bool invoked = txn.invoke_at != RIG_POSITION_NONE;
        wrong |= (txn.complete_at < above) | (invoked & (txn.invoke_at >= txn.complete_at));
        above = txn.complete_at + 1;
        with_invocation += invoked;
        ok_count += txn.outcome == RIG_OUTCOME_OK;
        txn.first_op += first_op;
        txn.error = error_of[txn.error];
        to[i] = txn;
    }
    if (wrong && !segment->unordered)
        return explain_positions(window, segment, err);
    window->last_position = above - 1;
    window->with_invocation += with_invocation;
    *ok = ok_count;
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
        struct rig_txn_op mop = segment->open_ops.at[from];
        RIG_REQUIRE(mop.key < segment->keys.count && mop.read_state == RIG_READ_UNKNOWN);
        mop.key = window->new_keys.at[mop.key];
        window->keys.at[mop.key].is_open = true;
        window->open_ops.at[window->open_ops.count++] = mop;
    }
}

/* The open transactions of the segment replace the earlier ones. */
static enum rig_rc take_open(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    for (size_t i = 0; i < window->open_ops.count; i++)
        window->keys.at[window->open_ops.at[i].key].is_open = false;
    window->open.count = 0;
    window->open_ops.count = 0;
    if (!rig_txn_vec_reserve(&window->open, segment->open.count) ||
        !rig_txn_op_vec_reserve(&window->open_ops, segment->open_ops.count) || !order_open(window, segment))
        return rig_window_no_room(window, err);
    for (size_t i = 0; i < segment->open.count; i++) {
        size_t index = window->order.at[i] & UINT32_MAX;
        if (i > 0 && segment->open.at[index].invoke_at == window->open.at[i - 1].invoke_at)
            return rig_fail(err, RIG_E_INPUT, "two operations at position %u; give them different numbers",
                            (unsigned)segment->open.at[index].invoke_at);
        take_open_txn(window, segment, index);
    }
    return RIG_OK;
}

enum rig_rc rig_window_check_invocations(const struct rig_window *window, struct rig_err *err)
{
    uint64_t all = window->added_count + window->open.count;
    uint64_t with_invocation = window->with_invocation + window->open.count;
    if (with_invocation == 0 || with_invocation == all)
        return RIG_OK;
    return rig_fail(err, RIG_E_INPUT, "%llu of %llu transactions %s no invocation; give all of them one, or none",
                    (unsigned long long)(all - with_invocation), (unsigned long long)all,
                    all - with_invocation == 1 ? "has" : "have");
}

/* Doubles, or grows by an eighth if memory is limited. */
static bool reserve(struct rig_window *window, size_t txn_count, size_t op_count)
{
    if (window->limit_bytes == SIZE_MAX)
        return rig_txn_vec_reserve(&window->txns, txn_count) && rig_txn_op_vec_reserve(&window->ops, op_count);
    bool fits = txn_count <= window->txns.capacity || rig_txn_vec_widen(&window->txns, txn_count + txn_count / 8);
    return fits && (op_count <= window->ops.capacity || rig_txn_op_vec_widen(&window->ops, op_count + op_count / 8));
}

static bool reserve_appends(struct rig_window *window, size_t count)
{
    return window->limit_bytes == SIZE_MAX     ? rig_owned_ops_reserve(&window->appends, count)
           : count <= window->appends.capacity ? true
                                               : rig_owned_ops_widen(&window->appends, count + count / 8);
}

static enum rig_rc make_room(struct rig_window *window, const struct rig_segment *segment,
                             const struct rig_segment_note *note, struct rig_err *err)
{
    size_t txn_count = window->txns.count + segment->txns.count + segment->open.count;
    size_t op_count = window->ops.count + segment->ops.count + segment->open_ops.count;
    if (txn_count + 1 >= UINT32_MAX || op_count >= UINT32_MAX)
        return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 transactions or operations; split the history");
    return reserve(window, txn_count + 1, op_count) &&
                   rig_window_uint32s_reserve(&window->odd, segment->ops.count + 1) &&
                   reserve_appends(window, window->appends.count + note->appends.count + 1)
               ? RIG_OK
               : rig_window_no_room(window, err);
}

static enum rig_rc take(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    const struct rig_segment_note *note = &segment->note;
    if (!note->made) {
        note = &window->own_note;
        if (!rig_segment_note_make(&window->own_note, segment))
            return rig_window_no_room(window, err);
    }
    uint64_t ok_count = 0;
    enum rig_rc rc = make_room(window, segment, note, err);
    if (rc == RIG_OK)
        rc = map_keys(window, segment, err);
    if (rc == RIG_OK)
        rc = map_errors(window, segment, err);
    if (rc == RIG_OK)
        rc = take_txns(window, segment, &ok_count, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_txn_op *to = window->ops.at + window->ops.count;
    take_ops(window, segment, to);
    find_odd(window, segment, note);
    if (!map_branches(window, segment))
        return rig_window_no_room(window, err);
    mend_odd(window, segment, to);
    rig_window_take_note(window, segment, note);
    if (rig_columns_any(&segment->columns) &&
        (!rig_columns_append(&window->columns, window->txns.count, &segment->columns, segment->txns.count) ||
         !rig_window_count_meanwhile(window, segment)))
        return rig_window_no_room(window, err);
    window->ok_count += ok_count;
    window->txns.count += segment->txns.count;
    window->ops.count += segment->ops.count;
    window->added_count += segment->txns.count;
    rc = take_open(window, segment, err);
    return rc == RIG_OK && !rig_window_mark_open(window, segment) ? rig_window_no_room(window, err) : rc;
}

enum rig_rc rig_window_add(struct rig_window *window, const struct rig_segment *segment, struct rig_err *err)
{
    if (window->failed)
        return rig_fail(err, RIG_E_LIMIT, "the history could not be built");
    enum rig_rc rc = take(window, segment, err);
    if (rc == RIG_OK)
        rc = rig_window_check_invocations(window, err);
    if (rc == RIG_OK && rig_window_bytes(window) > window->limit_bytes)
        rc = rig_window_no_room(window, err);
    window->skipped_count += segment->skipped_count;
    window->lost_count += segment->lost_count;
    window->reused_count += segment->reused_count;
    window->keyword_keys |= segment->keyword_keys;
    window->value_keys |= segment->value_keys;
    window->unordered |= segment->unordered;
    window->in_turn |= segment->in_turn;
    window->failed |= rc != RIG_OK;
    return rc;
}
