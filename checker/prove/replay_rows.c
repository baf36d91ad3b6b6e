#include "checker/prove/replay_rows.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/halve.h"

struct inserted {
    int64_t id;
    uint32_t key;
};

RIG_VEC(struct inserted, inserted_rows)

static int compare_inserted(const void *left, const void *right)
{
    const struct inserted *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->id > b->id) - (a->id < b->id);
}

static bool list_inserted(const struct rig_history *history, struct inserted_rows *found)
{
    bool ok = true;
    for (uint32_t op = 0; ok && op < history->op_count; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (at->kind == RIG_OP_ROW && at->value > 0 && rig_row_inserts(at->value))
            ok = inserted_rows_add(found, (struct inserted){at->value, at->key});
    }
    if (ok && found->count > 1)
        qsort(found->at, found->count, sizeof found->at[0], compare_inserted);
    return ok;
}

static void place_rows(struct rig_replayed_rows *rows, const struct inserted_rows *inserted)
{
    const uint32_t keys = rows->facts->history->key_count;
    for (size_t i = 0; i < inserted->count; i++) {
        rows->rows[i].id = inserted->at[i].id;
        rows->rows[i].key = inserted->at[i].key;
        rows->first[inserted->at[i].key + 1]++;
        rows->unborn[inserted->at[i].key] += rig_row_action(inserted->at[i].id) == RIG_ROWS_INITIAL;
    }
    for (uint32_t key = 0; key < keys; key++)
        rows->first[key + 1] += rows->first[key];
    RIG_INVARIANT(rows->first[keys] == inserted->count);
}

enum rig_rc rig_replayed_rows_init(struct rig_replayed_rows *rows, const struct rig_facts *facts, struct rig_err *err)
{
    struct inserted_rows inserted = {0};
    const size_t keys = (size_t)facts->history->key_count + 1;
    RIG_REQUIRE(facts->form == RIG_FACTS_ROWS);
    *rows = (struct rig_replayed_rows){.facts = facts};
    bool ok = list_inserted(facts->history, &inserted);
    if (ok) {
        rows->rows = calloc(inserted.count + 1, sizeof rows->rows[0]);
        rows->live = malloc((inserted.count + 1) * sizeof rows->live[0]);
        rows->first = calloc(keys + 1, sizeof rows->first[0]);
        rows->live_count = calloc(keys, sizeof rows->live_count[0]);
        rows->unborn = calloc(keys, sizeof rows->unborn[0]);
        ok = rows->rows != NULL && rows->live != NULL && rows->first != NULL && rows->live_count != NULL &&
             rows->unborn != NULL;
    }
    if (ok)
        place_rows(rows, &inserted);
    inserted_rows_done(&inserted);
    return ok ? RIG_OK : rig_no_memory(err, "the replay");
}

void rig_replayed_rows_done(struct rig_replayed_rows *rows)
{
    free(rows->rows);
    free(rows->live);
    free(rows->first);
    free(rows->live_count);
    free(rows->unborn);
    rig_replayed_past_done(&rows->past);
    rig_replayed_own_done(&rows->own);
    *rows = (struct rig_replayed_rows){0};
}

/* The first row of the table whose id is at least this one. */
static uint32_t first_from(const struct rig_replayed_rows *rows, uint32_t key, int64_t id)
{
    uint32_t low = rows->first[key], high = rows->first[key + 1];
    while (low < high)
        rig_halve(&low, &high, rows->rows[rig_middle(low, high)].id < id);
    return low;
}

struct rig_replayed_row *rig_replayed_row_find(const struct rig_replayed_rows *rows, uint32_t key, int64_t id)
{
    const uint32_t at = first_from(rows, key, id);
    return at < rows->first[key + 1] && rows->rows[at].id == id ? &rows->rows[at] : NULL;
}

