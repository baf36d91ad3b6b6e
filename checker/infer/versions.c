#include "checker/infer/versions.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/infer/repetition.h"

enum { DENSE_FACTOR = 4, DENSE_SLACK = 64 };

/* One committed read of a list that is stored whole. */
struct whole_read {
    uint32_t key, txn, op, count;
};

RIG_VEC(struct whole_read, whole_reads)
RIG_VEC(uint32_t, txn_stack)

struct build {
    const struct rig_history *history;
    struct rig_versions *versions;
    struct rig_arena *arena;
    struct rig_err *err;
    uint32_t *spine_seen;   /* per key: leading elements of the spine whose writers were marked as observed */
    struct txn_stack fresh; /* info transactions just found committed, whose reads are to be looked at */
    struct whole_reads wholes;
};

static enum rig_rc no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT,
                    "not enough memory for the version orders; raise --max-memory or check a shorter history");
}

static bool is_read(const struct rig_mop *op)
{
    return op->kind == RIG_OP_READ_LIST;
}

/* ---- who appended what ---- */

struct value_range {
    int64_t lowest, highest;
    uint32_t count;
};

static enum rig_rc measure_values(const struct build *build, struct value_range *ranges)
{
    const struct rig_history *history = build->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (is_read(&ops[i]))
                continue;
            if (ops[i].kind != RIG_OP_APPEND)
                return rig_fail(build->err, RIG_E_INPUT,
                                "transaction %u holds an operation that is neither an append nor a read of a list; "
                                "check it as another workload",
                                rig_txn_name(history, txn));
            struct value_range *range = &ranges[ops[i].key];
            if (range->count == 0 || ops[i].value < range->lowest)
                range->lowest = ops[i].value;
            if (range->count == 0 || ops[i].value > range->highest)
                range->highest = ops[i].value;
            range->count++;
        }
    }
    return RIG_OK;
}

static bool is_dense(const struct value_range *range)
{
    uint64_t span = (uint64_t)range->highest - (uint64_t)range->lowest;
    return span < (uint64_t)range->count * DENSE_FACTOR + DENSE_SLACK;
}

static enum rig_rc lay_out_slots(struct build *build, const struct value_range *ranges)
{
    struct rig_versions *versions = build->versions;
    uint64_t slot_count = 0;
    bool any_sparse = false;
    for (uint32_t key = 0; key < build->history->key_count; key++) {
        struct rig_key_versions *k = &versions->keys[key];
        k->slot_first = (uint32_t)slot_count;
        k->order_txn = RIG_TXN_NONE;
        k->lowest = ranges[key].lowest;
        k->sparse = ranges[key].count > 0 && !is_dense(&ranges[key]);
        any_sparse |= k->sparse;
        if (k->sparse)
            k->slot_count = ranges[key].count;
        else if (ranges[key].count > 0)
            k->slot_count = (uint32_t)((uint64_t)ranges[key].highest - (uint64_t)ranges[key].lowest + 1);
        slot_count += k->slot_count;
        if (slot_count >= UINT32_MAX)
            return rig_fail(build->err, RIG_E_LIMIT, "more than 2^32 appended values; check a shorter history");
    }
    versions->slots = rig_arena_array(build->arena, (size_t)slot_count + 1, sizeof *versions->slots);
    if (versions->slots == NULL)
        return no_memory(build->err);
    for (uint64_t i = 0; i < slot_count; i++)
        versions->slots[i] = (struct rig_append){.writer = RIG_TXN_NONE, .position = RIG_VERSION_NONE};
    if (any_sparse) {
        versions->slot_values = rig_arena_array(build->arena, (size_t)slot_count, sizeof *versions->slot_values);
        if (versions->slot_values == NULL)
            return no_memory(build->err);
    }
    return RIG_OK;
}

static int compare_values(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sparse keys: their values, sorted, stand in for the direct table. */
static enum rig_rc sort_sparse_values(struct build *build)
{
    const struct rig_history *history = build->history;
    struct rig_versions *versions = build->versions;
    if (versions->slot_values == NULL)
        return RIG_OK;
    uint32_t *filled = calloc(history->key_count, sizeof *filled);
    if (filled == NULL)
        return no_memory(build->err);
    for (uint32_t i = 0; i < history->op_count; i++) {
        const struct rig_mop *op = &history->ops[i];
        const struct rig_key_versions *k = &versions->keys[op->key];
        if (op->kind == RIG_OP_APPEND && k->sparse)
            versions->slot_values[k->slot_first + filled[op->key]++] = op->value;
    }
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_key_versions *k = &versions->keys[key];
        if (k->sparse)
            qsort(versions->slot_values + k->slot_first, k->slot_count, sizeof(int64_t), compare_values);
    }
    free(filled);
    return RIG_OK;
}

