#include "history/merge_output.h"

#include <string.h>

void rig_merge_output_init(struct rig_merge_output *out, bool sequences)
{
    *out = (struct rig_merge_output){.sequences = sequences};
    rig_segment_init(&out->segment, 0);
}

void rig_merge_output_done(struct rig_merge_output *out)
{
    rig_segment_done(&out->segment);
    rig_used_pieces_done(&out->pieces);
}

void rig_merge_output_empty(struct rig_merge_output *out, struct rig_merge_rank *ranks, uint64_t number)
{
    for (size_t i = 0; i < out->pieces.count; i++) {
        struct rig_merge_piece *piece = out->pieces.at[i].piece;
        if (--piece->users == 0 && piece->done)
            rig_merge_rank_free_piece(&ranks[out->pieces.at[i].rank], piece);
    }
    out->pieces.count = 0;
    out->number = number;
    rig_segment_reset(&out->segment);
}

/* ---- what it refers to ---- */

/* The key's number in the output. UINT32_MAX when memory runs out. */
static uint32_t add_key(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t key)
{
    struct rig_segment_key copy = piece->segment.keys.at[key];
    copy.spine.count = 0; /* grows with the reads */
    const uint32_t id = (uint32_t)out->segment.keys.count;
    if (id == UINT32_MAX || !rig_segment_keys_add(&out->segment.keys, copy))
        return UINT32_MAX;
    return piece->key_of.at[key] = id;
}

static inline uint32_t use_key(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t key)
{
    const uint32_t id = piece->key_of.at[key];
    return __builtin_expect(id != UINT32_MAX, 1) ? id : add_key(out, piece, key);
}

static void use_elements(struct rig_merge_output *out, uint32_t key, uint32_t count)
{
    uint32_t *known = &out->segment.keys.at[key].spine.count;
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
    if (!rig_used_pieces_add(&out->pieces, (struct rig_used_piece){piece, rank}))
        return false;
    piece->users++;
    piece->first_error = (uint32_t)out->segment.errors.count;
    memset(piece->branch_of.at, 0xff, (piece->segment.branches.count + 1) * sizeof *piece->branch_of.at);
    bool fits = true;
    for (size_t i = 0; i < piece->segment.errors.count && fits; i++)
        fits = rig_segment_errors_add(&out->segment.errors, piece->segment.errors.at[i]);
    return fits;
}

/* ---- transactions ---- */

static bool copy_ops(struct rig_merge_output *out, struct rig_merge_piece *piece, size_t begin, size_t end)
{
    const uint16_t owner = (uint16_t)out->segment.txns.count;
    if (!rig_txn_op_vec_reserve(&out->segment.ops, out->segment.ops.count + (end - begin)))
        return false;
    struct rig_txn_op *to = out->segment.ops.at + out->segment.ops.count;
    for (const struct rig_txn_op *from = piece->segment.ops.at + begin; begin < end; begin++, from++, to++) {
        *to = *from;
        to->owner = owner;
        to->key = use_key(out, piece, from->key);
        if (__builtin_expect(to->key == UINT32_MAX, 0))
            return false;
        if (!out->sequences || !rig_op_reads_sequence(from->kind) || from->read_state != RIG_READ_SEEN)
            continue;
        if (__builtin_expect(rig_txn_op_is_branch(from), 0)) {
            const uint32_t branch = use_branch(out, piece, rig_txn_op_branch(from));
            if (branch == UINT32_MAX)
                return false;
            to->list = RIG_LIST_BRANCH | branch;
        } else {
            use_elements(out, to->key, from->count);
        }
    }
    out->segment.ops.count = (size_t)(to - out->segment.ops.at);
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

bool rig_merge_output_add(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t index,
                          uint32_t invoke_at)
{
    const struct rig_segment *segment = &piece->segment;
    struct rig_txn txn = segment->txns.at[index];
    const size_t first = txn.first_op, as = out->segment.txns.count;
    txn.invoke_at = invoke_at;
    txn.complete_at = piece->end_at.at[index];
    txn.first_op = (uint32_t)out->segment.ops.count;
    txn.error = txn.error == 0 ? 0 : txn.error + piece->first_error;
    return copy_ops(out, piece, first, end_of_ops(&segment->txns, &segment->ops, index)) &&
           rig_txn_vec_add(&out->segment.txns, txn) &&
           (!rig_columns_any(&segment->columns) || copy_columns(out, piece, index, as));
}

bool rig_merge_output_add_uses(struct rig_merge_output *out, struct rig_merge_piece *piece, uint32_t index)
{
    const struct rig_segment *segment = &piece->segment;
    struct rig_txn txn = segment->txns.at[index];
    const size_t end = end_of_ops(&segment->txns, &segment->ops, index), as = out->segment.txns.count;
    for (size_t op = txn.first_op; op < end; op++) {
        if (use_key(out, piece, segment->ops.at[op].key) == UINT32_MAX)
            return false;
    }
    txn.first_op = 0;
    return rig_txn_vec_add(&out->segment.txns, txn) &&
           (!rig_columns_any(&segment->columns) || copy_columns(out, piece, index, as));
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
