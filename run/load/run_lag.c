#include "run/load/run_lag.h"

#include <string.h>

#include "base/clock.h"

static const int64_t least_spacing_ns = 100 * RIG_NS_PER_MS;

static void halve(struct rig_lag *lag)
{
    for (uint32_t i = 0; i < lag->count / 2; i++)
        lag->samples[i] = lag->samples[2 * i];
    lag->count /= 2;
    lag->spacing_ns *= 2;
}

void rig_lag_note(struct rig_lag *lag, int64_t now_ns, uint64_t done)
{
    if (lag->spacing_ns == 0)
        lag->spacing_ns = least_spacing_ns;
    if (lag->count > 0 && now_ns - lag->samples[lag->count - 1].at_ns < lag->spacing_ns)
        return;
    if (lag->count == RIG_LAG_SAMPLES)
        halve(lag);
    lag->samples[lag->count].at_ns = now_ns;
    lag->samples[lag->count++].done = done;
}

int64_t rig_lag_behind_ns(struct rig_lag *lag, int64_t now_ns, uint64_t followed)
{
    uint32_t caught_up = 0;
    while (caught_up < lag->count && lag->samples[caught_up].done <= followed)
        caught_up++;
    lag->count -= caught_up;
    memmove(lag->samples, lag->samples + caught_up, lag->count * sizeof lag->samples[0]);
    if (lag->count == 0)
        lag->spacing_ns = least_spacing_ns;
    return lag->count == 0 ? 0 : now_ns - lag->samples[0].at_ns;
}
