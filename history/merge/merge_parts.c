#include "history/merge/merge_private.h"

int64_t rig_merge_next_cut(const struct rig_merge *merge)
{
    const struct rig_merge_parts *parts = &merge->parts;
    return parts->is_on && parts->next_cut < parts->cuts.at.count ? parts->cuts.at.at[parts->next_cut].time_ns
                                                                  : INT64_MAX;
}

bool rig_merge_reaches_cut(const struct rig_merge *merge)
{
    const struct rig_merge_parts *parts = &merge->parts;
    const int64_t time_ns = rig_merge_next_cut(merge);
    if (!parts->is_on || parts->next_cut == parts->cuts.at.count)
        return false;
    for (size_t i = 0; i < 2 * merge->count; i++) {
        const struct rig_time_stream *stream = &merge->streams[i];
        if ((stream->count > 0 ? stream->times[0] : stream->then_ns) < time_ns)
            return false;
    }
    return true;
}

size_t rig_merge_cut_passed(const struct rig_merge *merge)
{
    const struct rig_merge_parts *parts = &merge->parts;
    return parts->next_cut == 0 || !parts->is_on ? 0 : parts->cuts.at.at[parts->next_cut - 1].offset;
}

static uint64_t mix(uint64_t number, uint64_t more)
{
    uint64_t hash = (number << 32 ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    return hash * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Transactions of the rank that are complete, by the count that its record states where the reading began. */
static uint64_t count_complete(const struct rig_merge_rank *rank)
{
    uint64_t count = rank->fact.txn_count;
    for (size_t i = rank->end_piece; i < rank->pieces.count; i++)
        count -= rank->pieces.at[i]->segment.txns.count - rank->pieces.at[i]->next_end;
    return count;
}

/* A digest of how many transactions of each rank are complete, and of those under way; the number of these, whose processes have
 * completed all earlier ones. */
static enum rig_rc mark_cut(struct rig_merge *merge, uint64_t *count, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    merge->parts.mark = *count = 0;
    for (uint32_t i = 0; i < merge->count && rc == RIG_OK; i++) {
        const struct rig_merge_rank *rank = &merge->ranks[i];
        if (!rig_merge_list_under_way(merge, rank))
            return rig_merge_no_memory(err);
        merge->parts.mark += mix(~(uint64_t)rank->number, count_complete(rank));
        for (size_t at = 0; at < merge->under_way.count && rc == RIG_OK; at++) {
            const struct rig_merge_start *start = &rank->starts.at[merge->under_way.at[at]];
            const struct rig_segment *segment = &start->piece->segment;
            const struct rig_txn *txn = &(start->is_open ? &segment->open : &segment->txns)->at[start->index];
            merge->parts.mark += mix(rank->number, start->source_at); /* in any order */
            ++*count;
            rc = rig_merge_processes_check(&merge->processes, merge->ranks, i, txn->process, start->source_at, err);
        }
    }
    return rc;
}

bool rig_merge_put_faults(struct rig_merge *merge, struct rig_merge_output *out, int64_t time_ns)
{
    struct rig_fault_event_vec *faults = &merge->parts.faults;
    size_t left = 0;
    bool fits = true;
    for (size_t i = 0; i < faults->count && fits; i++) {
        if (faults->at[i].time_ns >= time_ns && time_ns != INT64_MAX) {
            faults->at[left++] = faults->at[i];
            continue;
        }
        faults->at[i].position = merge->next_position;
        fits = merge->parts.is_before ||
               rig_fault_event_keep_all(&out->segment.faults, &out->segment.texts, &faults->at[i], 1);
    }
    faults->count = left;
    return fits;
}

enum rig_rc rig_merge_pass_cut(struct rig_merge *merge, struct rig_merge_output *out, struct rig_err *err)
{
    struct rig_merge_parts *parts = &merge->parts;
    uint64_t count = 0;
    const enum rig_rc rc = mark_cut(merge, &count, err);
    if (rc != RIG_OK)
        return rc;
    if (!rig_merge_put_faults(merge, out, rig_merge_next_cut(merge)))
        return rig_merge_no_memory(err);
    parts->next_cut++;
    if (!parts->is_before)
        return RIG_OK;
    parts->is_before = false;
    parts->start_mark = parts->mark;
    const uint64_t before = 2 * parts->txns_before + count;
    if (before >= RIG_POSITION_NONE)
        return rig_merge_too_many(err);
    merge->next_position = before > merge->next_position ? (uint32_t)before : merge->next_position;
    return RIG_OK;
}

bool rig_merge_find_places(struct rig_merge *merge, struct rig_source_offsets *places)
{
    const struct rig_merge_cut_vec *cuts = &merge->parts.cuts.at;
    rig_merge_stop_thread(merge);
    if (!rig_merge_cuts_find(&merge->parts.cuts, merge->ranks, merge->count) ||
        !rig_source_offsets_reserve(places, cuts->count))
        return false;
    for (size_t i = places->count = 0; i < cuts->count; i++)
        places->at[places->count++] = cuts->at[i].offset;
    return true;
}

enum rig_rc rig_merge_start_at(struct rig_merge *merge, const struct rig_source_start *start,
                               struct rig_source_facts *facts, struct rig_err *err)
{
    struct rig_merge_parts *parts = &merge->parts;
    rig_merge_stop_thread(merge);
    if (!rig_merge_cuts_find(&parts->cuts, merge->ranks, merge->count))
        return rig_fail(err, RIG_E_LIMIT, "the records cannot be read in parts");
    size_t cut = 0;
    while (cut + 1 < parts->cuts.at.count && parts->cuts.at.at[cut].offset < start->block)
        cut++;
    if (parts->cuts.at.at[cut].offset != start->block)
        return rig_fail(err, RIG_E_INPUT, "the records have no place %zu at which they can be read", start->block);
    const enum rig_rc rc = rig_merge_restart(merge, &parts->cuts.entries.at[cut * merge->count], facts, err);
    parts->is_on = parts->is_before = true;
    parts->next_cut = cut;
    parts->uses_only = start->uses_only;
    parts->txns_before = start->txn_count;
    parts->end_place = start->block;
    return rc;
}

size_t rig_merge_place(const struct rig_merge *merge)
{
    return merge->parts.end_place;
}

void rig_merge_marks(struct rig_merge *merge, struct rig_source_facts *facts, uint64_t *start, uint64_t *end)
{
    rig_merge_stop_thread(merge);
    rig_merge_set_rank_facts(merge, facts);
    *start = merge->parts.start_mark;
    *end = merge->parts.end_mark;
}

bool rig_merge_list_processes(const struct rig_merge *merge, struct rig_rank_processes *processes)
{
    return rig_merge_processes_list(&merge->processes, merge->ranks, processes);
}
