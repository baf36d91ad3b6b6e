#include "run/load/run_progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json_members.h"
#include "base/log.h"
#include "base/output_file.h"
#include "checker/model/anomaly.h"

enum {
    LINE_BYTES = 512,
    MOST_NAMED = 2, /* anomalies; further ones are counted */
};
/* A check is told to be behind only when it is by more than this: recording alone takes 200 ms. */
static const int64_t least_behind_ns = RIG_NS_PER_S;

void rig_progress_duration(int64_t ns, char *text, size_t size)
{
    RIG_REQUIRE(size >= 16);
    double us = ns < 0 ? 0 : (double)ns / 1e3;
    int64_t seconds = ns / RIG_NS_PER_S;
    if (seconds >= 3600)
        (void)snprintf(text, size, "%" PRId64 "h%02" PRId64, seconds / 3600, seconds / 60 % 60);
    else if (seconds >= 100)
        (void)snprintf(text, size, "%" PRId64 "m%02" PRId64, seconds / 60, seconds % 60);
    else if (us >= 1e6)
        (void)snprintf(text, size, "%.1fs", us / 1e6);
    else if (us >= 1e3)
        (void)snprintf(text, size, "%.*fms", us < 9950 ? 1 : 0, us / 1e3);
    else
        (void)snprintf(text, size, "%.*fus", us < 9.95 ? 1 : 0, us);
}

void rig_progress_count(uint64_t count, char *text, size_t size)
{
    RIG_REQUIRE(size >= 16);
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0] && count >= 10000; i++) {
        double scaled = (double)count / units[i].unit;
        if (scaled < 1)
            continue;
        (void)snprintf(text, size, "%.*f%s", scaled < 9.95 ? 1 : 0, scaled, units[i].name);
        return;
    }
    (void)snprintf(text, size, "%" PRIu64, count);
}

