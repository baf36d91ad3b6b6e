#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#include "base/bug.h"

int64_t rig_clock_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * RIG_NS_PER_S + now.tv_nsec;
}

void rig_clock_sleep_until_ns(int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = deadline_ns / RIG_NS_PER_S, .tv_nsec = deadline_ns % RIG_NS_PER_S};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

void rig_clock_utc_text(char *text, size_t size)
{
    RIG_REQUIRE(size >= 24);
    struct timespec now;
    struct tm parts;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(text, size, "%Y%m%dT%H%M%S", &parts);
    (void)snprintf(text + length, size - length, ".%03ldZ", now.tv_nsec / 1000000);
}
