/*
 * How a load went over time: what had completed, and how slow it was, at moments of equal distance.
 *
 * At most RIG_TIMELINE_MOST moments: when there are more, every other goes and the distance doubles, so that a run of
 * any length fits. Threads: one.
 */
#ifndef RIG_RUN_LOAD_RUN_TIMELINE_H
#define RIG_RUN_LOAD_RUN_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum { RIG_TIMELINE_MOST = 400 };

struct rig_run_moment {
    int64_t at_ns;           /* since the start of the load */
    uint64_t ok, fail, info; /* completed until then */
    int64_t p99_ns;          /* latency of what completed since the moment before; 0: nothing did */
};

struct rig_run_timeline {
    struct rig_run_moment at[RIG_TIMELINE_MOST];
    uint32_t count;
    int64_t distance_ns; /* 0: before the first */
};

/* Whether a moment is due `at_ns` after the start. */
bool rig_run_timeline_is_due(const struct rig_run_timeline *timeline, int64_t at_ns);
void rig_run_timeline_add(struct rig_run_timeline *timeline, const struct rig_run_moment *moment);

#endif
