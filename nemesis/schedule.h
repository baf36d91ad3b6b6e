/*
 * When faults come: the plan's entries turned into one sequence of moments, deterministic under the run's seed.
 *
 * Times are ns from the start of the load. An entry with `at` comes at these times, one with `every` again and again,
 * one with `after` alone once; a moment that passed while the entry could not happen (faults exclude each other) is
 * made up for once, not several times. Entries with a `weight` share one sequence: a quiet period, one of them, and
 * when it is over (with `overlap`: has begun) the next quiet period.
 *
 * Threads: one.
 */
#ifndef RIG_NEMESIS_SCHEDULE_H
#define RIG_NEMESIS_SCHEDULE_H

#include "base/rng.h"
#include "nemesis/nemesis_options.h"

struct rig_schedule {
    const struct rig_nemesis_plan *plan;
    struct rig_rng rng;
    struct rig_schedule_entry *entries; /* one each of the plan's */
    int64_t random_ns;                  /* when the next random fault comes; INT64_MAX: none */
    uint32_t random_entry;              /* the one that was drawn for it */
};

#define RIG_SCHEDULE_NEVER INT64_MAX

/* Borrows the plan. RIG_E_LIMIT. */
enum rig_rc rig_schedule_init(struct rig_schedule *schedule, const struct rig_nemesis_plan *plan, uint64_t seed,
                              struct rig_err *err);
void rig_schedule_done(struct rig_schedule *schedule);
/* When the next fault is due and which entry it is; RIG_SCHEDULE_NEVER: none (until a random one is over). */
int64_t rig_schedule_next(const struct rig_schedule *schedule, uint32_t *entry);
/* The entry happens now. Gives how long it is to last. */
int64_t rig_schedule_take(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns);
/* The entry's fault is over. */
void rig_schedule_over(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns);

#endif
