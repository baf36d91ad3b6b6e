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
        const bool fits = rig_merge_output_use(out, number, piece) &&
                          (merge->parts.uses_only ? rig_merge_output_map_keys(out, piece, taken)
                                                  : rig_merge_output_map(out, piece, taken));
        if (!fits)
            return rig_merge_no_memory(err);
    }
    rig_merge_rank_finish(rank, piece, taken);
    *op_count += txns[taken].first_op - txns[0].first_op;
    if (merge->parts.is_before)
        piece->next_end += (uint32_t)taken; /* they complete before the part */
    return RIG_OK;
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
    const bool fits = merge->parts.uses_only ? rig_merge_output_add_uses(out, merge->end_pieces, &merge->ends)
                                             : rig_merge_output_add(out, merge->end_pieces, &merge->ends, op_count);
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

static enum rig_rc put_all_open(struct rig_merge *merge, struct rig_merge_output *out, uint32_t number,
                                struct rig_err *err)
{
    const struct rig_merge_rank *rank = &merge->ranks[number];
    bool fits = rig_merge_list_under_way(merge, rank);
    for (size_t i = 0; i < merge->under_way.count && fits; i++)
        fits = rig_merge_output_add_open(out, number, &rank->starts.at[merge->under_way.at[i]]);
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
    rig_merge_output_end(out);
    output->share = share_of(merge);
    output->place = rig_merge_cut_passed(merge);
    output->mark = merge->parts.mark;
    return RIG_OK;
}
