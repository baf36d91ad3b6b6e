/*
 * The plan's entries as one schedule, deterministic under the run's seed.
 *
 * An entry with `at` comes at these times, one with `every` again and again, one with `after` alone once; a fault that
 * was skipped because another one was in effect runs once afterwards, not several times. Entries with a `weight` share
 * one sequence: a quiet period, one of them, and when it is over (with `overlap`: has begun) the next quiet period.
 *
 * Threads: one.
 */
#ifndef RIG_NEMESIS_SCHEDULE_H
#define RIG_NEMESIS_SCHEDULE_H

#include <stdint.h>

#include "base/rng.h"
#include "nemesis/nemesis_options.h"

struct rig_schedule;

/*
 * The schedule of a run's faults: the times and durations of the plan's entries.
 *
 * The nemesis asks for the next injection, takes it when its time has come and no other fault is in the way, and
 * reports its end. Times are ns from the start of the load. The plan is one schedule (nemesis/schedule.h); a
 * list of the injections of an earlier run can be another.
 *
 * Threads: one.
 */

#define RIG_SCHEDULE_NEVER INT64_MAX

struct rig_scheduled_fault {
    int64_t at_ns;      /* RIG_SCHEDULE_NEVER: no fault comes, until another one is over */
    uint32_t entry;     /* of the plan */
    const char *target; /* nodes, as a plan names them; NULL: the entry's. Valid until the fault is taken */
};

/* All functions are required. */
struct rig_schedule_ops {
    /* The next fault; the same again until it is taken. */
    struct rig_scheduled_fault (*next)(const struct rig_schedule *schedule);
    /* The next fault, which is of `entry`, is injected now. Returns its duration. */
    int64_t (*take)(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns);
    /* A fault of the entry is over. */
    void (*over)(struct rig_schedule *schedule, uint32_t entry, int64_t now_ns);
};

/* The first member of an implementation. */
struct rig_schedule {
    const struct rig_schedule_ops *ops;
};

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