struct rig_append *rig_versions_find(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    const struct rig_key_versions *k = &versions->keys[key];
    uint64_t index = (uint64_t)value - (uint64_t)k->lowest;
    if (k->sparse) {
        const int64_t *values = versions->slot_values + k->slot_first;
        const int64_t *found = bsearch(&value, values, k->slot_count, sizeof *values, compare_values);
        if (found == NULL)
            return NULL;
        index = (uint64_t)(found - values);
    }
    if (index >= k->slot_count)
        return NULL;
    struct rig_append *slot = &versions->slots[k->slot_first + index];
    return slot->writer == RIG_TXN_NONE ? NULL : slot;
}

/* The slot of a value that is known to be appended, before its writer is known. */
static struct rig_append *slot_of(const struct rig_versions *versions, uint32_t key, int64_t value)
{
    const struct rig_key_versions *k = &versions->keys[key];
    if (!k->sparse)
        return &versions->slots[k->slot_first + (uint64_t)value - (uint64_t)k->lowest];
    const int64_t *values = versions->slot_values + k->slot_first;
    const int64_t *found = bsearch(&value, values, k->slot_count, sizeof *values, compare_values);
    RIG_INVARIANT(found != NULL);
    return &versions->slots[k->slot_first + (uint32_t)(found - values)];
}

static enum rig_rc appended_twice(const struct build *build, uint32_t first, uint32_t second, const struct rig_mop *op)
{
    char key[64];
    rig_history_key_text(build->history, op->key, key, sizeof key);
    return rig_fail(
        build->err, RIG_E_INPUT,
        "transactions %u and %u both append %lld to key %s; list-append needs values that are unique per key",
        rig_txn_name(build->history, first), rig_txn_name(build->history, second), (long long)op->value, key);
}

static enum rig_rc fill_slots(struct build *build)
{
    const struct rig_history *history = build->history;
    struct rig_versions *versions = build->versions;
    struct rig_append **last = calloc((size_t)history->key_count + 1, sizeof(struct rig_append *));
    if (last == NULL)
        return no_memory(build->err);
    enum rig_rc rc = RIG_OK;
    for (uint32_t txn = 0; txn < history->txn_count && rc == RIG_OK; txn++) {
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn) && rc == RIG_OK; i++) {
            if (is_read(&ops[i]))
                continue;
            struct rig_append *slot = slot_of(versions, ops[i].key, ops[i].value);
            if (slot->writer != RIG_TXN_NONE)
                rc = appended_twice(build, slot->writer, txn, &ops[i]);
            slot->writer = txn;
            if (last[ops[i].key] != NULL && last[ops[i].key]->writer == txn)
                last[ops[i].key]->superseded = true;
            last[ops[i].key] = slot;
        }
    }
    free(last);
    return rc;
}

/* ---- which transactions count as committed ---- */

static void commit(struct build *build, uint32_t txn)
{
    build->versions->committed[txn] = 1;
    build->versions->committed_count++;
}

static bool observe_writer(struct build *build, uint32_t key, int64_t value)
{
    const struct rig_append *slot = rig_versions_find(build->versions, key, value);
    if (slot == NULL || build->versions->committed[slot->writer])
        return true;
    if (build->history->txns[slot->writer].outcome != RIG_OUTCOME_INFO)
        return true;
    commit(build, slot->writer);
    return txn_stack_add(&build->fresh, slot->writer);
}

static bool observe_read(struct build *build, const struct rig_mop *op)
{
    struct rig_list list = rig_mop_list(build->history, op);
    bool spine = op->read_state == RIG_READ_SEEN && !rig_mop_is_whole(op);
    uint32_t from = spine ? build->spine_seen[op->key] : 0;
    for (uint32_t i = from; i < list.count; i++) {
        if (!observe_writer(build, op->key, list.at[i]))
            return false;
    }
    if (spine && list.count > from)
        build->spine_seen[op->key] = list.count;
    return true;
}

