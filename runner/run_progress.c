#include "runner/run_progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/err.h"

enum { LINE_BYTES = 512 };

void rig_progress_duration(int64_t ns, char *text, size_t size)
{
    RIG_REQUIRE(size >= 16);
    if (ns < 10 * RIG_NS_PER_US)
        (void)snprintf(text, size, "%.1f us", (double)ns / 1e3);
    else if (ns < RIG_NS_PER_MS)
        (void)snprintf(text, size, "%.0f us", (double)ns / 1e3);
    else if (ns < 10 * RIG_NS_PER_MS)
        (void)snprintf(text, size, "%.1f ms", (double)ns / 1e6);
    else if (ns < RIG_NS_PER_S)
        (void)snprintf(text, size, "%.0f ms", (double)ns / 1e6);
    else if (ns < 100 * RIG_NS_PER_S)
        (void)snprintf(text, size, "%.1f s", (double)ns / 1e9);
    else
        (void)snprintf(text, size, "%" PRId64 " min", ns / RIG_NS_PER_S / 60);
}

/* What is left by the bound that will be reached first; below 0: unknown. */
static int64_t remaining_ns(const struct rig_progress *progress)
{
    int64_t by_time = progress->duration_ns > 0 ? progress->duration_ns - progress->elapsed_ns : -1;
    if (progress->duration_ns > 0 && by_time < 0)
        by_time = 0;
    if (progress->total == 0 || progress->rate <= 0)
        return by_time;
    uint64_t left = progress->done < progress->total ? progress->total - progress->done : 0;
    double by_count_s = (double)left / progress->rate;
    if (by_count_s > 1e9)
        return by_time;
    int64_t by_count = (int64_t)(by_count_s * (double)RIG_NS_PER_S);
    return by_time >= 0 && by_time < by_count ? by_time : by_count;
}

struct line {
    char text[LINE_BYTES];
    size_t length;
};

static void add(struct line *line, const char *format, ...) RIG_PRINTF(2, 3);

static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, LINE_BYTES - line->length, format, arguments);
    va_end(arguments);
    RIG_INVARIANT(length >= 0);
    line->length += (size_t)length;
    if (line->length >= LINE_BYTES)
        line->length = LINE_BYTES - 1;
}

void rig_progress_text(const struct rig_progress *progress, unsigned columns, char *text, size_t size)
{
    RIG_REQUIRE(size > 0);
    struct line line = {.length = 0};
    char duration[32], other[32];
    rig_progress_duration(progress->elapsed_ns, duration, sizeof duration);
    add(&line, "%s %s  %" PRIu64 " transactions", progress->phase, duration, progress->done);
    if (progress->total > 0)
        add(&line, " of %" PRIu64, progress->total);
    add(&line, "  %.0f/s  ok %" PRIu64 " fail %" PRIu64 " info %" PRIu64, progress->rate, progress->ok, progress->fail,
        progress->info);
    if (progress->has_latency) {
        rig_progress_duration(progress->p50_ns, duration, sizeof duration);
        rig_progress_duration(progress->p99_ns, other, sizeof other);
        add(&line, "  p50 %s p99 %s", duration, other);
    }
    int64_t left_ns = remaining_ns(progress);
    if (left_ns >= 0) {
        rig_progress_duration(left_ns, duration, sizeof duration);
        add(&line, "  %s left", duration);
    }
    /* The last column stays free: writing it would wrap the line on some terminals. */
    if (columns > 0 && line.length > columns - 1)
        line.text[columns - 1] = '\0';
    (void)snprintf(text, size, "%s", line.text);
}
