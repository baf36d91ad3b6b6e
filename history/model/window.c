#include "history/model/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "history/model/history_order.h"
#include "history/model/window_private.h"
#include "history/source/source.h"
#include "history/types/row_names.h"
#include "history/types/row_parts.h"

/* The end of a window: rig_window_give(). */

/* Shrinks an array to its used part. */
static void *cut(void *at, size_t bytes)
{
    void *smaller = realloc(at, bytes == 0 ? 1 : bytes);
    return smaller != NULL ? smaller : at;
}

/* Moves the arrays of the view to the history. */
static void move_arrays(struct rig_window *window, struct rig_history *history)
{
    struct rig_history_storage *storage = history->storage;
    history->txns = cut(history->txns, (history->txn_count + (size_t)1) * sizeof *history->txns);
    history->ops = cut(history->ops, history->op_count * sizeof *history->ops);
    window->txns = (struct rig_txn_vec){0};
    window->ops = (struct rig_txn_op_vec){0};
    window->spine_views = (struct rig_spine_views){0};
    window->branch_views = (struct rig_branch_views){0};
    window->names = (struct rig_window_int64s){0};
    storage->pool = window->pool;
    storage->key_texts = window->key_texts;
    storage->errors = window->errors;
    storage->columns = window->columns;
    history->columns = history->columns == NULL ? NULL : &storage->columns;
    rig_list_pool_init(&window->pool, 0);
    rig_text_table_init(&window->key_texts, 0);
    rig_text_table_init(&window->errors, 0);
    rig_columns_init(&window->columns, 0);
}

static bool take_facts(struct rig_history *history, const struct rig_source_facts *facts)
{
    history->truncated = facts->truncated;
    history->sorted = facts->sorted;
    history->damaged_at = facts->damaged_at;
    history->damaged_bytes = facts->damaged_bytes;
    history->damaged_txns = facts->damaged_txns;
    history->start_utc_ns = facts->start_utc_ns;
    history->skipped_count = facts->skipped_count;
    history->lost_count = facts->lost_count;
    history->reused_count = facts->reused_count;
    history->reads_at_once = facts->reads_at_once;
    history->has_all_rows = facts->has_all_rows;
    struct rig_history_storage *storage = history->storage;
    if (!rig_fault_event_keep_all(&storage->faults, &storage->fault_texts, facts->faults, facts->fault_count))
        return false;
    history->faults = storage->faults.at;
    history->fault_count = (uint32_t)storage->faults.count;
    history->rank = facts->rank;
    for (size_t i = 0; i < facts->clock_count; i++) {
        if (!rig_clock_samples_add(&storage->clock, facts->clock[i]))
            return false;
    }
    history->clock = storage->clock.at;
    history->clock_count = storage->clock.count;
    if (facts->certificate != NULL) {
        storage->certificate = *facts->certificate;
        *facts->certificate = (struct rig_certificate){.complete = false};
        history->certificate = &storage->certificate;
    }
    history->row_names = rig_row_names_of(facts->meta);
    history->specification = facts->specification;
    history->keyword_keys |= facts->keyword_keys && history->key_texts != NULL;
    history->value_keys |= facts->value_keys && history->key_texts != NULL;
    if (facts->meta == NULL)
        return true;
    size_t size = strlen(facts->meta) + 1;
    history->meta = malloc(size);
    if (history->meta != NULL)
        memcpy(history->meta, facts->meta, size);
    return history->meta != NULL;
}

enum rig_rc rig_window_no_room(struct rig_window *window, struct rig_err *err)
{
    window->failed = true;
    if (window->limit_bytes == SIZE_MAX)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the history (%llu transaction%s so far)",
                        (unsigned long long)window->added_count, rig_plural(window->added_count));
    return rig_fail(err, RIG_E_LIMIT,
                    "the history needs more than the %zu bytes allowed (%llu transaction%s so far); raise --max-memory",
                    window->limit_bytes, (unsigned long long)window->added_count, rig_plural(window->added_count));
}

