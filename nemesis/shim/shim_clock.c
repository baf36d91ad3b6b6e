/*
 * The wall clock as a node's processes see it. Monotonic clocks, and so time-outs and sleeps, stay real, as they do
 * when the clock of a machine is set.
 */
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "nemesis/shim/shim.h"

RIG_SHIM_REAL(clock_gettime)

enum { NS_PER_US = 1000 };
static const int64_t ns_per_s = 1000000000;
static const int64_t million = 1000000;

static int64_t shift_ns(struct rig_shim_control *orders, int64_t real_ns)
{
    const uint32_t which = atomic_load_explicit(&orders->clock, memory_order_acquire);
    if (which == 0 || which > 2)
        return 0;
    const struct rig_shim_clock *clock = &orders->clocks[which - 1];
    const int64_t passed_us = (real_ns - atomic_load_explicit(&clock->since_ns, memory_order_relaxed)) / NS_PER_US;
    const int64_t drift_ppm = atomic_load_explicit(&clock->drift_ppm, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&orders->clocked, 1, memory_order_relaxed);
    /* In 128 bits: a fast clock over days would not fit. */
    __extension__ typedef __int128 wide;
    const wide drift_ns = (wide)passed_us * NS_PER_US * drift_ppm / million;
    return atomic_load_explicit(&clock->offset_ns, memory_order_relaxed) + (int64_t)drift_ns;
}

static bool is_wall_clock(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static int read_clock(clockid_t clock, struct timespec *time)
{
    struct rig_shim_control *orders = rig_shim_orders();
    const int answer = real_clock_gettime()(clock, time);
    if (answer != 0 || orders == NULL || !is_wall_clock(clock) ||
        atomic_load_explicit(&orders->clock, memory_order_relaxed) == 0)
        return answer;
    const int64_t real_ns = (int64_t)time->tv_sec * ns_per_s + time->tv_nsec;
    const int64_t seen_ns = real_ns + shift_ns(orders, real_ns);
    time->tv_sec = seen_ns / ns_per_s;
    time->tv_nsec = seen_ns % ns_per_s;
    if (time->tv_nsec < 0) {
        time->tv_nsec += ns_per_s;
        time->tv_sec--;
    }
    return 0;
}

RIG_SHIM_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int answer = read_clock(clock, time);
    rig_shim_jitter(RIG_SHIM_CALL_CLOCK);
    return answer;
}

RIG_SHIM_EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    if (zone != NULL)
        *(struct timezone *)zone = (struct timezone){0};
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / NS_PER_US;
    return 0;
}

RIG_SHIM_EXPORT time_t time(time_t *answer)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (answer != NULL)
        *answer = now.tv_sec;
    return now.tv_sec;
}

RIG_SHIM_EXPORT int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
