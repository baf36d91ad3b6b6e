/* The end of a window: rig_window_give(). */
#include <stdlib.h>
#include <string.h>

#include "history/model/history_order.h"
#include "history/model/history_storage.h"
#include "history/source/source.h"
#include "history/model/window_private.h"
#include "history/types/row_names.h"

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
