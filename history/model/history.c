#include "history/model/history.h"
#include "history/types/row_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "history/model/history_order.h"
#include "history/model/window_view.h"

void rig_history_free(struct rig_history *history)
{
    if (history == NULL)
        return;
    if (history->is_shared) {
        free(history);
        return;
    }
    struct rig_history_storage *storage = history->storage;
    if (storage != NULL) {
        rig_list_pool_done(&storage->pool);
        rig_text_table_done(&storage->key_texts);
        rig_text_table_done(&storage->errors);
        rig_columns_done(&storage->columns);
        rig_fault_event_vec_done(&storage->faults);
        rig_arena_done(&storage->fault_texts);
        rig_certificate_done(&storage->certificate);
        rig_clock_samples_done(&storage->clock);
        free(storage);
    }
    free(history->txns);
    free(history->ops);
    free(history->spines);
    free(history->branches);
    free(history->keys);
    free(history->meta);
    free(history);
}

struct rig_history *rig_history_share(const struct rig_history *history)
{
    struct rig_history *shared = malloc(sizeof *shared);
    if (shared == NULL)
        return NULL;
    *shared = *history;
    shared->is_shared = true;
    return shared;
}

bool rig_history_insert_columns(struct rig_history *history, uint32_t at, uint32_t count)
{
    struct rig_history_storage *storage = history->storage;
    RIG_REQUIRE(history->columns == NULL || (storage != NULL && history->columns == &storage->columns));
    return history->columns == NULL || rig_columns_insert(&storage->columns, at, count);
}

uint32_t rig_history_txn_of(const struct rig_history *history, uint32_t op)
{
    uint32_t low = 0, high = history->txn_count;
    while (low < high)
        rig_halve(&low, &high, history->txns[rig_middle(low, high) + 1].first_op <= op);
    return low;
}

uint32_t rig_history_first_op_on(const struct rig_history *history, const uint8_t *keys)
{
    const struct rig_op_summary *summary = history->summary;
    uint32_t first = history->op_count;
    for (uint32_t key = 0; summary != NULL && key < history->key_count; key++) {
        if (keys[key] && summary->keys[key].first_op < first)
            first = summary->keys[key].first_op;
    }
    for (uint32_t op = 0; summary == NULL && op < first; op++)
        first = keys[history->ops[op].key] ? op : first;
    return first;
}

int64_t rig_history_zero_ns(const struct rig_history *history)
{
    int64_t zero_ns = INT64_MAX;
    if (history->is_excerpt)
        return history->zero_ns;
    for (uint32_t txn = 0; txn < history->txn_count && txn < RIG_ZERO_TXNS; txn++) {
        if (history->txns[txn].invoke_ns != RIG_NO_TIME && history->txns[txn].invoke_ns < zero_ns)
            zero_ns = history->txns[txn].invoke_ns;
    }
    return zero_ns == INT64_MAX ? 0 : zero_ns;
}

int64_t rig_history_column(const struct rig_history *history, uint32_t txn, enum rig_column column)
{
    RIG_REQUIRE(txn < history->txn_count);
    return history->columns == NULL ? RIG_COLUMN_NONE : rig_columns_get(history->columns, column, txn);
}

bool rig_txn_is_rolled_back(const struct rig_history *history, uint32_t txn)
{
    static const char code[] = RIG_ROLLED_BACK_CODE;
    const struct rig_txn *t = &history->txns[txn];
    if (t->outcome != RIG_OUTCOME_FAIL || t->error == 0)
        return false;
    const char *error = history->errors[t->error - 1];
    return strncmp(error, code, sizeof code - 1) == 0 &&
           (error[sizeof code - 1] == ':' || error[sizeof code - 1] == '\0');
}

const char *rig_history_column_name(const struct rig_history *history, uint32_t txn, enum rig_column column)
{
    RIG_REQUIRE(rig_column_infos[column].type == RIG_COLUMN_NAME);
    const int64_t number = rig_history_column(history, txn, column);
    return number == RIG_COLUMN_NONE ? NULL : history->columns->names.texts[number];
}

struct rig_spans rig_history_times(const struct rig_history *history, uint32_t txn)
{
    const int64_t place = rig_history_column(history, txn, RIG_COLUMN_TIMES);
    return place == RIG_COLUMN_NONE ? (struct rig_spans){0} : rig_columns_spans(history->columns, place);
}

void rig_history_key_name(const struct rig_history *history, uint32_t key, char *text, size_t size)
{
    RIG_REQUIRE(key < history->key_count);
    if (history->row_names != NULL && history->key_texts == NULL)
        rig_row_names_show(history->row_names, history->keys[key], text, size);
    else
        rig_history_key_text(history, key, text, size);
}

void rig_history_key_text(const struct rig_history *history, uint32_t key, char *text, size_t size)
{
    RIG_REQUIRE(key < history->key_count && size >= 24);
    int64_t number = history->keys[key];
    if (history->key_texts == NULL)
        (void)snprintf(text, size, "%lld", (long long)number);
    else
        (void)snprintf(text, size, "%s%s", history->keyword_keys ? ":" : "", history->key_texts[number]);
}
