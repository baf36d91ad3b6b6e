#include "checker/decide/solve/forced_open.h"

#include <string.h>

#include "base/table.h"

enum { MOST_LISTED = 1 << 18 };

static uint64_t pair_count(const struct rig_problem *problem, uint32_t key)
{
    const uint64_t writers = problem->writer_first[key + 1] - problem->writer_first[key];
    return writers < 2 ? 0 : writers * (writers - 1) / 2;
}

/* Pairs of writers of the key without an order. */
static uint64_t open_of_key(const struct rig_forced *forced, uint32_t key)
{
    const struct rig_problem *problem = forced->problem;
    uint64_t ordered = 0;
    for (uint32_t i = problem->writer_first[key]; i < problem->writer_first[key + 1]; i++) {
        const uint32_t txn = problem->writers[i], *clock = rig_clocks_of(&forced->clocks, txn);
        for (uint32_t l = forced->clocks.chains.lane_first[key]; l < forced->clocks.chains.lane_first[key + 1]; l++)
            ordered += rig_clocks_count(&forced->clocks, clock, NULL, txn, &forced->clocks.chains.lanes.at[l]);
    }
    return pair_count(problem, key) > ordered ? pair_count(problem, key) - ordered : 0;
}

static bool is_open(const struct rig_forced *forced, uint32_t one, uint32_t other)
{
    return !rig_forced_before(forced, one, other) && !rig_forced_before(forced, other, one);
}

/* One open pair of the key, among writers next to each other in the order of completion. */
static void find_open(const struct rig_forced *forced, uint32_t key, struct rig_open_pairs *found)
{
    const uint32_t *writers = forced->problem->writers, end = forced->problem->writer_first[key + 1];
    for (uint32_t i = forced->problem->writer_first[key]; i + 1 < end && found->first == RIG_PROBLEM_NONE; i++) {
        if (is_open(forced, writers[i], writers[i + 1])) {
            found->first = writers[i];
            found->second = writers[i + 1];
        }
    }
}

/* Notes the pairs of the key that have no order. False when memory runs out. */
static bool note_open(const struct rig_forced *forced, uint32_t key, struct rig_table *pairs,
                      struct rig_open_pairs *found)
{
    const struct rig_problem *problem = forced->problem;
    const uint32_t *writers = problem->writers, end = problem->writer_first[key + 1];
    for (uint32_t i = problem->writer_first[key]; i < end; i++) {
        for (uint32_t j = i + 1; j < end; j++) {
            uint32_t *slot = rig_table_put(pairs, (uint64_t)writers[i] << 32 | writers[j]);
            if (slot == NULL)
                return false;
            found->open += *slot == RIG_TABLE_NONE && is_open(forced, writers[i], writers[j]);
            *slot = 0;
        }
    }
    return true;
}

/* Per key: whether one before it has the same writers. Keys of one hash may be taken for different ones: then their pairs
 * count again, where they count for each key. */
static bool find_same_keys(const struct rig_problem *problem, bool *same)
{
    struct rig_table keys;
    bool ok = true;
    rig_table_init(&keys);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        const uint32_t begin = problem->writer_first[key], count = problem->writer_first[key + 1] - begin;
        uint64_t hash = count;
        for (uint32_t i = begin; i < begin + count; i++)
            hash = (hash ^ problem->writers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t *slot = rig_table_put(&keys, hash >> 1);
        ok = slot != NULL;
        if (!ok)
            break;
        const uint32_t other = *slot == RIG_TABLE_NONE ? key : *slot;
        const uint32_t other_begin = problem->writer_first[other];
        same[key] = other != key && problem->writer_first[other + 1] - other_begin == count &&
                    memcmp(problem->writers + other_begin, problem->writers + begin, count * sizeof(uint32_t)) == 0;
        *slot = other;
    }
    rig_table_done(&keys);
    return ok;
}

struct rig_open_pairs rig_forced_open(const struct rig_forced *forced)
{
    const struct rig_problem *problem = forced->problem;
    bool *same = calloc((size_t)problem->key_count + 1, sizeof same[0]);
    bool ok = same != NULL && find_same_keys(problem, same);
    struct rig_open_pairs found = {.first = RIG_PROBLEM_NONE, .second = RIG_PROBLEM_NONE};
    for (uint32_t key = 0; ok && key < problem->key_count; key++)
        found.all += same[key] ? 0 : pair_count(problem, key);
    const bool listed = found.all <= MOST_LISTED;
    struct rig_table pairs;
    rig_table_init(&pairs);
    for (uint32_t key = 0; ok && key < problem->key_count; key++) {
        if (same[key])
            continue;
        const uint64_t before = found.open;
        if (listed)
            ok = note_open(forced, key, &pairs, &found);
        else
            found.open += open_of_key(forced, key);
        if (found.open > before && found.first == RIG_PROBLEM_NONE)
            find_open(forced, key, &found);
    }
    found.all = listed ? pairs.used : found.all;
    rig_table_done(&pairs);
    free(same);
    return ok ? found : (struct rig_open_pairs){.first = RIG_PROBLEM_NONE, .second = RIG_PROBLEM_NONE};
}
