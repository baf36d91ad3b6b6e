#include "checker/prove/proved_levels.h"

#include <string.h>

#include "base/bug.h"

const struct rig_proved_level rig_proved_levels[RIG_PROVED_LEVELS] = {
    {"read-uncommitted", RIG_FORBIDS_WRITES, RIG_KEEPS_NOTHING, false, {NULL}},
    {"strong-session-read-uncommitted", RIG_FORBIDS_WRITES, RIG_KEEPS_PROCESSES, false, {"read-uncommitted"}},
    {"strong-read-uncommitted", RIG_FORBIDS_WRITES, RIG_KEEPS_TIME, false, {"strong-session-read-uncommitted"}},
    {"read-committed", RIG_FORBIDS_FLOW, RIG_KEEPS_NOTHING, false, {"read-uncommitted"}},
    {"strong-session-read-committed",
     RIG_FORBIDS_FLOW,
     RIG_KEEPS_PROCESSES,
     false,
     {"read-committed", "strong-session-read-uncommitted"}},
    {"strong-read-committed",
     RIG_FORBIDS_FLOW,
     RIG_KEEPS_TIME,
     false,
     {"strong-session-read-committed", "strong-read-uncommitted"}},
    {"cursor-stability", RIG_FORBIDS_CURSOR, RIG_KEEPS_NOTHING, false, {"read-committed"}},
    {"monotonic-atomic-view", RIG_FORBIDS_ATOMIC_LATER, RIG_KEEPS_NOTHING, false, {"read-committed"}},
    {"monotonic-view", RIG_FORBIDS_MONOTONIC_VIEW, RIG_KEEPS_NOTHING, false, {"monotonic-atomic-view"}},
    {"monotonic-snapshot-read", RIG_FORBIDS_MONOTONIC_READS, RIG_KEEPS_NOTHING, false, {"monotonic-view"}},
    {"consistent-view", RIG_FORBIDS_SINGLE, RIG_KEEPS_NOTHING, false, {"cursor-stability", "monotonic-view"}},
    /* Starts and commits are not observed: with all transactions concurrent, only the cycles of consistent view
     * remain. */
    {"forward-consistent-view", RIG_FORBIDS_SINGLE, RIG_KEEPS_NOTHING, false, {"consistent-view"}},
    {"read-atomic", RIG_FORBIDS_ATOMIC, RIG_KEEPS_NOTHING, true, {"monotonic-atomic-view"}},
    {"causal-cerone", RIG_FORBIDS_CAUSAL, RIG_KEEPS_NOTHING, true, {"read-atomic"}},
    {"update-atomic", RIG_FORBIDS_UPDATE_ATOMIC, RIG_KEEPS_NOTHING, true, {"read-atomic", "cursor-stability"}},
    {"prefix", RIG_FORBIDS_PREFIX, RIG_KEEPS_NOTHING, true, {"causal-cerone"}},
    {"parallel-snapshot-isolation",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_NOTHING,
     true,
     {"causal-cerone", "update-atomic", "forward-consistent-view"}},
    {"snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_NOTHING,
     true,
     {"monotonic-snapshot-read", "parallel-snapshot-isolation", "prefix"}},
    {"strong-session-snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_PROCESSES,
     true,
     {"snapshot-isolation", "strong-session-read-committed"}},
    {"strong-snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_TIME,
     true,
     {"strong-session-snapshot-isolation", "strong-read-committed"}},
    {"repeatable-read", RIG_FORBIDS_ITEMS, RIG_KEEPS_NOTHING, true, {"cursor-stability"}},
    {"update-serializable", RIG_FORBIDS_UPDATES, RIG_KEEPS_NOTHING, false, {"forward-consistent-view"}},
    {"view-serializable",
     RIG_FORBIDS_ANY,
     RIG_KEEPS_NOTHING,
     true,
     {"repeatable-read", "update-serializable", "snapshot-isolation"}},
    {"serializable", RIG_FORBIDS_ANY, RIG_KEEPS_NOTHING, true, {"view-serializable"}},
    {"strong-session-serializable",
     RIG_FORBIDS_ANY,
     RIG_KEEPS_PROCESSES,
     true,
     {"serializable", "strong-session-snapshot-isolation"}},
    {"strict-serializable",
     RIG_FORBIDS_ANY,
     RIG_KEEPS_TIME,
     true,
     {"strong-session-serializable", "strong-snapshot-isolation"}},
};

int rig_proved_level_find(const char *name, size_t length)
{
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        if (strlen(rig_proved_levels[i].name) == length && memcmp(rig_proved_levels[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

uint32_t rig_proved_levels_by_operations(void)
{
    uint32_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const enum rig_forbids forbids = rig_proved_levels[i].forbids;
        if (forbids == RIG_FORBIDS_ATOMIC_LATER || forbids == RIG_FORBIDS_MONOTONIC_VIEW ||
            forbids == RIG_FORBIDS_MONOTONIC_READS)
            levels |= UINT32_C(1) << i;
    }
    RIG_INVARIANT(levels != 0);
    return levels;
}

static uint32_t directly_below(int level)
{
    RIG_REQUIRE(level >= 0 && level < RIG_PROVED_LEVELS);
    uint32_t below = 0;
    for (int i = 0; i < 4 && rig_proved_levels[level].below[i] != NULL; i++) {
        const char *name = rig_proved_levels[level].below[i];
        const int index = rig_proved_level_find(name, strlen(name));
        RIG_INVARIANT(index >= 0 && index < level); /* weaker levels come first */
        below |= UINT32_C(1) << index;
    }
    return below;
}

/* Weaker levels come first, so one pass in either direction closes a set. */
uint32_t rig_proved_levels_below(uint32_t set)
{
    RIG_REQUIRE(set >> RIG_PROVED_LEVELS == 0);
    for (int i = RIG_PROVED_LEVELS - 1; i >= 0; i--)
        set |= (set >> i & 1) != 0 ? directly_below(i) : 0;
    return set;
}

uint32_t rig_proved_levels_above(uint32_t set)
{
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        set |= (directly_below(i) & set) != 0 ? UINT32_C(1) << i : 0;
    return set;
}
