#include "tests/model/cut_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/model/read_list.h"

static void require(bool done)
{
    if (done)
        return;
    (void)fprintf(stderr, "cut_history: no memory\n");
    exit(3);
}

void cut_history_init(struct cut_history *cut, const struct rig_history *history, uint32_t txns_per_segment)
{
    *cut = (struct cut_history){.history = history, .txns_per_segment = txns_per_segment};
    rig_segment_init(&cut->segment, 0);
    cut->key_of = calloc((size_t)history->key_count + 1, sizeof *cut->key_of);
    cut->keys = calloc((size_t)history->key_count + 1, sizeof *cut->keys);
    cut->branch_of = calloc((size_t)history->branch_count + 1, sizeof *cut->branch_of);
    require(cut->key_of != NULL && cut->keys != NULL && cut->branch_of != NULL);
}

void cut_history_done(struct cut_history *cut)
{
    rig_segment_done(&cut->segment);
    free(cut->key_of);
    free(cut->keys);
    free(cut->branch_of);
}

static uint32_t number_key(struct cut_history *cut, uint32_t key)
{
    const struct rig_history *history = cut->history;
    if (cut->key_of[key] != 0)
        return cut->key_of[key] - 1;
    struct rig_segment_key named = {.key = history->keys[key]};
    if (history->key_texts != NULL) {
        named.text = history->key_texts[history->keys[key]];
        named.text_length = (uint32_t)strlen(named.text);
    }
    uint32_t number = (uint32_t)cut->segment.keys.count;
    require(rig_segment_keys_add(&cut->segment.keys, named));
    cut->keys[number] = key;
    cut->key_of[key] = number + 1;
    return number;
}

/* Extends the list to all elements behind the first `shared`. */
static void grow(struct cut_history *cut, struct rig_growing_list *list, const struct rig_read_list *all,
                 uint32_t shared)
{
    uint32_t known = shared + list->count;
    if (all->count <= known)
        return;
    require(rig_growing_list_reserve(&cut->segment.pool, list, all->count - known));
    rig_read_copy(all, known, all->count, list->at + list->count);
    list->count += all->count - known;
}

static void place_read(struct cut_history *cut, struct rig_txn_op *op, uint32_t key)
{
    struct rig_read_list all = rig_txn_op_list(cut->history, op);
    struct rig_growing_list *spine = &cut->segment.keys.at[key].spine;
    if (!rig_txn_op_is_branch(op)) {
        op->list = key;
        grow(cut, spine, &all, 0);
        return;
    }
    /* Shares the current elements of the spine, which may be fewer than the common prefix will be. */
    uint32_t *branch = &cut->branch_of[rig_txn_op_branch(op)];
    if (*branch == 0) {
        uint32_t shared = all.shared < spine->count ? all.shared : spine->count;
        require(rig_growing_branches_add(&cut->segment.branches,
                                         (struct rig_growing_branch){.key = key, .shared = shared}));
        *branch = (uint32_t)cut->segment.branches.count;
    }
    op->list = RIG_LIST_BRANCH | (*branch - 1);
    grow(cut, &cut->segment.branches.at[*branch - 1].tail, &all, cut->segment.branches.at[*branch - 1].shared);
}

static void add_txn(struct cut_history *cut, uint32_t txn, bool open)
{
    struct rig_segment *segment = &cut->segment;
    struct rig_txn_op_vec *ops = open ? &segment->open_ops : &segment->ops;
    struct rig_txn copy = cut->history->txns[txn];
    copy.first_op = (uint32_t)ops->count;
    copy.error = 0;
    if (open) {
        copy.complete_at = RIG_POSITION_NONE;
        copy.complete_ns = RIG_NO_TIME;
        copy.outcome = RIG_OUTCOME_INFO;
    }
    require(rig_txn_vec_add(open ? &segment->open : &segment->txns, copy));
    const struct rig_txn_op *from = rig_txn_ops(cut->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(cut->history, txn); i++) {
        struct rig_txn_op op = from[i];
        bool list = op.kind == RIG_OP_READ_LIST;
        uint32_t key = number_key(cut, op.key);
        if (open && rig_op_reads(op.kind))
            op = (struct rig_txn_op){.kind = op.kind, .read_state = RIG_READ_UNKNOWN};
        else if (list && op.read_state == RIG_READ_SEEN)
            place_read(cut, &op, key);
        op.key = key;
        op.owner = (uint16_t)(segment->txns.count - 1); /* unused for an open transaction */
        require(rig_txn_op_vec_add(ops, op));
    }
    segment->owned &= open || rig_txn_op_count(cut->history, txn) > 0;
    const char *level = rig_history_column_name(cut->history, txn, RIG_COLUMN_LEVEL);
    if (!open && level != NULL) {
        const int64_t name = rig_columns_name(&segment->columns, level, strlen(level));
        require(name >= 0 && rig_columns_set(&segment->columns, RIG_COLUMN_LEVEL, segment->txns.count - 1, name));
    }
}

/* Whether the transaction is open when all transactions before `next` are complete. */
static bool is_open(const struct cut_history *cut, uint32_t txn, uint32_t next)
{
    const struct rig_txn *t = &cut->history->txns[txn];
    bool last = next == cut->history->txn_count || cut->history->txns[next].complete_at == RIG_POSITION_NONE;
    if (t->invoke_at == RIG_POSITION_NONE)
        return false;
    return t->complete_at == RIG_POSITION_NONE
               ? last || (next > 0 && t->invoke_at < cut->history->txns[next - 1].complete_at)
               : txn >= next && next > 0 && t->invoke_at < cut->history->txns[next - 1].complete_at;
}

const struct rig_segment *cut_history_next(struct cut_history *cut)
{
    const struct rig_history *history = cut->history;
    if (cut->ended)
        return NULL;
    for (size_t i = 0; i < cut->segment.keys.count; i++)
        cut->key_of[cut->keys[i]] = 0;
    memset(cut->branch_of, 0, history->branch_count * sizeof *cut->branch_of);
    rig_segment_reset(&cut->segment);
    uint32_t count = 0;
    cut->segment.owned = cut->next % 2 == 0; /* in turn, so that both ways of noting operations are tested */
    while (count < cut->txns_per_segment && cut->next < history->txn_count &&
           history->txns[cut->next].complete_at != RIG_POSITION_NONE) {
        add_txn(cut, cut->next++, false);
        count++;
    }
    cut->ended = cut->next == history->txn_count || history->txns[cut->next].complete_at == RIG_POSITION_NONE;
    for (uint32_t txn = cut->next; txn < history->txn_count; txn++) {
        if (is_open(cut, txn, cut->next))
            add_txn(cut, txn, true);
    }
    if (cut->next % 3 > 0)
        require(rig_segment_note_make(&cut->segment.note, &cut->segment));
    return &cut->segment;
}
