#include "history/merge/merge_parts.h"

#include <stdlib.h>
#include <string.h>

#include "history/merge/merge_private.h"

enum { MOST_ENTRIES = 1 << 20 };

/* After all events of the rank that are before the block, in the merged order. */
static int64_t time_before(struct rig_merge_rank *rank, const struct rig_source_entry *block)
{
    if (block->at == 0)
        return INT64_MIN;
    return rig_clock_map_bounds(&rank->clock, block->time_ns + rank->origin_ns).high - rank->zero_ns + 1;
}

static bool have_times(const struct rig_source_entries *blocks)
{
    bool have = true;
    for (size_t i = 1; i < blocks->count; i++)
        have &= rig_merge_has_time(blocks->at[i].time_ns);
    return have;
}

static int compare_times(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The times before all blocks, ascending, without repetitions; fewer where the blocks of their cuts would be too
 * many. */
static bool list_times(struct rig_merge_rank *ranks, const struct rig_source_entries *blocks, size_t count,
                       struct rig_merge_times *times)
{
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        for (size_t block = 0; block < blocks[i].count && fits; block++)
            fits = rig_merge_times_add(times, time_before(&ranks[i], &blocks[i].at[block]));
    }
    if (!fits)
        return false;
    qsort(times->at, times->count, sizeof *times->at, compare_times);
    const size_t step = times->count / (MOST_ENTRIES / count) + 1;
    size_t kept = 0;
    for (size_t i = 0; i < times->count; i += step) {
        if (kept == 0 || times->at[i] > times->at[kept - 1])
            times->at[kept++] = times->at[i];
    }
    times->count = kept;
    return true;
}

/* At each time, the last block of each record that is not later. */
static bool add_cuts(struct rig_merge_cuts *cuts, struct rig_merge_rank *ranks, const struct rig_source_entries *blocks,
                     size_t count, const struct rig_merge_times *times)
{
    size_t *next = calloc(count, sizeof *next);
    bool fits = next != NULL;
    for (size_t cut = 0; fits && cut < times->count; cut++) {
        size_t offset = 0;
        for (size_t i = 0; fits && i < count; i++) {
            while (next[i] + 1 < blocks[i].count &&
                   time_before(&ranks[i], &blocks[i].at[next[i] + 1]) <= times->at[cut])
                next[i]++;
            offset += blocks[i].at[next[i]].at;
            fits = rig_source_entries_add(&cuts->entries, blocks[i].at[next[i]]);
        }
        fits = fits && rig_merge_cut_vec_add(&cuts->at, (struct rig_merge_cut){times->at[cut], offset});
    }
    free(next);
    return fits;
}

/* Finds them unless they are there. False when memory runs out, and where a record cannot be entered. */
static bool merge_cuts_find(struct rig_merge_cuts *cuts, struct rig_merge_rank *ranks, size_t count)
{
    if (cuts->at.count > 0)
        return true;
    struct rig_source_entries *blocks = calloc(count, sizeof *blocks);
    struct rig_merge_times times = {0};
    bool fits = blocks != NULL;
    for (size_t i = 0; fits && i < count; i++)
        fits = rig_source_find_entries(ranks[i].source, &blocks[i]) && have_times(&blocks[i]);
    fits = fits && list_times(ranks, blocks, count, &times) && add_cuts(cuts, ranks, blocks, count, &times);
    for (size_t i = 0; blocks != NULL && i < count; i++)
        rig_source_entries_done(&blocks[i]);
    free(blocks);
    rig_merge_times_done(&times);
    if (!fits)
        cuts->at.count = cuts->entries.count = 0;
    return fits;
}

void rig_merge_cuts_done(struct rig_merge_cuts *cuts)
{
    rig_merge_cut_vec_done(&cuts->at);
    rig_source_entries_done(&cuts->entries);
}

