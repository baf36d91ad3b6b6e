#include "history/merge/merge_output.h"

#include <string.h>

#include "base/bug.h"

void rig_merge_output_init(struct rig_merge_output *out, bool sequences)
{
    *out = (struct rig_merge_output){.sequences = sequences};
    rig_segment_init(&out->segment, 0);
}

void rig_merge_output_done(struct rig_merge_output *out)
{
    rig_segment_done(&out->segment);
    rig_merge_ids_done(&out->elements);
    rig_merge_ids_done(&out->branch_ops);
    rig_used_lists_vec_done(&out->lists);
}

void rig_merge_output_empty(struct rig_merge_output *out, struct rig_merge_rank *ranks, uint64_t number)
{
    for (size_t i = 0; i < out->lists.count; i++) {
        struct rig_merge_lists *lists = out->lists.at[i].lists;
        if (--lists->users == 0 && lists->done)
            rig_merge_rank_free_lists(&ranks[out->lists.at[i].rank], lists);
    }
    out->lists.count = 0;
    out->elements.count = 0;
    out->any_columns = false;
    out->number = number;
    rig_segment_reset(&out->segment);
}

/* ---- what it refers to ---- */

/* The key's number in the output. UINT32_MAX when memory runs out. */
static __attribute__((noinline)) uint32_t add_key(struct rig_merge_output *out, struct rig_merge_piece *piece,
                                                  uint32_t key)
{
    const uint32_t id = (uint32_t)out->segment.keys.count;
    if (id == UINT32_MAX || !rig_segment_keys_add(&out->segment.keys, piece->segment.keys.at[key]) ||
        !rig_merge_ids_add(&out->elements, 0))
        return UINT32_MAX;
    return piece->key_of.at[key] = id;
}

static inline uint32_t use_key(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t key)
{
    const uint32_t id = piece->key_of.at[key];
    return __builtin_expect(id != UINT32_MAX, 1) ? id : add_key(out, piece, key);
}

static inline void use_elements(struct rig_merge_output *out, uint32_t key, uint32_t count)
{
    uint32_t *known = &out->elements.at[key];
    *known = count > *known ? count : *known;
}

/* The branch's number in the output. UINT32_MAX when memory runs out. */
static uint32_t use_branch(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t number)
{
    uint32_t *id = &piece->branch_of.at[number];
    if (*id != UINT32_MAX)
        return *id;
    struct rig_growing_branch branch = piece->segment.branches.at[number];
    branch.key = use_key(out, piece, branch.key);
    if (branch.key == UINT32_MAX || !rig_growing_branches_add(&out->segment.branches, branch))
        return UINT32_MAX;
    use_elements(out, branch.key, branch.shared);
    return *id = (uint32_t)out->segment.branches.count - 1;
}

bool rig_merge_output_use(struct rig_merge_output *out, uint32_t rank, struct rig_merge_piece *piece)
{
    if (piece->output == out->number)
        return true;
    piece->output = out->number;
    memset(piece->key_of.at, 0xff, (piece->segment.keys.count + 1) * sizeof *piece->key_of.at);
    if (!rig_used_lists_vec_add(&out->lists, (struct rig_used_lists){piece->lists, rank}))
        return false;
    piece->lists->users++;
    out->any_columns |= rig_columns_any(&piece->segment.columns);
    piece->first_error = (uint32_t)out->segment.errors.count;
    memset(piece->branch_of.at, 0xff, (piece->segment.branches.count + 1) * sizeof *piece->branch_of.at);
    bool fits = true;
    for (size_t i = 0; i < piece->segment.errors.count && fits; i++)
        fits = rig_segment_errors_add(&out->segment.errors, piece->segment.errors.at[i]);
    return fits;
}

/* ---- transactions ---- */

bool rig_merge_output_map_keys(struct rig_merge_output *out, struct rig_merge_piece *piece, size_t count)
{
    const struct rig_txn *txns = piece->segment.txns.at + piece->next_end;
    uint32_t most = 0;
    for (uint32_t op = txns[0].first_op; op < txns[count].first_op; op++) {
        const uint32_t key = use_key(out, piece, piece->segment.ops.at[op].key);
        most = key > most ? key : most;
    }
    return most != UINT32_MAX;
}

bool rig_merge_output_map(struct rig_merge_output *out, struct rig_merge_piece *piece, size_t count)
{
    const struct rig_txn *txns = piece->segment.txns.at + piece->next_end;
    struct rig_txn_op *ops = piece->segment.ops.at;
    if (!rig_merge_ids_reserve(&out->branch_ops, txns[count].first_op - txns[0].first_op + 1))
        return false;
    uint32_t *branch_op = out->branch_ops.at;
    /* Reads and writes are in random order, so no jump depends on the kind. */
    for (uint32_t op = txns[0].first_op; op < txns[count].first_op; op++) {
        struct rig_txn_op *mop = &ops[op];
        mop->key = use_key(out, piece, mop->key);
        if (__builtin_expect(mop->key == UINT32_MAX, 0))
            return false;
        const bool seen = out->sequences & rig_op_reads_sequence(mop->kind) & (mop->read_state == RIG_READ_SEEN);
        const bool branch = rig_txn_op_is_branch(mop); /* the value of a write may look like one */
        use_elements(out, mop->key, mop->count & (0U - (uint32_t)(seen & !branch)));
        *branch_op = op;
        branch_op += seen & branch;
    }
    for (const uint32_t *op = out->branch_ops.at; op < branch_op; op++) {
        const uint32_t branch = use_branch(out, piece, rig_txn_op_branch(&ops[*op]));
        if (branch == UINT32_MAX)
            return false;
        ops[*op].list = RIG_LIST_BRANCH | branch;
    }
    return true;
}