static enum rig_rc give(struct rig_window *window, const struct rig_source_facts *facts, struct rig_history *history,
                        struct rig_err *err)
{
    const struct rig_history *view = rig_window_history(window, true);
    struct rig_history_storage *storage = calloc(1, sizeof *storage);
    if (view == NULL || storage == NULL) {
        free(storage);
        return window->failed ? rig_fail(err, RIG_E_LIMIT, "the history could not be built")
                              : rig_window_no_room(window, err);
    }
    rig_arena_init(&storage->fault_texts, 0);
    *history = *view;
    history->summary = NULL;
    history->storage = storage;
    move_arrays(window, history);
    if (!take_facts(history, facts))
        return rig_window_no_room(window, err);
    enum rig_rc rc = rig_window_check_invocations(window, err);
    return rc == RIG_OK && window->unordered ? rig_history_order_by_time(history, err) : rc;
}

enum rig_rc rig_window_give(struct rig_window *window, const struct rig_source_facts *facts,
                            struct rig_history **history, struct rig_err *err)
{
    struct rig_history *out = calloc(1, sizeof *out);
    enum rig_rc rc = out == NULL ? rig_window_no_room(window, err) : give(window, facts, out, err);
    if (rc == RIG_OK)
        *history = out;
    else
        rig_history_free(out);
    rig_window_free(window);
    return rc;
}

enum { KNOWN_USES = 16 /* operations needed before their number tells how often a key is used */ };

void rig_window_name_rows(struct rig_window *window, const struct rig_row_names *names)
{
    window->row_names = names;
}

void rig_window_specify(struct rig_window *window, const struct rig_specification *specification)
{
    window->specification = specification;
}

struct rig_window *rig_window_new(enum rig_workload workload, size_t limit_bytes)
{
    RIG_REQUIRE(workload < RIG_WORKLOAD_COUNT);
    struct rig_window *window = calloc(1, sizeof *window);
    if (window == NULL)
        return NULL;
    window->workload = workload;
    window->type = &rig_data_types[workload];
    window->limit_bytes = limit_bytes == 0 ? SIZE_MAX : limit_bytes;
    window->last_position = RIG_POSITION_NONE;
    rig_table_init(&window->key_ids);
    rig_list_pool_init(&window->pool, limit_bytes);
    rig_text_table_init(&window->key_texts, limit_bytes);
    rig_text_table_init(&window->errors, limit_bytes);
    rig_columns_init(&window->columns, limit_bytes);
    /* These are allocated at the start: code adds to their addresses without a check, and NULL cannot be added to. */
    if (!rig_txn_vec_reserve(&window->txns, 1) || !rig_txn_op_vec_reserve(&window->ops, 1)) {
        rig_window_free(window);
        return NULL;
    }
    return window;
}

void rig_window_free(struct rig_window *window)
{
    if (window == NULL)
        return;
    rig_txn_vec_done(&window->txns);
    rig_txn_op_vec_done(&window->ops);
    rig_txn_vec_done(&window->open);
    rig_txn_op_vec_done(&window->open_ops);
    rig_table_done(&window->key_ids);
    rig_window_int64s_done(&window->names);
    rig_window_keys_done(&window->keys);
    rig_growing_branches_done(&window->branches);
    rig_list_pool_done(&window->pool);
    rig_text_table_done(&window->key_texts);
    rig_text_table_done(&window->errors);
    rig_columns_done(&window->columns);
    rig_window_uint32s_done(&window->new_keys);
    rig_list_places_done(&window->key_places);
    rig_list_places_done(&window->branch_places);
    rig_window_uses_done(&window->uses);
    rig_owned_ops_done(&window->appends);
    rig_segment_note_done(&window->own_note);
    rig_window_uint32s_done(&window->good);
    rig_window_uint32s_done(&window->odd);
    rig_window_uint32s_done(&window->error_of);
    rig_window_uint64s_done(&window->order);
    rig_open_marks_done(&window->marks);
    rig_open_marks_done(&window->new_marks);
    rig_window_uint32s_done(&window->ok_before);
    rig_window_uint32s_done(&window->key_map);
    rig_window_uint32s_done(&window->branch_map);
    rig_spine_views_done(&window->spine_views);
    rig_branch_views_done(&window->branch_views);
    rig_window_flags_done(&window->had_rows);
    free(window);
}

