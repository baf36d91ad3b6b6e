#include "history/merge/merge_output.h"

#include <string.h>

#include "base/bug.h"
#include "history/merge/merge_private.h"

enum rig_rc rig_merge_no_memory(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records");
}

enum rig_rc rig_merge_too_many(struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT, "more than 4294967294 events in all records; check fewer of them");
}

/* Gives the events of a batch their positions, and notes which ranks its ends belong to. */
static enum rig_rc give_positions(struct rig_merge *merge, struct rig_err *err)
{
    const size_t count = merge->order.events.count;
    const uint64_t *events = merge->order.events.at;
    if (count >= RIG_POSITION_NONE - merge->next_position)
        return rig_merge_too_many(err);
    if (!rig_merge_ids_reserve(&merge->ends, count + 1))
        return rig_merge_no_memory(err);
    for (size_t i = 0; i < 2 * merge->count; i++) {
        struct rig_merge_rank *rank = &merge->ranks[i / 2];
        if (merge->streams[i].taken == 0)
            continue;
        struct rig_merge_piece *piece = i % 2 == 0 ? rig_merge_rank_start(rank) : rig_merge_rank_end(rank);
        merge->positions[i] = i % 2 == 0 ? piece->start_at.at + piece->next_start : piece->end_at.at + piece->next_end;
    }
    uint32_t *end = merge->ends.at, position = merge->next_position;
    for (size_t i = 0; i < count; i++) {
        const uint32_t stream = rig_time_order_stream_of(&merge->order, events[i]);
        *merge->positions[stream]++ = position++;
        *end = stream / 2;
        end += stream & 1;
    }
    merge->next_position = position;
    merge->ends.count = (size_t)(end - merge->ends.at);
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->streams[2 * i].taken > 0)
            rig_merge_rank_begin(&merge->ranks[i], rig_merge_rank_start(&merge->ranks[i]), merge->streams[2 * i].taken);
    }
    return RIG_OK;
}

/* The output uses the rank's piece, until another output does or the piece ends, and its lists. */
static bool merge_output_use(struct rig_merge_output *out, uint32_t rank, struct rig_merge_piece *piece)
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