static bool copy_columns(struct rig_merge_output *out, const struct rig_merge_piece *piece, size_t txn, size_t as)
{
    const struct rig_columns *from = &piece->segment.columns;
    for (int column = 0; column < RIG_COLUMN_COUNT; column++) {
        int64_t value = rig_columns_get(from, (enum rig_column)column, txn);
        if (value == RIG_COLUMN_NONE)
            continue;
        if (rig_column_infos[column].type == RIG_COLUMN_NAME) {
            const char *name = from->names.texts[value];
            value = rig_columns_name(&out->segment.columns, name, strlen(name));
        } else if (rig_column_infos[column].type == RIG_COLUMN_SPANS) {
            value = rig_columns_spans_add(&out->segment.columns, rig_columns_spans(from, value));
        }
        if (value == RIG_COLUMN_NONE || !rig_columns_set(&out->segment.columns, (enum rig_column)column, as, value))
            return false;
    }
    return true;
}

static size_t end_of_ops(const struct rig_txn_vec *txns, const struct rig_txn_op_vec *ops, size_t index)
{
    return index + 1 < txns->count ? txns->at[index + 1].first_op : ops->count;
}

/* Copies the next transaction of the piece with its operations; there is room. */
static inline void copy_txn(struct rig_segment *to, const struct rig_merge_piece *piece, uint32_t index)
{
    const struct rig_txn *from = &piece->segment.txns.at[index];
    const struct rig_txn_op *op = &piece->segment.ops.at[from->first_op];
    const uint32_t op_count = from[1].first_op - from->first_op;
    const uint16_t owner = (uint16_t)to->txns.count;
    struct rig_txn *txn = &to->txns.at[to->txns.count++];
    struct rig_txn_op *to_op = &to->ops.at[to->ops.count];
    *txn = *from;
    txn->first_op = (uint32_t)to->ops.count;
    txn->error = from->error == 0 ? 0 : from->error + piece->first_error;
    /* How many there are is unpredictable. */
    for (uint32_t i = 0; i < RIG_MERGE_OPS_AT_ONCE; i++) {
        to_op[i] = op[i];
        to_op[i].owner = owner;
    }
    for (uint32_t i = RIG_MERGE_OPS_AT_ONCE; i < op_count; i++) {
        to_op[i] = op[i];
        to_op[i].owner = owner;
    }
    to->ops.count += op_count;
}

bool rig_merge_output_add(struct rig_merge_output *out, struct rig_merge_piece *const *pieces,
                          const struct rig_merge_ids *ranks, size_t op_count)
{
    struct rig_segment *to = &out->segment;
    const size_t first = to->txns.count, first_op = to->ops.count;
    if (!rig_txn_vec_reserve(&to->txns, first + ranks->count) ||
        !rig_txn_op_vec_reserve(&to->ops, first_op + op_count + RIG_MERGE_OPS_AT_ONCE))
        return false;
    for (size_t i = 0; i < ranks->count; i++) {
        struct rig_merge_piece *piece = pieces[ranks->at[i]];
        copy_txn(to, piece, piece->next_end);
        if (__builtin_expect(out->any_columns, 0) && rig_columns_any(&piece->segment.columns) &&
            !copy_columns(out, piece, piece->next_end, first + i))
            return false;
        piece->next_end++;
    }
    RIG_INVARIANT(to->ops.count == first_op + op_count);
    return true;
}

bool rig_merge_output_add_uses(struct rig_merge_output *out, struct rig_merge_piece *const *pieces,
                               const struct rig_merge_ids *ranks)
{
    for (size_t i = 0; i < ranks->count; i++) {
        struct rig_merge_piece *piece = pieces[ranks->at[i]];
        const uint32_t index = piece->next_end++;
        struct rig_txn txn = piece->segment.txns.at[index];
        txn.first_op = 0;
        if (!rig_txn_vec_add(&out->segment.txns, txn) ||
            (out->any_columns && rig_columns_any(&piece->segment.columns) &&
             !copy_columns(out, piece, index, out->segment.txns.count - 1)))
            return false;
    }
    return true;
}

bool rig_merge_output_add_open(struct rig_merge_output *out, uint32_t rank, const struct rig_merge_start *start)
{
    const struct rig_segment *segment = &start->piece->segment;
    const struct rig_txn_vec *txns = start->is_open ? &segment->open : &segment->txns;
    const struct rig_txn_op_vec *ops = start->is_open ? &segment->open_ops : &segment->ops;
    struct rig_txn txn = txns->at[start->index];
    const size_t end = end_of_ops(txns, ops, start->index);
    size_t op = txn.first_op;
    txn.first_op = (uint32_t)out->segment.open_ops.count;
    txn.invoke_at = start->at;
    txn.complete_at = RIG_POSITION_NONE;
    txn.complete_ns = RIG_NO_TIME;
    txn.outcome = RIG_OUTCOME_INFO;
    txn.error = 0;
    if (!rig_merge_output_use(out, rank, start->piece) || !rig_txn_vec_add(&out->segment.open, txn))
        return false;
    for (; op < end; op++) {
        struct rig_txn_op copy = ops->at[op];
        copy.key = use_key(out, start->piece, copy.key);
        copy.read_state = RIG_READ_UNKNOWN;
        copy.value = rig_op_reads(copy.kind) ? 0 : copy.value;
        if (copy.key == UINT32_MAX || !rig_txn_op_vec_add(&out->segment.open_ops, copy))
            return false;
    }
    return true;
}

void rig_merge_output_end(struct rig_merge_output *out)
{
    for (size_t i = 0; i < out->segment.keys.count; i++)
        out->segment.keys.at[i].spine.count = out->elements.at[i];
    out->segment.owned = true;
    out->segment.in_turn = true;
}