size_t rig_window_bytes(const struct rig_window *window)
{
    return sizeof *window + (window->txns.capacity + window->open.capacity) * sizeof(struct rig_txn) +
           (window->ops.capacity + window->open_ops.capacity) * sizeof(struct rig_txn_op) +
           window->names.capacity * sizeof(int64_t) + window->keys.capacity * sizeof(struct rig_window_key) +
           window->key_ids.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)) +
           window->branches.capacity * sizeof(struct rig_growing_branch) + window->pool.arena.held_bytes +
           rig_text_table_bytes(&window->key_texts) + rig_text_table_bytes(&window->errors) +
           rig_columns_bytes(&window->columns) +
           (window->key_places.capacity + window->branch_places.capacity) * sizeof(struct rig_list_place) +
           (window->new_keys.capacity + window->good.capacity + window->odd.capacity + window->error_of.capacity +
            window->key_map.capacity + window->branch_map.capacity + window->ok_before.capacity) *
               sizeof(uint32_t) +
           (window->marks.capacity + window->new_marks.capacity) * sizeof(struct rig_open_mark) +
           window->order.capacity * sizeof(uint64_t) + window->uses.capacity * sizeof(struct rig_key_use) +
           window->appends.capacity * sizeof(struct rig_owned_op) + rig_segment_note_bytes(&window->own_note) +
           window->spine_views.capacity * sizeof(struct rig_list) +
           window->branch_views.capacity * sizeof(struct rig_branch) + window->had_rows.capacity;
}

size_t rig_window_filled_bytes(const struct rig_window *window)
{
    return (window->txns.count + window->open.count) * sizeof(struct rig_txn) +
           (window->ops.count + window->open_ops.count) * sizeof(struct rig_txn_op) +
           window->appends.count * sizeof(struct rig_owned_op) + rig_columns_used_bytes(&window->columns);
}

/* How much more memory a vector of `count` items takes after adding `added` items. */
static size_t growth(size_t count, size_t added, size_t capacity, size_t item_bytes)
{
    size_t wanted = (count + added) / 8 * 9;
    return wanted > capacity ? (wanted - capacity) * item_bytes : 0;
}

size_t rig_window_bytes_with(const struct rig_window *window, const struct rig_segment *segment)
{
    return rig_window_bytes(window) +
           growth(window->txns.count, segment->txns.count, window->txns.capacity, sizeof(struct rig_txn)) +
           growth(window->ops.count, segment->ops.count, window->ops.capacity, sizeof(struct rig_txn_op)) +
           growth(window->appends.count, segment->note.appends.count, window->appends.capacity,
                  sizeof(struct rig_owned_op)) +
           segment->pool.arena.used_bytes;
}

void rig_window_fit(struct rig_window *window)
{
    rig_txn_vec_fit_to(&window->txns, window->txns.count + 1);
    rig_txn_op_vec_fit_to(&window->ops, window->ops.count);
    rig_owned_ops_fit_to(&window->appends, window->appends.count + 1);
    rig_window_uint32s_fit_to(&window->odd, 0);
}

static bool view_lists(struct rig_window *window)
{
    if (!rig_spine_views_reserve(&window->spine_views, window->keys.count + 1) ||
        !rig_branch_views_reserve(&window->branch_views, window->branches.count + 1))
        return false;
    for (size_t i = 0; i < window->keys.count; i++) {
        const struct rig_growing_list *spine = &window->keys.at[i].spine;
        window->spine_views.at[i] = (struct rig_list){.at = spine->at, .count = spine->count};
    }
    if (window->any_had_row && !rig_window_flags_reserve(&window->had_rows, window->keys.count + 1))
        return false;
    for (size_t i = 0; window->any_had_row && i < window->keys.count; i++)
        window->had_rows.at[i] = window->keys.at[i].had_row;
    for (size_t i = 0; i < window->branches.count; i++) {
        const struct rig_growing_branch *branch = &window->branches.at[i];
        window->branch_views.at[i] = (struct rig_branch){.tail = branch->tail.at,
                                                         .key = branch->key,
                                                         .shared = branch->shared,
                                                         .count = rig_growing_branch_count(branch)};
    }
    return true;
}