/* Only gives the output their keys. */
static bool merge_output_map_keys(struct rig_merge_output *out, struct rig_merge_piece *piece, size_t count)
{
    const struct rig_txn *txns = piece->segment.txns.at + piece->next_end;
    uint32_t most = 0;
    for (uint32_t op = txns[0].first_op; op < txns[count].first_op; op++) {
        const uint32_t key = use_key(out, piece, piece->segment.ops.at[op].key);
        most = key > most ? key : most;
    }
    return most != UINT32_MAX;
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

/* Gives the operations of the piece's next `count` transactions that complete the numbers of the output, which uses the
 * piece. */
static bool merge_output_map(struct rig_merge_output *out, struct rig_merge_piece *piece, size_t count)
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

/* The batch's ends of a rank, if it has any: the output will use their piece. *op_count: more operations. */
static enum rig_rc finish_ends(struct rig_merge *merge, struct rig_merge_output *out, uint32_t number, size_t *op_count,
                               struct rig_err *err)
{
    const size_t taken = merge->streams[2 * number + 1].taken;
    struct rig_merge_rank *rank = &merge->ranks[number];
    struct rig_merge_piece *piece = merge->end_pieces[number] = taken > 0 ? rig_merge_rank_end(rank) : NULL;
    if (piece == NULL)
        return RIG_OK;
    const struct rig_txn *txns = piece->segment.txns.at + piece->next_end;
    if (!merge->parts.is_before) {
        const enum rig_rc rc = rig_merge_processes_note(&merge->processes, merge->ranks, number, txns, taken, err);
        if (rc != RIG_OK)
            return rc;
        const bool fits =
            merge_output_use(out, number, piece) &&
            (merge->parts.uses_only ? merge_output_map_keys(out, piece, taken) : merge_output_map(out, piece, taken));
        if (!fits)
            return rig_merge_no_memory(err);
    }
    rig_merge_rank_finish(rank, piece, taken);
    *op_count += txns[taken].first_op - txns[0].first_op;
    if (merge->parts.is_before)
        piece->next_end += (uint32_t)taken; /* they complete before the part */
    return RIG_OK;
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

/* The same without operations; their keys were mapped. */
static bool merge_output_add_uses(struct rig_merge_output *out, struct rig_merge_piece *const *pieces,
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

/* Adds the next transaction that completes of each of these ranks' pieces; they were mapped, and have `op_count`
 * operations. */
static bool merge_output_add(struct rig_merge_output *out, struct rig_merge_piece *const *pieces,
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

/* The events of the batch. */
static enum rig_rc put_events(struct rig_merge *merge, struct rig_merge_output *out, struct rig_err *err)
{
    size_t op_count = 0;
    enum rig_rc rc = give_positions(merge, err);
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++)
        rc = finish_ends(merge, out, i, &op_count, err);
    if (rc != RIG_OK || merge->parts.is_before)
        return rc;
    const bool fits = merge->parts.uses_only ? merge_output_add_uses(out, merge->end_pieces, &merge->ends)
                                             : merge_output_add(out, merge->end_pieces, &merge->ends, op_count);
    return fits ? RIG_OK : rig_merge_no_memory(err);
}

static bool put_faults(struct rig_merge *merge, struct rig_merge_output *out, const struct rig_segment *segment)
{
    if (merge->parts.is_on)
        return rig_fault_event_keep_all(&merge->parts.faults, &merge->parts.texts, segment->faults.at,
                                        segment->faults.count);
    const size_t before = out->segment.faults.count;
    if (!rig_fault_event_keep_all(&out->segment.faults, &out->segment.texts, segment->faults.at, segment->faults.count))
        return false;
    for (size_t i = before; i < out->segment.faults.count; i++)
        out->segment.faults.at[i].position = merge->next_position;
    return true;
}

static enum rig_rc take_piece(struct rig_merge *merge, struct rig_merge_output *out, uint32_t number,
                              struct rig_err *err)
{
    struct rig_merge_rank *rank = &merge->ranks[number];
    const enum rig_rc rc = rig_merge_rank_take(rank, err);
    if (rc != RIG_OK)
        return rc;
    if (rank->ended) {
        out->segment.lost_count += rank->fact.truncated;
    } else {
        const struct rig_segment *segment = &rank->last->segment;
        out->segment.skipped_count += segment->skipped_count;
        out->segment.lost_count += segment->lost_count;
        out->segment.reused_count += segment->reused_count;
        if (!put_faults(merge, out, segment))
            return rig_merge_no_memory(err);
    }
    return RIG_OK;
}

/* Those that complete in the pieces taken, and those that are open at the end of the last one. */
bool rig_merge_list_under_way(struct rig_merge *merge, const struct rig_merge_rank *rank)
{
    struct rig_merge_ids *ids = &merge->under_way;
    bool fits = true;
    ids->count = 0;
    for (size_t i = rank->end_piece; i < rank->pieces.count; i++) {
        const struct rig_merge_piece *piece = rank->pieces.at[i];
        for (size_t index = piece->next_end; index < piece->start_of.count && fits; index++)
            fits = !rig_merge_rank_is_begun(rank, piece->start_of.at[index]) ||
                   rig_merge_ids_add(ids, piece->start_of.at[index]);
    }
    for (size_t i = 0; rank->last != NULL && i < rank->last->open_start.count && fits; i++)
        fits = !rig_merge_rank_is_begun(rank, rank->last->open_start.at[i]) ||
               rig_merge_ids_add(ids, rank->last->open_start.at[i]);
    return fits;
}

static size_t end_of_ops(const struct rig_txn_vec *txns, const struct rig_txn_op_vec *ops, size_t index)
{
    return index + 1 < txns->count ? txns->at[index + 1].first_op : ops->count;
}

/* Adds a transaction that is under way where the output ends. */
static bool merge_output_add_open(struct rig_merge_output *out, uint32_t rank, const struct rig_merge_start *start)
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
    if (!merge_output_use(out, rank, start->piece) || !rig_txn_vec_add(&out->segment.open, txn))
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

static enum rig_rc put_all_open(struct rig_merge *merge, struct rig_merge_output *out, uint32_t number,
                                struct rig_err *err)
{
    const struct rig_merge_rank *rank = &merge->ranks[number];
    bool fits = rig_merge_list_under_way(merge, rank);
    for (size_t i = 0; i < merge->under_way.count && fits; i++)
        fits = merge_output_add_open(out, number, &rank->starts.at[merge->under_way.at[i]]);
    return fits ? RIG_OK : rig_merge_no_memory(err);
}

/* At the end: no transaction that stays open is followed by another one of its process. */
static enum rig_rc check_open(struct rig_merge *merge, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++) {
        const struct rig_merge_piece *last = merge->ranks[i].last;
        if (last != NULL)
            rc = rig_merge_processes_note(&merge->processes, merge->ranks, i, last->segment.open.at,
                                          last->segment.open.count, err);
    }
    return rc;
}

static double share_of(const struct rig_merge *merge)
{
    double done = 0, all = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const double size = (double)rig_source_facts(merge->ranks[i].source)->size_bytes;
        done += size * rig_source_share(merge->ranks[i].source);
        all += size;
    }
    return all > 0 ? done / all : 1;
}

/* No event is known to be the next one: continues the stream that may have it. */
static enum rig_rc continue_streams(struct rig_merge *merge, struct rig_merge_output *out, struct rig_err *err)
{
    const struct rig_time_stream *first = NULL;
    for (size_t i = 0; i < 2 * merge->count; i++) {
        const struct rig_time_stream *stream = &merge->streams[i];
        if (stream->count == 0 && (first == NULL || stream->then_ns < first->then_ns))
            first = stream;
    }
    RIG_INVARIANT(first != NULL);
    const uint32_t number = (uint32_t)(first - merge->streams) / 2;
    merge->ended = merge->ranks[number].ended;
    return merge->ended ? check_open(merge, err) : take_piece(merge, out, number, err);
}

/* The next batch of events. */
static enum rig_rc put_batch(struct rig_merge *merge, struct rig_merge_output *out, struct rig_err *err)
{
    const int64_t until_ns = rig_merge_next_cut(merge);
    for (size_t i = 0; i < merge->count; i++) {
        merge->streams[2 * i] = rig_merge_rank_starts(&merge->ranks[i]);
        merge->streams[2 * i + 1] = rig_merge_rank_ends(&merge->ranks[i]);
    }
    if (rig_merge_reaches_cut(merge))
        return rig_merge_pass_cut(merge, out, err);
    if (!rig_time_order_next(&merge->order, merge->streams, until_ns, merge->output_txns / merge->count + 1))
        return rig_merge_no_memory(err);
    return merge->order.events.count > 0 ? put_events(merge, out, err) : continue_streams(merge, out, err);
}

/* Nothing else is added, except faults. */
static void merge_output_end(struct rig_merge_output *out)
{
    for (size_t i = 0; i < out->segment.keys.count; i++)
        out->segment.keys.at[i].spine.count = out->elements.at[i];
    out->segment.owned = true;
    out->segment.in_turn = true;
}

enum rig_rc rig_merge_fill(struct rig_merge *merge, struct rig_merge_slot *output, struct rig_err *err)
{
    struct rig_merge_output *out = &output->made;
    const size_t first_cut = merge->parts.next_cut + merge->parts.is_before;
    enum rig_rc rc = RIG_OK;
    rig_merge_output_empty(out, merge->ranks, ++merge->output_number);
    output->last = false;
    if (!merge->begun) {
        merge->begun = true;
        out->segment.lost_count = merge->missing_count;
    }
    while (rc == RIG_OK && !merge->ended && out->segment.txns.count < merge->output_txns &&
           out->segment.ops.count < RIG_MERGE_OUTPUT_OPS && merge->parts.next_cut <= first_cut)
        rc = put_batch(merge, out, err);
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++)
        rc = put_all_open(merge, out, i, err);
    if (rc == RIG_OK && merge->ended && !rig_merge_put_faults(merge, out, INT64_MAX))
        rc = rig_merge_no_memory(err);
    if (rc != RIG_OK)
        return rc;
    merge_output_end(out);
    output->share = share_of(merge);
    output->place = rig_merge_cut_passed(merge);
    output->mark = merge->parts.mark;
    return RIG_OK;
}

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

/* ---- transactions ---- */
