/* Settling transactions and forgetting keys: rig_window_release(); forgetting transactions: rig_window_drop(). */
#include <string.h>

#include "base/bug.h"
#include "history/model/window_private.h"

/* Number of unused texts that are kept. */
enum { IDLE_TEXTS = 4096, SPAN_NUMBERS = 32 /* a transaction */ };

/* Dense numbers for the keys and the branches that stay. */
static void number_what_stays(struct rig_window *window, const uint8_t *release_key)
{
    uint32_t key_count = 0, branch_count = 0;
    for (size_t i = 0; i < window->keys.count; i++) {
        RIG_REQUIRE(!release_key[i] || !window->keys.at[i].is_open);
        window->key_map.at[i] = release_key[i] ? RIG_WINDOW_NONE : key_count++;
    }
    for (size_t i = 0; i < window->branches.count; i++)
        window->branch_map.at[i] = release_key[window->branches.at[i].key] ? RIG_WINDOW_NONE : branch_count++;
}

/* The first operation that stays. Most operations come before it and are dropped without a look. */
static uint32_t first_kept(const struct rig_window *window)
{
    uint32_t first = (uint32_t)window->ops.count;
    for (size_t key = 0; key < window->keys.count; key++) {
        uint32_t first_op = window->uses.at[key].first_op;
        if (window->key_map.at[key] != RIG_WINDOW_NONE && first_op < first)
            first = first_op;
    }
    return first;
}

/* Per operation, how many before it stay. Uses the memory of the list of appends, which is made anew afterwards. */
static uint32_t *ops_before(const struct rig_window *window)
{
    RIG_INVARIANT(2 * window->appends.capacity > window->ops.count);
    return (uint32_t *)(void *)window->appends.at;
}

/* Renumbers the operations that stay and moves them together; without branching on which they are. */
static void keep_ops(struct rig_window *window, uint32_t first)
{
    struct rig_txn_op *ops = window->ops.at;
    uint32_t *before = ops_before(window);
    const uint32_t *key_map = window->key_map.at, *branch_map = window->branch_map.at;
    uint32_t count = (uint32_t)window->ops.count, kept = 0;
    for (uint32_t i = first; i < count; i++) {
        struct rig_txn_op mop = ops[i];
        uint32_t key = key_map[mop.key];
        if (rig_txn_op_is_branch(&mop) && rig_txn_op_reads_list(&mop))
            mop.list = RIG_LIST_BRANCH | branch_map[rig_txn_op_branch(&mop)];
        mop.key = key;
        before[i] = kept;
        ops[kept] = mop;
        kept += key != RIG_WINDOW_NONE;
    }
    before[count] = kept;
    window->ops.count = kept;
}

/* The transactions before operation `first` go, except those that are not settled: they have no operations. */
static size_t keep_first_txns(struct rig_window *window, const uint8_t *settled, uint32_t first, size_t *kept)
{
    struct rig_txn *txns = window->txns.at;
    const size_t count = rig_history_txn_of(&window->view, first);
    const uint8_t *end = settled + count, *at = settled;
    while (at < end && (at = memchr(at, RIG_SETTLED_NOT, (size_t)(end - at))) != NULL) {
        size_t i = (size_t)(at++ - settled);
        if (txns[i].settled != RIG_SETTLED_NOT)
            continue;
        RIG_REQUIRE(txns[i + 1].first_op == txns[i].first_op);
        rig_columns_move(&window->columns, *kept, i);
        txns[*kept] = txns[i];
        txns[(*kept)++].first_op = 0;
    }
    return count;
}

/* After keep_ops(). */
static void keep_txns(struct rig_window *window, const uint8_t *settled, uint32_t first)
{
    struct rig_txn *txns = window->txns.at;
    const uint32_t *before = ops_before(window);
    size_t count = window->txns.count, kept = 0;
    uint32_t end = txns[count].first_op;
    const bool has_columns = rig_columns_any(&window->columns);
    for (size_t i = keep_first_txns(window, settled, first, &kept); i < count; i++) {
        struct rig_txn txn = txns[i];
        uint32_t op_end = i + 1 < count ? txns[i + 1].first_op : end;
        uint32_t from = txn.first_op < first ? 0 : before[txn.first_op], to = before[op_end];
        RIG_REQUIRE((txn.settled | settled[i]) != RIG_SETTLED_NOT || to - from == op_end - txn.first_op);
        txn.first_op = from;
        txn.settled = settled[i] != RIG_SETTLED_NOT ? settled[i] : txn.settled;
        txns[kept] = txn;
        if (has_columns)
            rig_columns_move(&window->columns, kept, i);
        kept += (from != to) | (txn.settled == RIG_SETTLED_NOT);
    }
    window->txns.count = kept;
    rig_columns_cut(&window->columns, kept);
}

static void keep_branches(struct rig_window *window)
{
    size_t count = 0;
    for (size_t i = 0; i < window->branches.count; i++) {
        struct rig_growing_branch *branch = &window->branches.at[i];
        if (window->branch_map.at[i] == RIG_WINDOW_NONE) {
            rig_growing_list_release(&window->pool, &branch->tail);
            continue;
        }
        branch->key = window->key_map.at[branch->key];
        window->branches.at[count++] = *branch;
    }
    window->branches.count = count;
}