/* A release must not fail: its memory is reserved here. */
static bool reserve_for_drop(struct rig_window *window)
{
    const size_t append_count = window->ops.count / 2 + 1;
    bool fits = window->limit_bytes == SIZE_MAX ? rig_owned_ops_reserve(&window->appends, append_count)
                                                : rig_owned_ops_widen(&window->appends, append_count);
    return fits && rig_window_uint32s_reserve(&window->key_map, window->keys.count) &&
           rig_window_uint32s_reserve(&window->branch_map, window->branches.count);
}

/* Appends the open transactions after the complete ones, past the vectors' counts. */
static bool view_open(struct rig_window *window)
{
    if (!rig_txn_vec_reserve(&window->txns, window->txns.count + window->open.count + 1) ||
        !rig_txn_op_vec_reserve(&window->ops, window->ops.count + window->open_ops.count))
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
        !(with_open ? view_open(window) : reserve_for_drop(window)))
        return NULL;
    uint32_t txn_count = (uint32_t)(window->txns.count + (with_open ? window->open.count : 0));
    uint32_t op_count = (uint32_t)(window->ops.count + (with_open ? window->open_ops.count : 0));
    window->txns.at[txn_count] = (struct rig_txn){.first_op = op_count};
    if (window->type->shape == RIG_RESULT_ROWS)
        rig_row_settle_upserts(window->ops.at, op_count);
    window->summary = (struct rig_op_summary){.keys = window->uses.at,
                                              .appends = window->appends.at,
                                              .append_count = (uint32_t)window->appends.count,
                                              .any_branch = window->any_branch,
                                              .any_foreign = window->any_foreign};
    window->view = (struct rig_history){
        .txns = window->txns.at,
        .txn_count = txn_count,
        .ops = window->ops.at,
        .op_count = op_count,
        .spines = window->spine_views.at,
        .had_rows = window->any_had_row ? window->had_rows.at : NULL,
        .key_count = (uint32_t)window->keys.count,
        .branches = window->branch_views.at,
        .branch_count = (uint32_t)window->branches.count,
        .keys = window->names.at,
        .key_texts = window->key_texts.count == 0 ? NULL : window->key_texts.texts,
        .row_names = window->row_names,
        .specification = window->specification,
        .keyword_keys = window->keyword_keys && window->key_texts.count > 0,
        .value_keys = window->value_keys && window->key_texts.count > 0,
        .errors = window->errors.texts,
        .error_count = window->errors.count,
        .columns = rig_columns_any(&window->columns) ? &window->columns : NULL,
        .summary = window->contradicted || (with_open && window->open.count > 0) ? NULL : &window->summary,
        .workload = window->workload,
        .has_invocations = window->with_invocation == window->added_count,
        .in_turn = window->in_turn,
        .skipped_count = window->skipped_count,
        .lost_count = window->lost_count,
        .reused_count = window->reused_count,
    };
    return &window->view;
}

uint32_t rig_window_txn_count(const struct rig_window *window)
{
    return (uint32_t)window->txns.count;
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

uint64_t rig_window_key_gap(const struct rig_window *window, uint32_t key)
{
    RIG_REQUIRE(key < window->keys.count);
    const struct rig_window_key *k = &window->keys.at[key];
    return k->use_count < KNOWN_USES ? UINT64_MAX : (k->used_at - k->first_at) / k->use_count + 1;
}

uint64_t rig_window_key_use_count(const struct rig_window *window, uint32_t key)
{
    RIG_REQUIRE(key < window->keys.count);
    return window->keys.at[key].use_count;
}

uint64_t rig_window_used_now(const struct rig_window *window)
{
    return window->added_count;
}
