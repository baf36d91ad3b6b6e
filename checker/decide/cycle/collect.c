#include "checker/decide/cycle/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

void rig_collector_init(struct rig_collector *collector, const struct rig_history *history,
                        const struct rig_versions *versions, struct rig_ladder *ladder, uint32_t most_kept)
{
    RIG_REQUIRE(most_kept > 0);
    *collector =
        (struct rig_collector){.history = history, .versions = versions, .ladder = ladder, .most_kept = most_kept};
    rig_table_init(&collector->seen);
}

void rig_collector_done(struct rig_collector *collector)
{
    rig_table_done(&collector->seen);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    return hash ^ (hash >> 31);
}

/* Hash of the anomaly and the transactions in cycle order: cycles of a class over the same transactions count once. */
static uint64_t fingerprint(const struct rig_cycle *cycle, enum rig_anomaly anomaly)
{
    uint64_t hash = mix(0x9e3779b97f4a7c15U, (uint64_t)anomaly);
    for (size_t i = 0; i < cycle->count; i++)
        hash = mix(hash, cycle->at[i].txn);
    return hash;
}

static bool is_before(const struct rig_cycle *left, const struct rig_cycle *right)
{
    if (left->count != right->count)
        return left->count < right->count;
    for (size_t i = 0; i < left->count; i++) {
        if (left->at[i].txn != right->at[i].txn)
            return left->at[i].txn < right->at[i].txn;
    }
    return false;
}

static bool are_ascending(const struct rig_cycles_found *found)
{
    bool ascending = true;
    for (uint32_t i = 1; i < found->kept_count; i++)
        ascending &= is_before(&found->kept[i - 1], &found->kept[i]);
    return ascending;
}

static bool keep(struct rig_cycles_found *found, const struct rig_cycle *cycle, uint32_t most_kept)
{
    if (found->kept == NULL) {
        found->kept = calloc((size_t)most_kept + 1, sizeof *found->kept);
        if (found->kept == NULL)
            return false;
    }
    if (found->kept_count == most_kept && !is_before(cycle, &found->kept[most_kept - 1]))
        return true;
    if (found->kept_count > 0 && cycle->count > RIG_CYCLE_LONG && !is_before(cycle, &found->kept[0]))
        return true;
    struct rig_cycle copy = {0};
    if (!rig_cycle_reserve(&copy, cycle->count))
        return false;
    memcpy(copy.at, cycle->at, cycle->count * sizeof *copy.at);
    copy.count = cycle->count;
    uint32_t place = found->kept_count;
    for (; place > 0 && is_before(&copy, &found->kept[place - 1]); place--)
        found->kept[place] = found->kept[place - 1];
    found->kept[place] = copy;
    if (found->kept_count < most_kept)
        found->kept_count++;
    else
        rig_cycle_done(&found->kept[most_kept]);
    while (found->kept_count > 1 && found->kept[found->kept_count - 1].count > RIG_CYCLE_LONG)
        rig_cycle_done(&found->kept[--found->kept_count]);
    RIG_INVARIANT(found->kept_count > 0 && found->kept_count <= most_kept && found->kept_count <= found->count);
    RIG_COSTLY(are_ascending(found));
    return true;
}

bool rig_collector_add(struct rig_collector *collector, struct rig_cycle *cycle, enum rig_anomaly *anomaly)
{
    if (!rig_cycle_simplify(cycle))
        return false;
    rig_cycle_rotate(cycle);
    RIG_INVARIANT(cycle->count >= 2);
    *anomaly = rig_cycle_anomaly(collector->history, collector->versions, cycle);
    uint32_t *seen = rig_table_put(&collector->seen, fingerprint(cycle, *anomaly));
    if (seen == NULL)
        return false;
    if (*seen != RIG_TABLE_NONE)
        return true;
    *seen = 0;
    struct rig_cycles_found *found = &collector->ladder->found[*anomaly];
    found->count++;
    return keep(found, cycle, collector->most_kept);
}