uint32_t rig_replayed_rows_asked(const struct rig_replayed_rows *rows, uint32_t key,
                                 const struct rig_row_where *condition, uint32_t *end)
{
    *end = rows->first[key + 1];
    if (!rig_row_asks_ids(condition))
        return rows->first[key];
    if (condition->most < RIG_ROW_MOST_SERIAL)
        *end = first_from(rows, key, (condition->most + 1) * RIG_ROW_SERIAL);
    return condition->least < RIG_ROW_MOST_SERIAL ? first_from(rows, key, condition->least * RIG_ROW_SERIAL) : *end;
}

int64_t rig_replayed_version(const struct rig_replayed_rows *rows, const struct rig_replayed_row *row,
                             const bool *missed)
{
    if (row->own_mark == rows->mark)
        return row->own;
    if (missed == NULL)
        return row->version;
    uint32_t at = row->past;
    while (at > 0 && missed[rows->past.at[at - 1].event])
        at = rows->past.at[at - 1].before;
    return at == 0 ? 0 : rows->past.at[at - 1].version;
}

uint32_t rig_replayed_contents(const struct rig_replayed_rows *rows, const struct rig_replayed_row *row,
                               int64_t version)
{
    if (row->own_mark == rows->mark && row->own == version)
        return row->own_contents;
    if (row->version == version && row->past > 0)
        return row->contents;
    uint32_t at = row->past;
    while (at > 0 && rows->past.at[at - 1].version != version)
        at = rows->past.at[at - 1].before;
    return at == 0 ? RIG_ROW_CONTENTS_UNKNOWN : rows->past.at[at - 1].contents;
}

void rig_replayed_rows_begin(struct rig_replayed_rows *rows)
{
    rows->own.count = 0;
    rows->mark++;
}

bool rig_replayed_row_write(struct rig_replayed_rows *rows, struct rig_replayed_row *row, uint32_t txn, uint32_t op,
                            int64_t replaced)
{
    RIG_REQUIRE(rows->mark > 0);
    const struct rig_history *history = rows->facts->history;
    const int64_t version = history->ops[op].value;
    const uint32_t before = replaced == 0 || !rig_row_is_of_sql(version) ? RIG_ROW_CONTENTS_UNKNOWN
                                                                         : rig_replayed_contents(rows, row, replaced);
    if (row->own_mark != rows->mark && !rig_replayed_own_add(&rows->own, (uint32_t)(row - rows->rows)))
        return false;
    row->own_mark = rows->mark;
    row->own = version;
    row->own_contents =
        rig_row_contents_left(history, rig_txn_ops(history, txn), op - history->txns[txn].first_op, before);
    return true;
}

bool rig_replayed_row_commit(struct rig_replayed_rows *rows, struct rig_replayed_row *row, uint32_t event)
{
    const uint32_t key = row->key;
    const bool was_there = row->version != 0 && rig_row_action(row->version) != RIG_ROWS_DELETE;
    const bool is_there = rig_row_action(row->own) != RIG_ROWS_DELETE;
    uint32_t *live = &rows->live[rows->first[key]], *count = &rows->live_count[key];
    RIG_REQUIRE(row->own_mark == rows->mark);
    if (rows->past.count >= UINT32_MAX - 1 ||
        !rig_replayed_past_add(&rows->past,
                               (struct rig_replayed_version){row->own, event, row->past, row->own_contents}))
        return false;
    rows->unborn[key] -= row->version == 0 && rig_row_action(row->id) == RIG_ROWS_INITIAL;
    row->past = (uint32_t)rows->past.count;
    row->version = row->own;
    row->contents = row->own_contents;
    row->event = event + 1;
    if (!was_there && is_there) {
        row->live_at = (*count)++;
        live[row->live_at] = (uint32_t)(row - rows->rows);
    } else if (was_there && !is_there) {
        const uint32_t last = live[--*count];
        live[row->live_at] = last;
        rows->rows[last].live_at = row->live_at;
    }
    RIG_INVARIANT(*count <= rows->first[key + 1] - rows->first[key]);
    return true;
}
