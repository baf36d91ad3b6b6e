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
     {"strong-session-read-uncommitted", "read-committed"}},
    {"strong-read-committed",
     RIG_FORBIDS_FLOW,
     RIG_KEEPS_TIME,
     false,
     {"strong-read-uncommitted", "strong-session-read-committed"}},
    {"cursor-stability", RIG_FORBIDS_CURSOR, RIG_KEEPS_NOTHING, false, {"read-committed"}},
    {"strong-session-cursor-stability",
     RIG_FORBIDS_CURSOR,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-read-committed", "cursor-stability"}},
    {"strong-cursor-stability",
     RIG_FORBIDS_CURSOR,
     RIG_KEEPS_TIME,
     false,
     {"strong-read-committed", "strong-session-cursor-stability"}},
    {"monotonic-atomic-view", RIG_FORBIDS_ATOMIC_LATER, RIG_KEEPS_NOTHING, false, {"read-committed"}},
    {"strong-session-monotonic-atomic-view",
     RIG_FORBIDS_ATOMIC_LATER,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-read-committed", "monotonic-atomic-view"}},
    {"strong-monotonic-atomic-view",
     RIG_FORBIDS_ATOMIC_LATER,
     RIG_KEEPS_TIME,
     false,
     {"strong-read-committed", "strong-session-monotonic-atomic-view"}},
    {"monotonic-view", RIG_FORBIDS_MONOTONIC_VIEW, RIG_KEEPS_NOTHING, false, {"monotonic-atomic-view"}},
    {"strong-session-monotonic-view",
     RIG_FORBIDS_MONOTONIC_VIEW,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-monotonic-atomic-view", "monotonic-view"}},
    {"strong-monotonic-view",
     RIG_FORBIDS_MONOTONIC_VIEW,
     RIG_KEEPS_TIME,
     false,
     {"strong-monotonic-atomic-view", "strong-session-monotonic-view"}},
    {"monotonic-snapshot-read", RIG_FORBIDS_MONOTONIC_READS, RIG_KEEPS_NOTHING, false, {"monotonic-view"}},
    {"strong-session-monotonic-snapshot-read",
     RIG_FORBIDS_MONOTONIC_READS,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-monotonic-view", "monotonic-snapshot-read"}},
    {"strong-monotonic-snapshot-read",
     RIG_FORBIDS_MONOTONIC_READS,
     RIG_KEEPS_TIME,
     false,
     {"strong-monotonic-view", "strong-session-monotonic-snapshot-read"}},
    {"consistent-view", RIG_FORBIDS_SINGLE, RIG_KEEPS_NOTHING, false, {"cursor-stability", "monotonic-view"}},
    {"strong-session-consistent-view",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-cursor-stability", "strong-session-monotonic-view", "consistent-view"}},
    {"strong-consistent-view",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_TIME,
     false,
     {"strong-cursor-stability", "strong-monotonic-view", "strong-session-consistent-view"}},
    /* Starts and commits are not observed: with all transactions concurrent, only the cycles of consistent view
     * remain. */
    {"forward-consistent-view", RIG_FORBIDS_SINGLE, RIG_KEEPS_NOTHING, false, {"consistent-view"}},
    {"read-atomic", RIG_FORBIDS_ATOMIC, RIG_KEEPS_NOTHING, true, {"monotonic-atomic-view"}},
    {"strong-session-read-atomic",
     RIG_FORBIDS_ATOMIC,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-monotonic-atomic-view", "read-atomic"}},
    {"strong-read-atomic",
     RIG_FORBIDS_ATOMIC,
     RIG_KEEPS_TIME,
     true,
     {"strong-monotonic-atomic-view", "strong-session-read-atomic"}},
    {"causal-cerone", RIG_FORBIDS_CAUSAL, RIG_KEEPS_NOTHING, true, {"read-atomic"}},
    {"strong-session-causal",
     RIG_FORBIDS_CAUSAL,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-read-atomic", "causal-cerone"}},
    {"strong-causal", RIG_FORBIDS_CAUSAL, RIG_KEEPS_TIME, true, {"strong-read-atomic", "strong-session-causal"}},
    {"update-atomic", RIG_FORBIDS_UPDATE_ATOMIC, RIG_KEEPS_NOTHING, true, {"read-atomic", "cursor-stability"}},
    {"strong-session-update-atomic",
     RIG_FORBIDS_UPDATE_ATOMIC,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-read-atomic", "strong-session-cursor-stability", "update-atomic"}},
    {"strong-update-atomic",
     RIG_FORBIDS_UPDATE_ATOMIC,
     RIG_KEEPS_TIME,
     true,
     {"strong-read-atomic", "strong-cursor-stability", "strong-session-update-atomic"}},
    {"prefix", RIG_FORBIDS_PREFIX, RIG_KEEPS_NOTHING, true, {"causal-cerone"}},
    {"strong-session-prefix", RIG_FORBIDS_PREFIX, RIG_KEEPS_PROCESSES, true, {"strong-session-causal", "prefix"}},
    {"strong-prefix", RIG_FORBIDS_PREFIX, RIG_KEEPS_TIME, true, {"strong-causal", "strong-session-prefix"}},
    {"parallel-snapshot-isolation",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_NOTHING,
     true,
     {"causal-cerone", "update-atomic", "forward-consistent-view"}},
    {"strong-session-parallel-snapshot-isolation",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-causal", "strong-session-update-atomic", "strong-session-consistent-view",
      "parallel-snapshot-isolation"}},
    {"strong-parallel-snapshot-isolation",
     RIG_FORBIDS_SINGLE,
     RIG_KEEPS_TIME,
     true,
     {"strong-causal", "strong-update-atomic", "strong-consistent-view", "strong-session-parallel-snapshot-isolation"}},
    {"snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_NOTHING,
     true,
     {"monotonic-snapshot-read", "parallel-snapshot-isolation", "prefix"}},
    {"strong-session-snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-monotonic-snapshot-read", "strong-session-parallel-snapshot-isolation", "strong-session-prefix",
      "snapshot-isolation"}},
    {"strong-snapshot-isolation",
     RIG_FORBIDS_SNAPSHOT,
     RIG_KEEPS_TIME,
     true,
     {"strong-monotonic-snapshot-read", "strong-parallel-snapshot-isolation", "strong-prefix",
      "strong-session-snapshot-isolation"}},
    {"repeatable-read", RIG_FORBIDS_ITEMS, RIG_KEEPS_NOTHING, true, {"cursor-stability"}},
    {"strong-session-repeatable-read",
     RIG_FORBIDS_ITEMS,
     RIG_KEEPS_PROCESSES,
     true,
     {"strong-session-cursor-stability", "repeatable-read"}},
    {"strong-repeatable-read",
     RIG_FORBIDS_ITEMS,
     RIG_KEEPS_TIME,
     true,
     {"strong-cursor-stability", "strong-session-repeatable-read"}},
    {"update-serializable", RIG_FORBIDS_UPDATES, RIG_KEEPS_NOTHING, false, {"forward-consistent-view"}},
    {"strong-session-update-serializable",
     RIG_FORBIDS_UPDATES,
     RIG_KEEPS_PROCESSES,
     false,
     {"strong-session-consistent-view", "update-serializable"}},
    {"strong-update-serializable",
     RIG_FORBIDS_UPDATES,
     RIG_KEEPS_TIME,
     false,
     {"strong-consistent-view", "strong-session-update-serializable"}},
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
     {"strong-session-repeatable-read", "strong-session-update-serializable", "strong-session-snapshot-isolation",
      "serializable"}},
    {"strict-serializable",
     RIG_FORBIDS_ANY,
     RIG_KEEPS_TIME,
     true,
     {"strong-repeatable-read", "strong-update-serializable", "strong-snapshot-isolation",
      "strong-session-serializable"}},
};

int rig_proved_level_find(const char *name, size_t length)
{
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        if (strlen(rig_proved_levels[i].name) == length && memcmp(rig_proved_levels[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

uint64_t rig_proved_levels_by_operations(void)
{
    uint64_t levels = 0;
    for (int i = 0; i < RIG_PROVED_LEVELS; i++) {
        const enum rig_forbids forbids = rig_proved_levels[i].forbids;
        if (forbids == RIG_FORBIDS_ATOMIC_LATER || forbids == RIG_FORBIDS_MONOTONIC_VIEW ||
            forbids == RIG_FORBIDS_MONOTONIC_READS)
            levels |= UINT64_C(1) << i;
    }
    RIG_INVARIANT(levels != 0);
    return levels;
}

static uint64_t directly_below(int level)
{
    RIG_REQUIRE(level >= 0 && level < RIG_PROVED_LEVELS);
    uint64_t below = 0;
    for (int i = 0; i < 5 && rig_proved_levels[level].below[i] != NULL; i++) {
        const char *name = rig_proved_levels[level].below[i];
        const int index = rig_proved_level_find(name, strlen(name));
        RIG_INVARIANT(index >= 0 && index < level); /* weaker levels come first */
        below |= UINT64_C(1) << index;
    }
    return below;
}

/* Weaker levels come first, so one pass in either direction closes a set. */
uint64_t rig_proved_levels_below(uint64_t set)
{
    RIG_REQUIRE(set >> RIG_PROVED_LEVELS == 0);
    for (int i = RIG_PROVED_LEVELS - 1; i >= 0; i--)
        set |= (set >> i & 1) != 0 ? directly_below(i) : 0;
    return set;
}

uint64_t rig_proved_levels_above(uint64_t set)
{
    for (int i = 0; i < RIG_PROVED_LEVELS; i++)
        set |= (directly_below(i) & set) != 0 ? UINT64_C(1) << i : 0;
    return set;
}
