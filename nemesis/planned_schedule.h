/*
 * The plan's entries as one schedule, deterministic under the run's seed.
 *
 * An entry with `at` comes at these times, one with `every` again and again, one with `after` alone once; a fault that
 * was skipped because another one was in effect runs once afterwards, not several times. Entries with a `weight` share
 * one sequence: a quiet period, one of them, and when it is over (with `overlap`: has begun) the next quiet period.
 *
 * Threads: one.
 */
#ifndef RIG_NEMESIS_PLANNED_SCHEDULE_H
#define RIG_NEMESIS_PLANNED_SCHEDULE_H

#include "base/rng.h"
#include "nemesis/nemesis_options.h"
#include "nemesis/schedule.h"

struct rig_planned_schedule {
    struct rig_schedule schedule; /* first */
    const struct rig_nemesis_plan *plan;
    struct rig_rng rng;
    struct rig_planned_entry *entries; /* one each of the plan's */
    int64_t random_ns;                 /* time of the next random fault; INT64_MAX: none */
    uint32_t random_entry;             /* the entry that was drawn for it */
};

/* Borrows the plan. RIG_E_LIMIT. */
enum rig_rc rig_planned_schedule_init(struct rig_planned_schedule *planned, const struct rig_nemesis_plan *plan,
                                      uint64_t seed, struct rig_err *err);
/* Also for a zeroed one. */
void rig_planned_schedule_done(struct rig_planned_schedule *planned);

#endif
