#include "history/merge/merge_cuts.h"

#include <stdlib.h>

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

/* The times before all blocks, ascending, without repetitions; fewer where the blocks of their cuts would be too many. */
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

bool rig_merge_cuts_find(struct rig_merge_cuts *cuts, struct rig_merge_rank *ranks, size_t count)
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