static bool observe_txn(struct build *build, uint32_t txn)
{
    const struct rig_mop *ops = rig_txn_ops(build->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(build->history, txn); i++) {
        if (is_read(&ops[i]) && !observe_read(build, &ops[i]))
            return false;
    }
    return true;
}

static enum rig_rc find_committed(struct build *build)
{
    const struct rig_history *history = build->history;
    bool any_info = false;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK)
            commit(build, txn);
        any_info |= history->txns[txn].outcome == RIG_OUTCOME_INFO;
    }
    if (!any_info)
        return RIG_OK;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome == RIG_OUTCOME_OK && !observe_txn(build, txn))
            return no_memory(build->err);
    }
    /* What a transaction that proved committed has read is an observation too. */
    while (build->fresh.count > 0) {
        if (!observe_txn(build, build->fresh.at[--build->fresh.count]))
            return no_memory(build->err);
    }
    return RIG_OK;
}

/* ---- the order of each key ---- */

static void take_order(struct rig_key_versions *k, struct rig_list list, uint32_t txn, uint32_t op)
{
    k->order = list;
    k->order_txn = txn;
    k->order_op = op;
}

/* The longest read of each key from its spine, of at most `unique_only ? spine_unique : all` elements. */
static enum rig_rc longest_spine_reads(struct build *build, bool unique_only)
{
    const struct rig_history *history = build->history;
    struct rig_versions *versions = build->versions;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!versions->committed[txn])
            continue;
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (!is_read(&ops[i]) || ops[i].read_state != RIG_READ_SEEN)
                continue;
            struct rig_key_versions *k = &versions->keys[ops[i].key];
            struct rig_list list = rig_mop_list(history, &ops[i]);
            if (rig_mop_is_whole(&ops[i])) {
                struct whole_read whole = {ops[i].key, txn, i, list.count};
                if (!unique_only && !whole_reads_add(&build->wholes, whole))
                    return no_memory(build->err);
                continue;
            }
            if (unique_only && list.count > k->spine_unique)
                continue;
            if (k->order_txn == RIG_TXN_NONE || list.count > k->order.count)
                take_order(k, list, txn, i);
        }
    }
    return RIG_OK;
}

/* How many leading elements of the spines are free of repetitions, as far as committed reads reach. */
static enum rig_rc limit_to_unique(struct build *build)
{
    bool any_repeated = false;
    for (uint32_t key = 0; key < build->history->key_count; key++) {
        struct rig_key_versions *k = &build->versions->keys[key];
        if (!rig_unique_prefix(build->versions, key, k->order, &k->spine_unique))
            return no_memory(build->err);
        if (k->spine_unique < k->order.count) {
            any_repeated = true;
            take_order(k, (struct rig_list){0}, RIG_TXN_NONE, 0);
        }
    }
    return any_repeated ? longest_spine_reads(build, true) : RIG_OK;
}

/* Longer lists win, and of equally long ones the one that was read first, however the history was put together. */
static enum rig_rc prefer_whole_lists(struct build *build)
{
    for (size_t i = 0; i < build->wholes.count; i++) {
        const struct whole_read *whole = &build->wholes.at[i];
        struct rig_key_versions *k = &build->versions->keys[whole->key];
        bool earlier = whole->txn != k->order_txn ? whole->txn < k->order_txn : whole->op < k->order_op;
        if (whole->count < k->order.count || (whole->count == k->order.count && !earlier))
            continue;
        const struct rig_mop *op = rig_txn_ops(build->history, whole->txn) + whole->op;
        struct rig_list list = rig_mop_list(build->history, op);
        uint32_t unique;
        if (!rig_unique_prefix(build->versions, whole->key, list, &unique))
            return no_memory(build->err);
        if (unique == list.count)
            take_order(k, list, whole->txn, whole->op);
    }
    return RIG_OK;
}

/* Marks where the spine leaves the order, and the first elements in it that no committed read may show. */
static void inspect_spine(struct build *build, uint32_t key, uint32_t spine_count)
{
    const struct rig_history *history = build->history;
    struct rig_key_versions *k = &build->versions->keys[key];
    const int64_t *spine = history->spines[key].at;
    k->spine_aborted = k->spine_garbage = UINT32_MAX;
    k->spine_agrees = 0;
    if (k->order.at == spine)
        k->spine_agrees = k->order.count;
    else
        while (k->spine_agrees < spine_count && k->spine_agrees < k->order.count &&
               spine[k->spine_agrees] == k->order.at[k->spine_agrees])
            k->spine_agrees++;
    for (uint32_t i = 0; i < spine_count; i++) {
        const struct rig_append *slot = rig_versions_find(build->versions, key, spine[i]);
        if (slot == NULL && k->spine_garbage == UINT32_MAX)
            k->spine_garbage = i;
        if (slot != NULL && k->spine_aborted == UINT32_MAX && history->txns[slot->writer].outcome == RIG_OUTCOME_FAIL)
            k->spine_aborted = i;
    }
}