static void keep_keys(struct rig_window *window)
{
    size_t count = 0;
    for (size_t i = 0; i < window->keys.count; i++) {
        struct rig_window_key *key = &window->keys.at[i];
        if (window->key_map.at[i] == RIG_WINDOW_NONE) {
            rig_growing_list_release(&window->pool, &key->spine);
            continue;
        }
        if (key->last_branch != RIG_WINDOW_NONE)
            key->last_branch = window->branch_map.at[key->last_branch];
        window->keys.at[count] = *key;
        window->names.at[count++] = window->names.at[i];
    }
    window->keys.count = window->names.count = count;
    for (size_t i = 0; i < window->open_ops.count; i++)
        window->open_ops.at[i].key = window->key_map.at[window->open_ops.at[i].key];
}

/* Drops the texts of released keys once there are many. Without memory for it they stay. */
static void keep_key_texts(struct rig_window *window)
{
    struct rig_text_table *texts = &window->key_texts;
    if (texts->count / 2 < window->names.count + IDLE_TEXTS)
        return;
    struct rig_text_table kept;
    rig_text_table_init(&kept, window->limit_bytes);
    bool fits = true;
    for (size_t i = 0; i < window->names.count && fits; i++) {
        const char *text = texts->texts[window->names.at[i]];
        fits = rig_text_table_put(&kept, text, strlen(text)) == i;
    }
    if (!fits) {
        rig_text_table_done(&kept);
        return;
    }
    for (size_t i = 0; i < window->names.count; i++)
        window->names.at[i] = (int64_t)i;
    rig_text_table_done(texts);
    *texts = kept;
}

/* The same for errors, which transactions name. */
static void keep_errors(struct rig_window *window)
{
    struct rig_text_table *errors = &window->errors;
    if (errors->count / 2 < window->txns.count + IDLE_TEXTS)
        return;
    struct rig_text_table kept;
    rig_text_table_init(&kept, window->limit_bytes);
    bool fits = true;
    for (size_t i = 0; i < window->txns.count && fits; i++) {
        const struct rig_txn *txn = &window->txns.at[i];
        const char *text = txn->error == 0 ? NULL : errors->texts[txn->error - 1];
        fits = text == NULL || rig_text_table_put(&kept, text, strlen(text)) != RIG_TABLE_NONE;
    }
    for (size_t i = 0; i < window->txns.count && fits; i++) {
        struct rig_txn *txn = &window->txns.at[i];
        const char *text = txn->error == 0 ? NULL : errors->texts[txn->error - 1];
        txn->error = text == NULL ? 0 : rig_text_table_get(&kept, text, strlen(text)) + 1;
    }
    rig_text_table_done(fits ? errors : &kept);
    if (fits)
        *errors = kept;
}

/* There is room: the table held more keys before. */
static void index_keys(struct rig_window *window)
{
    rig_table_clear(&window->key_ids);
    for (size_t i = 0; i < window->names.count; i++) {
        uint32_t *id = rig_table_put(&window->key_ids, (uint64_t)window->names.at[i]);
        RIG_INVARIANT(id != NULL);
        *id = (uint32_t)i;
    }
}

/* After transactions were dropped. */
static void end_release(struct rig_window *window)
{
    keep_errors(window);
    if (window->columns.names.count / 2 >= window->txns.count + IDLE_TEXTS ||
        window->columns.spans.count / 2 >= SPAN_NUMBERS * (window->txns.count + IDLE_TEXTS))
        rig_columns_fit_names(&window->columns, window->limit_bytes);
    rig_window_recount(window);
    window->view = (struct rig_history){0};
}

void rig_window_release(struct rig_window *window, const uint8_t *settled, const uint8_t *release_key)
{
    RIG_REQUIRE(window->view.txn_count == window->txns.count && window->view.key_count == window->keys.count);
    number_what_stays(window, release_key);
    uint32_t first = first_kept(window);
    keep_ops(window, first);
    keep_txns(window, settled, first);
    keep_branches(window);
    keep_keys(window);
    keep_key_texts(window);
    index_keys(window);
    end_release(window);
}

void rig_window_drop(struct rig_window *window, const uint8_t *dropped)
{
    struct rig_txn *txns = window->txns.at;
    const size_t count = window->txns.count;
    const bool has_columns = rig_columns_any(&window->columns);
    size_t kept = 0, kept_ops = 0;
    RIG_REQUIRE(window->view.txn_count == count && window->branches.count == 0);
    for (size_t i = 0; i < count; i++) {
        struct rig_txn txn = txns[i];
        const size_t op_count = txns[i + 1].first_op - txn.first_op;
        if (dropped[i])
            continue;
        memmove(window->ops.at + kept_ops, window->ops.at + txn.first_op, op_count * sizeof *window->ops.at);
        txn.first_op = (uint32_t)kept_ops;
        kept_ops += op_count;
        if (has_columns)
            rig_columns_move(&window->columns, kept, i);
        txns[kept++] = txn;
    }
    window->txns.count = kept;
    window->ops.count = kept_ops;
    rig_columns_cut(&window->columns, kept);
    end_release(window);
}