/* The time left by the bound that will be reached first; below 0: unknown. */
static int64_t remaining_ns(const struct rig_progress *progress)
{
    if (progress->has_share && progress->share >= 1)
        return -1;
    if (progress->has_share && progress->share > 0)
        return (int64_t)((double)progress->share_ns * (1 - progress->share) / progress->share);
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

static void add_count(struct line *line, const char *before, uint64_t count)
{
    char text[32];
    rig_progress_count(count, text, sizeof text);
    add(line, "%s%s", before, text);
}

static void add_duration(struct line *line, const char *before, int64_t ns)
{
    char text[32];
    rig_progress_duration(ns, text, sizeof text);
    add(line, "%s%s", before, text);
}

static void add_found(struct line *line, const uint64_t *found)
{
    unsigned named = 0, further = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (found[anomaly] == 0)
            continue;
        if (named == MOST_NAMED) {
            further++;
            continue;
        }
        add(line, "%s%s", named++ == 0 ? " found " : ", ", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
        add_count(line, " ", found[anomaly]);
    }
    if (further > 0)
        add(line, " and %u more", further);
}

/* Parts that a narrow terminal leaves out, the first one first. */
enum { LACKS_MEDIAN = 1, LACKS_LATENCY, LACKS_REST, LACKS_DONE };

static void compose(const struct rig_progress *progress, unsigned lacks, struct line *line)
{
    *line = (struct line){.length = 0};
    add(line, "%s", progress->phase);
    if (progress->part != NULL)
        add(line, " (%s)", progress->part);
    add_duration(line, " ", progress->elapsed_ns);
    if (lacks < LACKS_DONE || progress->has_share) { /* the outcomes have it too */
        add_count(line, " ", progress->done);
        if (progress->total > 0)
            add_count(line, "/", progress->total);
    }
    add_count(line, " ", (uint64_t)(progress->rate + 0.5));
    add(line, "/s");
    if (progress->has_share)
        add(line, " %.0f%%", progress->share * 100);
    if (progress->faults != NULL && progress->faults[0] != '\0')
        add(line, " under %s", progress->faults);
    if (progress->found != NULL)
        add_found(line, progress->found);
    if (progress->put_off)
        add(line, " check put off");
    else if (progress->found != NULL && progress->behind_ns > least_behind_ns)
        add_duration(line, " check behind ", progress->behind_ns);
    if (!progress->has_share) {
        add_count(line, " ok ", progress->ok);
        add_count(line, " fail ", progress->fail);
        add_count(line, " unknown ", progress->info);
        if (progress->error != NULL)
            add(line, " (mostly %s)", progress->error);
    }
    if (progress->has_latency && lacks < LACKS_MEDIAN)
        add_duration(line, " p50 ", progress->p50_ns);
    if (progress->has_latency && lacks < LACKS_LATENCY)
        add_duration(line, " p99 ", progress->p99_ns);
    const int64_t left_ns = remaining_ns(progress);
    if (left_ns >= 0 && lacks < LACKS_REST)
        add_duration(line, " left ", left_ns);
}

void rig_progress_text(const struct rig_progress *progress, unsigned columns, char *text, size_t size)
{
    RIG_REQUIRE(size > 0);
    /* The last column stays free: writing it would wrap the line on some terminals. */
    const size_t most = columns > 0 && columns < LINE_BYTES ? columns - 1 : LINE_BYTES - 1;
    struct line line;
    compose(progress, 0, &line);
    for (unsigned lacks = LACKS_MEDIAN; line.length > most && lacks <= LACKS_DONE; lacks++)
        compose(progress, lacks, &line);
    if (line.length > most)
        line.text[most] = '\0';
    (void)snprintf(text, size, "%s", line.text);
}

static void add_seconds(struct rig_json_writer *w, const char *name, int64_t ns)
{
    rig_json_number(w, name, (double)ns / RIG_NS_PER_S);
}

static void add_outcomes(struct rig_json_writer *w, const struct rig_progress *progress)
{
    rig_json_members(w, "ok: %d, fail: %d, info: %d", progress->ok, progress->fail, progress->info);
    if (progress->total > 0)
        rig_json_int(w, "total", (int64_t)progress->total);
    if (progress->duration_ns > 0)
        add_seconds(w, "duration_s", progress->duration_ns);
    if (progress->has_latency)
        rig_json_members(w, "p50_ms: %f, p99_ms: %f", (double)progress->p50_ns / RIG_NS_PER_MS,
                         (double)progress->p99_ns / RIG_NS_PER_MS);
    if (progress->error != NULL)
        rig_json_members(w, "error: %s, error_count: %d", progress->error, progress->error_count);
    if (progress->faults != NULL && progress->faults[0] != '\0')
        rig_json_string(w, "faults", progress->faults);
}

static void add_check(struct rig_json_writer *w, const struct rig_progress *progress)
{
    rig_json_begin_object(w, "found");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        if (progress->found[anomaly] > 0)
            rig_json_int(w, rig_anomaly_info((enum rig_anomaly)anomaly)->name, (int64_t)progress->found[anomaly]);
    rig_json_end(w);
    if (progress->put_off)
        rig_json_bool(w, "check_put_off", true);
    else if (!progress->has_share)
        add_seconds(w, "check_behind_s", progress->behind_ns);
}

static void write_json(struct rig_json_writer *w, const struct rig_progress *progress)
{
    rig_json_begin_object(w, NULL);
    rig_json_string(w, "phase", progress->phase);
    if (progress->part != NULL)
        rig_json_string(w, "part", progress->part);
    add_seconds(w, "elapsed_s", progress->elapsed_ns);
    rig_json_members(w, "transactions: %d, rate: %f", progress->done, progress->rate);
    if (progress->has_share)
        rig_json_number(w, "share", progress->share);
    else
        add_outcomes(w, progress);
    if (progress->found != NULL)
        add_check(w, progress);
    const int64_t left_ns = remaining_ns(progress);
    if (left_ns >= 0)
        add_seconds(w, "left_s", left_ns);
    rig_json_end(w);
}

static void write_line(const struct rig_progress *progress, struct rig_buf *text)
{
    struct rig_json_writer w;
    rig_buf_init(text, 0);
    rig_json_init(&w, text);
    write_json(&w, progress);
    rig_buf_add_char(text, '\n');
}

static void show_json(const struct rig_progress *progress, FILE *stream)
{
    struct rig_buf text;
    write_line(progress, &text);
    (void)fputs(rig_buf_text(&text), stream);
    rig_buf_done(&text);
}

void rig_progress_save(const struct rig_progress *progress, const char *file)
{
    struct rig_buf text;
    struct rig_err err = {0};
    write_line(progress, &text);
    if (rig_output_save(&text, file, &err) != RIG_OK)
        rig_log(RIG_LOG_WARN, "run", "the progress is not in a file: %s", err.text);
    rig_buf_done(&text);
}

void rig_progress_show(const struct rig_progress *progress, enum rig_progress_form form, unsigned columns, FILE *stream)
{
    char text[LINE_BYTES];
    switch (form) {
    case RIG_PROGRESS_NONE:
        return;
    case RIG_PROGRESS_LINE:
        rig_progress_text(progress, columns, text, sizeof text);
        (void)fprintf(stream, "\r%s\033[K", text);
        break;
    case RIG_PROGRESS_LINES:
        rig_progress_text(progress, 0, text, sizeof text);
        (void)fprintf(stream, "%s\n", text);
        break;
    case RIG_PROGRESS_JSON:
        show_json(progress, stream);
        break;
    }
    (void)fflush(stream);
}

void rig_progress_clear(enum rig_progress_form form, FILE *stream)
{
    if (form != RIG_PROGRESS_LINE)
        return;
    (void)fputs("\r\033[K", stream);
    (void)fflush(stream);
}

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
