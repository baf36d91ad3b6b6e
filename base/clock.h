/*
 * Time. All measurements are in nanoseconds of one monotonic clock; wall-clock time is only for names and logs.
 */
#ifndef RIG_BASE_CLOCK_H
#define RIG_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define RIG_NS_PER_S  INT64_C(1000000000)
#define RIG_NS_PER_MS INT64_C(1000000)
#define RIG_NS_PER_US INT64_C(1000)

/* CLOCK_MONOTONIC, ns. */
int64_t rig_clock_now_ns(void);
/* Sleeps until the monotonic clock reads `deadline_ns`; returns early when a signal arrives. */
void rig_clock_sleep_until_ns(int64_t deadline_ns);
/* The wall-clock time in UTC as 20260131T235959.123Z, for names and logs; at least 24 bytes. */
void rig_clock_utc_text(char *text, size_t size);

#endif
