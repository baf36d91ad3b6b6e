#include "run/load/run_timeline.h"

static const int64_t first_distance_ns = 200000000;

bool rig_run_timeline_is_due(const struct rig_run_timeline *timeline, int64_t at_ns)
{
    if (timeline->count == 0)
        return at_ns >= first_distance_ns;
    return at_ns >= timeline->at[timeline->count - 1].at_ns + timeline->distance_ns;
}

/* Keeps the later one of two neighbours, with the worse of their latencies: its counts include the earlier ones. */
static void thin_out(struct rig_run_timeline *timeline)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < timeline->count; i += 2) {
        const int64_t before_ns = timeline->at[i - 1].p99_ns;
        timeline->at[kept] = timeline->at[i];
        if (before_ns > timeline->at[kept].p99_ns)
            timeline->at[kept].p99_ns = before_ns;
        kept++;
    }
    timeline->count = kept;
    timeline->distance_ns *= 2;
}

void rig_run_timeline_add(struct rig_run_timeline *timeline, const struct rig_run_moment *moment)
{
    if (timeline->distance_ns == 0)
        timeline->distance_ns = first_distance_ns;
    if (timeline->count == RIG_TIMELINE_MOST)
        thin_out(timeline);
    timeline->at[timeline->count++] = *moment;
}