static enum rig_rc place_versions(struct build *build)
{
    const struct rig_history *history = build->history;
    struct rig_versions *versions = build->versions;
    uint64_t total = 0;
    for (uint32_t key = 0; key < history->key_count; key++) {
        versions->keys[key].first_position = (uint32_t)total;
        total += versions->keys[key].order.count;
    }
    RIG_INVARIANT(total < UINT32_MAX);
    versions->writer_at = rig_arena_array(build->arena, (size_t)total + 1, sizeof *versions->writer_at);
    if (versions->writer_at == NULL)
        return no_memory(build->err);
    bool all_versions = true;
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_key_versions *k = &versions->keys[key];
        for (uint32_t i = 0; i < k->order.count; i++) {
            struct rig_append *slot = rig_versions_find(versions, key, k->order.at[i]);
            bool version = slot != NULL && versions->committed[slot->writer];
            if (slot != NULL)
                slot->position = i;
            versions->writer_at[k->first_position + i] = version ? slot->writer : RIG_TXN_NONE;
            all_versions &= version;
        }
    }
    if (all_versions)
        return RIG_OK;
    versions->before_at = rig_arena_array(build->arena, (size_t)total + 1, sizeof *versions->before_at);
    versions->from_at = rig_arena_array(build->arena, (size_t)total + 1, sizeof *versions->from_at);
    if (versions->before_at == NULL || versions->from_at == NULL)
        return no_memory(build->err);
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_key_versions *k = &versions->keys[key];
        uint32_t nearest = RIG_VERSION_NONE;
        for (uint32_t i = 0; i < k->order.count; i++) {
            if (versions->writer_at[k->first_position + i] != RIG_TXN_NONE)
                nearest = i;
            versions->before_at[k->first_position + i] = nearest;
        }
        nearest = RIG_VERSION_NONE;
        for (uint32_t i = k->order.count; i-- > 0;) {
            if (versions->writer_at[k->first_position + i] != RIG_TXN_NONE)
                nearest = i;
            versions->from_at[k->first_position + i] = nearest;
        }
    }
    return RIG_OK;
}

static void mark_unplaced(struct build *build, uint32_t key, struct rig_list list)
{
    for (uint32_t i = 0; i < list.count; i++) {
        struct rig_append *slot = rig_versions_find(build->versions, key, list.at[i]);
        if (slot != NULL && slot->position == RIG_VERSION_NONE)
            slot->position = RIG_VERSION_UNPLACED;
    }
}

/* What committed reads show beside the orders has no place in them, but was not left unread either. */
static void mark_contradictions(struct build *build, const uint32_t *spine_counts)
{
    const struct rig_history *history = build->history;
    for (uint32_t key = 0; key < history->key_count; key++) {
        struct rig_list spine = {history->spines[key].at, spine_counts[key]};
        if (spine.count > build->versions->keys[key].spine_agrees)
            mark_unplaced(build, key, spine);
    }
    for (size_t i = 0; i < build->wholes.count; i++) {
        const struct whole_read *whole = &build->wholes.at[i];
        mark_unplaced(build, whole->key, rig_mop_list(history, rig_txn_ops(history, whole->txn) + whole->op));
    }
}

/* True when reads show the transaction's next append to the key of its append `op`, or ought to: it is lost itself. */
static bool next_is_shown(const struct build *build, uint32_t txn, uint32_t op)
{
    const struct rig_mop *ops = rig_txn_ops(build->history, txn);
    for (uint32_t i = op + 1; i < rig_txn_op_count(build->history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == ops[op].key)
            return rig_versions_find(build->versions, ops[i].key, ops[i].value)->position != RIG_VERSION_NONE;
    }
    return false;
}

/*
 * An append that no read shows although reads show a later one of its transaction to the key did not come last: it was
 * lost. (A chain of lost ones is walked from its end.)
 */
