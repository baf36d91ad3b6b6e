#include "run/ranks/clock_offsets.h"

#include "base/clock.h"

static const int64_t first_interval_ns = 250 * RIG_NS_PER_MS;

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static void thin_out(struct rig_clock_offsets *clock)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clock->count; i += 2)
        clock->samples[kept++] = clock->samples[i];
    clock->count = kept;
    clock->interval_ns *= 2;
}

/* Whether the sample cannot follow the last one at any rate that clocks have. */
static bool has_stepped(const struct rig_clock_offsets *clock, const struct rig_offset_sample *sample)
{
    if (clock->count == 0)
        return false;
    const struct rig_offset_sample *last = &clock->samples[clock->count - 1];
    const uint64_t passed = distance(sample->local_ns, last->local_ns);
    const uint64_t drift = passed / (1000000 / RIG_CLOCK_DRIFT_PPM) + 1;
    return distance(sample->offset_ns, last->offset_ns) > sample->error_ns + last->error_ns + drift;
}

bool rig_clock_offsets_settle(struct rig_clock_offsets *clock)
{
    if (!clock->has_best)
        return false;
    clock->has_best = false;
    const bool stepped = has_stepped(clock, &clock->best);
    if (stepped) {
        const int64_t before_ns = clock->samples[clock->count - 1].offset_ns;
        const int64_t step_ns = (int64_t)((uint64_t)clock->best.offset_ns - (uint64_t)before_ns);
        clock->steps++;
        if (distance(step_ns, 0) > distance(clock->largest_step_ns, 0))
            clock->largest_step_ns = step_ns;
    }
    if (clock->count == RIG_CLOCK_OFFSETS_MOST)
        thin_out(clock);
    clock->samples[clock->count++] = clock->best;
    return stepped;
}

bool rig_clock_offsets_note(struct rig_clock_offsets *clock, int64_t t0_ns, int64_t rank_0_ns, int64_t t1_ns)
{
    if (clock->interval_ns == 0)
        clock->interval_ns = first_interval_ns;
    bool stepped = false;
    if (!clock->has_best)
        clock->interval_began_ns = t0_ns;
    if (t1_ns < t0_ns)
        return false; /* this clock went backwards meanwhile: the next round trip shows how far */
    const uint64_t took_ns = (uint64_t)t1_ns - (uint64_t)t0_ns;
    const int64_t middle_ns = t0_ns + (int64_t)(took_ns / 2);
    const struct rig_offset_sample sample = {.local_ns = t1_ns,
                                             .offset_ns = (int64_t)((uint64_t)rank_0_ns - (uint64_t)middle_ns),
                                             .error_ns = took_ns / 2 + 1};
    if (clock->has_best && distance(t1_ns, clock->interval_began_ns) >= (uint64_t)clock->interval_ns) {
        stepped = rig_clock_offsets_settle(clock);
        clock->interval_began_ns = t0_ns;
    }
    if (!clock->has_best || sample.error_ns < clock->best.error_ns)
        clock->best = sample;
    clock->has_best = true;
    return stepped;
}