enum { PAGE_BITS = 12, PAGE_PROCESSES = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

/* A process's rank + 1, and the position after its last completion in the record. */
struct rig_merge_process {
    uint32_t rank;
    uint32_t ended;
};

bool rig_merge_processes_init(struct rig_merge_processes *processes)
{
    processes->pages = calloc(PAGES, sizeof(struct rig_merge_process *));
    processes->first = PAGES;
    processes->end = 0;
    return processes->pages != NULL;
}

void rig_merge_processes_done(struct rig_merge_processes *processes)
{
    for (uint32_t i = processes->first; processes->pages != NULL && i < processes->end; i++)
        free(processes->pages[i]);
    free(processes->pages);
    processes->pages = NULL;
}

void rig_merge_processes_reset(struct rig_merge_processes *processes)
{
    for (uint32_t i = processes->first; i < processes->end; i++) {
        if (processes->pages[i] != NULL)
            memset(processes->pages[i], 0, PAGE_PROCESSES * sizeof(struct rig_merge_process));
    }
}

static struct rig_merge_process *process_of(struct rig_merge_processes *processes, int32_t number)
{
    const uint32_t at = (uint32_t)number, place = at >> PAGE_BITS;
    struct rig_merge_process **page = &processes->pages[place];
    if (*page == NULL) {
        *page = calloc(PAGE_PROCESSES, sizeof **page);
        processes->first = place < processes->first ? place : processes->first;
        processes->end = place >= processes->end ? place + 1 : processes->end;
    }
    return *page == NULL ? NULL : &(*page)[at & (PAGE_PROCESSES - 1)];
}

static enum rig_rc check(const struct rig_merge_process *process, const struct rig_merge_rank *ranks, uint32_t rank,
                         int32_t number, uint32_t invoked, struct rig_err *err)
{
    if (process == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records");
    if (process->rank != 0 && process->rank != rank + 1)
        return rig_fail(err, RIG_E_INPUT,
                        "process %ld is in %s and in %s: the processes of different ranks must have different numbers",
                        (long)number, ranks[process->rank - 1].name, ranks[rank].name);
    if (process->rank != 0 && invoked < process->ended)
        return rig_fail(
            err, RIG_E_INPUT,
            "%s: process %ld has transactions that overlap; records of several ranks can be checked together "
            "if each process runs one transaction after the other",
            ranks[rank].name, (long)number);
    return RIG_OK;
}

/* Whether the process may have a transaction that was invoked at this position of the rank's record. RIG_E_INPUT: the
 * process is of another rank, or completed a later one. */
static enum rig_rc merge_processes_check(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                         uint32_t rank, int32_t number, uint32_t invoked, struct rig_err *err)
{
    return check(process_of(processes, number), ranks, rank, number, invoked, err);
}

enum rig_rc rig_merge_processes_note(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                     uint32_t rank, const struct rig_txn *txns, size_t count, struct rig_err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct rig_merge_process *process = process_of(processes, txns[i].process);
        if (process == NULL || (process->rank != rank + 1 && process->rank != 0) || txns[i].invoke_at < process->ended)
            return check(process, ranks, rank, txns[i].process, txns[i].invoke_at, err);
        process->rank = rank + 1;
        process->ended = txns[i].complete_at == RIG_POSITION_NONE ? UINT32_MAX : txns[i].complete_at + 1;
    }
    return RIG_OK;
}

/* Adds those that were noted, in ascending order. False when memory runs out. */
static bool merge_processes_list(const struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                 struct rig_rank_processes *list)
{
    bool fits = true;
    for (size_t page = processes->first; page < processes->end && fits; page++) {
        for (size_t at = 0; processes->pages[page] != NULL && at < PAGE_PROCESSES && fits; at++) {
            const struct rig_merge_process *process = &processes->pages[page][at];
            const uint32_t number = (uint32_t)(page << PAGE_BITS | at);
            if (process->rank != 0)
                fits = rig_rank_processes_add(
                    list, (struct rig_rank_process){(int32_t)number, ranks[process->rank - 1].number});
        }
    }
    return fits;
}

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

/* A digest of how many transactions of each rank are complete, and of those under way; the number of these, whose
 * processes have completed all earlier ones. */
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
            rc = merge_processes_check(&merge->processes, merge->ranks, i, txn->process, start->source_at, err);
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
    if (!merge_cuts_find(&merge->parts.cuts, merge->ranks, merge->count) ||
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
    if (!merge_cuts_find(&parts->cuts, merge->ranks, merge->count))
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
    return merge_processes_list(&merge->processes, merge->ranks, processes);
}
