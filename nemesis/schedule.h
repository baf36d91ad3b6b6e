/*
 * The schedule of a run's faults: the times and durations of the plan's entries.
 *
 * The nemesis asks for the next injection, takes it when its time has come and no other fault is in the way, and
 * reports its end. Times are ns from the start of the load. The plan is one schedule (nemesis/planned_schedule.h); a
 * list of the injections of an earlier run can be another.
 *
 * Threads: one.
 */
#ifndef RIG_NEMESIS_SCHEDULE_H
#define RIG_NEMESIS_SCHEDULE_H

#include <stdint.h>

#define RIG_SCHEDULE_NEVER INT64_MAX

struct rig_schedule;

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

#endif