static void mark_lost(struct build *build)
{
    const struct rig_history *history = build->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = rig_txn_op_count(history, txn); i-- > 0;) {
            if (ops[i].kind != RIG_OP_APPEND)
                continue;
            struct rig_append *slot = rig_versions_find(build->versions, ops[i].key, ops[i].value);
            if (slot->superseded && slot->position == RIG_VERSION_NONE && next_is_shown(build, txn, i))
                slot->position = RIG_VERSION_UNPLACED;
        }
    }
}

static enum rig_rc find_orders(struct build *build)
{
    const struct rig_history *history = build->history;
    enum rig_rc rc = longest_spine_reads(build, false);
    uint32_t *spine_counts = calloc((size_t)history->key_count + 1, sizeof *spine_counts);
    if (rc == RIG_OK && spine_counts == NULL)
        rc = no_memory(build->err);
    for (uint32_t key = 0; rc == RIG_OK && key < history->key_count; key++)
        spine_counts[key] = build->versions->keys[key].order.count;
    if (rc == RIG_OK)
        rc = limit_to_unique(build);
    if (rc == RIG_OK)
        rc = prefer_whole_lists(build);
    for (uint32_t key = 0; rc == RIG_OK && key < history->key_count; key++)
        inspect_spine(build, key, spine_counts[key]);
    if (rc == RIG_OK)
        rc = place_versions(build);
    if (rc == RIG_OK) {
        mark_contradictions(build, spine_counts);
        mark_lost(build);
    }
    free(spine_counts);
    return rc;
}

static enum rig_rc build_all(struct build *build)
{
    struct value_range *ranges = calloc((size_t)build->history->key_count + 1, sizeof *ranges);
    if (ranges == NULL)
        return no_memory(build->err);
    enum rig_rc rc = measure_values(build, ranges);
    if (rc == RIG_OK)
        rc = lay_out_slots(build, ranges);
    free(ranges);
    if (rc == RIG_OK)
        rc = sort_sparse_values(build);
    if (rc == RIG_OK)
        rc = fill_slots(build);
    if (rc == RIG_OK)
        rc = find_committed(build);
    return rc == RIG_OK ? find_orders(build) : rc;
}

enum rig_rc rig_versions_build(const struct rig_history *history, struct rig_arena *arena,
                               struct rig_versions *versions, struct rig_err *err)
{
    struct rig_versions result = {.history = history};
    result.keys = rig_arena_array(arena, (size_t)history->key_count + 1, sizeof *result.keys);
    result.committed = rig_arena_array(arena, (size_t)history->txn_count + 1, sizeof *result.committed);
    struct build build = {.history = history, .versions = &result, .arena = arena, .err = err};
    build.spine_seen = calloc((size_t)history->key_count + 1, sizeof *build.spine_seen);
    enum rig_rc rc = RIG_OK;
    if (result.keys == NULL || result.committed == NULL || build.spine_seen == NULL)
        rc = no_memory(err);
    if (rc == RIG_OK)
        rc = build_all(&build);
    free(build.spine_seen);
    txn_stack_done(&build.fresh);
    whole_reads_done(&build.wholes);
    if (rc == RIG_OK)
        *versions = result;
    return rc;
}

uint32_t rig_versions_before(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    const struct rig_key_versions *k = &versions->keys[key];
    RIG_REQUIRE(position <= k->order.count);
    if (position == 0)
        return RIG_VERSION_NONE;
    return versions->before_at == NULL ? position - 1 : versions->before_at[k->first_position + position - 1];
}

uint32_t rig_versions_from(const struct rig_versions *versions, uint32_t key, uint32_t position)
{
    const struct rig_key_versions *k = &versions->keys[key];
    RIG_REQUIRE(position <= k->order.count);
    if (position == k->order.count)
        return RIG_VERSION_NONE;
    return versions->from_at == NULL ? position : versions->from_at[k->first_position + position];
}

bool rig_versions_is_prefix(const struct rig_versions *versions, const struct rig_mop *op)
{
    const struct rig_key_versions *k = &versions->keys[op->key];
    struct rig_list list = rig_mop_list(versions->history, op);
    if (list.count == 0)
        return true;
    if (!rig_mop_is_whole(op))
        return list.count <= k->spine_agrees;
    return list.count <= k->order.count && memcmp(list.at, k->order.at, list.count * sizeof *list.at) == 0;
}
