#include "jobs/matrix/bisection.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_members.h"
#include "base/nearest.h"
#include "base/plural.h"
#include "base/statistics.h"
#include "jobs/matrix/matrix_report.h"

static size_t server_of(const struct rig_matrix_job *job)
{
    return (size_t)(job->values[RIG_MATRIX_SERVERS] - job->database->axes[RIG_MATRIX_SERVERS].at);
}

static const char *name_of(const struct rig_bisection_series *series, size_t server)
{
    return series->job->database->axes[RIG_MATRIX_SERVERS].at[server].name;
}

/* Whether both differ in server and run at most. */
static bool is_of_series(const struct rig_matrix_job *a, const struct rig_matrix_job *b)
{
    if (a->database != b->database || strcmp(a->plan, b->plan) != 0)
        return false;
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++) {
        if (axis != RIG_MATRIX_SERVERS && axis != RIG_MATRIX_RUNS && a->values[axis] != b->values[axis])
            return false;
    }
    return true;
}

/* -- the search ---------------------------------------------------------------------------------------------------- */

enum quality { GOOD, BAD, OPEN };

/* Runs the server: all of its runs, or up to the first bad one. */
static enum rig_rc ask(const struct rig_bisection_request *request, struct rig_bisection_series *series, size_t server,
                       bool all, enum quality *quality, struct rig_err *err)
{
    struct rig_bisection_server *counts = &series->servers[server];
    *quality = GOOD;
    for (size_t i = 0; i < request->matrix->job_count; i++) {
        const struct rig_matrix_job *job = &request->matrix->jobs[i];
        enum rig_matrix_state state = RIG_MATRIX_NOT_RUN;
        if (server_of(job) != server || !is_of_series(job, series->job))
            continue;
        const enum rig_rc rc = request->run(request->context, i, &state, err);
        if (rc != RIG_OK)
            return rc;
        if (state != RIG_MATRIX_HOLDS && state != RIG_MATRIX_ANOMALIES) {
            series->open = server;
            series->why_open = rig_matrix_state_words(state);
            if (*quality == GOOD)
                *quality = OPEN;
            return RIG_OK;
        }
        counts->runs++;
        if (state == RIG_MATRIX_ANOMALIES) {
            counts->bad_runs++;
            *quality = BAD;
        }
        if (*quality == BAD && !all)
            return RIG_OK;
    }
    return RIG_OK;
}

static enum rig_rc search(const struct rig_bisection_request *request, struct rig_bisection_series *series, size_t from,
                          size_t to, struct rig_err *err)
{
    enum quality first, last = OPEN, middle;
    series->end = RIG_BISECTION_OPEN;
    enum rig_rc rc = ask(request, series, from, true, &first, err);
    if (rc == RIG_OK && first != OPEN)
        rc = ask(request, series, to, true, &last, err);
    if (rc != RIG_OK || first == OPEN || last == OPEN)
        return rc;
    series->good = first == GOOD ? from : to;
    series->bad = first == GOOD ? to : from;
    if (first == last) {
        series->end = first == GOOD ? RIG_BISECTION_ALL_GOOD : RIG_BISECTION_ALL_BAD;
        return RIG_OK;
    }
    while (series->good + 1 != series->bad && series->bad + 1 != series->good) {
        const size_t at = (series->good + series->bad) / 2;
        rc = ask(request, series, at, false, &middle, err);
        if (rc != RIG_OK || middle == OPEN)
            return rc;
        *(middle == GOOD ? &series->good : &series->bad) = at;
    }
    series->end = RIG_BISECTION_FOUND;
    return RIG_OK;
}

static enum rig_rc find_server(const struct rig_matrix_database *database, const char *option, const char *name,
                               size_t unnamed, size_t *server, struct rig_err *err)
{
    const struct rig_matrix_values *servers = &database->axes[RIG_MATRIX_SERVERS];
    struct rig_nearest nearest;
    *server = unnamed;
    if (name == NULL)
        return RIG_OK;
    rig_nearest_init(&nearest, name);
    for (size_t i = 0; i < servers->count; i++) {
        if (strcmp(servers->at[i].name, name) == 0) {
            *server = i;
            return RIG_OK;
        }
        rig_nearest_offer(&nearest, servers->at[i].name);
    }
    return rig_fail(err, RIG_E_USAGE, "%s: the matrix has no server `%s`%s%s%s", option, name,
                    nearest.best == NULL ? "" : "; did you mean `", nearest.best == NULL ? "" : nearest.best,
                    nearest.best == NULL ? "" : "`?");
}

static bool is_new(const struct rig_bisection *bisection, const struct rig_matrix_job *job)
{
    for (size_t i = 0; i < bisection->count; i++) {
        if (is_of_series(bisection->series[i].job, job))
            return false;
    }
    return true;
}

/* Names are refused before the first run begins. */
static enum rig_rc collect(const struct rig_bisection_request *request, struct rig_bisection *bisection,
                           struct rig_err *err)
{
    const struct rig_matrix *matrix = request->matrix;
    *bisection = (struct rig_bisection){
        .series = rig_arena_array(request->arena, matrix->job_count + 1, sizeof *bisection->series)};
    if (bisection->series == NULL)
        return rig_no_memory(err, "the bisection");
    for (size_t i = 0; i < matrix->job_count; i++) {
        const struct rig_matrix_job *job = &matrix->jobs[i];
        const size_t count = job->database->axes[RIG_MATRIX_SERVERS].count;
        size_t from, to;
        if (!is_new(bisection, job))
            continue;
        enum rig_rc rc = find_server(job->database, "--from", request->from, 0, &from, err);
        if (rc == RIG_OK)
            rc = find_server(job->database, "--to", request->to, count - 1, &to, err);
        if (rc == RIG_OK && from == to)
            rc = rig_fail(err, RIG_E_USAGE, "--bisect: expected at least two `servers`%s%s",
                          job->database->name[0] == '\0' ? "" : " of ", job->database->name);
        if (rc != RIG_OK)
            return rc;
        struct rig_bisection_series *series = &bisection->series[bisection->count++];
        *series =
            (struct rig_bisection_series){.job = job,
                                          .end = RIG_BISECTION_OPEN,
                                          .servers = rig_arena_array(request->arena, count, sizeof *series->servers)};
        if (series->servers == NULL)
            return rig_no_memory(err, "the bisection");
    }
    return RIG_OK;
}

enum rig_rc rig_bisection_find(const struct rig_bisection_request *request, struct rig_bisection *bisection,
                               struct rig_err *err)
{
    enum rig_rc rc = collect(request, bisection, err);
    for (size_t i = 0; rc == RIG_OK && i < bisection->count; i++) {
        struct rig_bisection_series *series = &bisection->series[i];
        size_t from = 0, to = 0;
        const size_t last = series->job->database->axes[RIG_MATRIX_SERVERS].count - 1;
        (void)find_server(series->job->database, "--from", request->from, 0, &from, err);
        (void)find_server(series->job->database, "--to", request->to, last, &to, err);
        rc = search(request, series, from, to, err);
    }
    return rc;
}

int rig_bisection_status(const struct rig_bisection *bisection)
{
    for (size_t i = 0; i < bisection->count; i++) {
        if (bisection->series[i].end == RIG_BISECTION_OPEN)
            return 2;
    }
    return 0;
}

/* -- the result ---------------------------------------------------------------------------------------------------- */

/* The chance that `runs` runs miss an anomaly that a run shows with this share. */
static double missed(double share, uint32_t runs)
{
    return pow(1 - share, runs);
}

/* The bad server whose runs were all made: an end. */
static const struct rig_bisection_server *bad_end(const struct rig_bisection_series *series)
{
    const struct rig_bisection_server *most = &series->servers[series->bad];
    const size_t count = series->job->database->axes[RIG_MATRIX_SERVERS].count;
    for (size_t i = 0; i < count; i++) {
        if (series->servers[i].bad_runs > 0 && series->servers[i].runs > most->runs)
            most = &series->servers[i];
    }
    return most;
}

static void say_confidence(const struct rig_bisection_series *series, struct rig_buf *out)
{
    const struct rig_bisection_server *bad = bad_end(series), *good = &series->servers[series->good];
    const double share = (double)bad->bad_runs / (double)bad->runs;
    const struct rig_interval interval = rig_interval_of_share(bad->bad_runs, bad->runs);
    rig_buf_printf(out,
                   "  A bug that a run shows as often as there (%" PRIu32 " of %" PRIu32
                   " runs, 95 %%: %.0f to %.0f %%) is missed by %" PRIu32
                   " run%s with a chance of %.2g %%, at the lower "
                   "end of that interval %.2g %%.\n",
                   bad->bad_runs, bad->runs, interval.least * 100, interval.most * 100, good->runs,
                   rig_plural(good->runs), missed(share, good->runs) * 100, missed(interval.least, good->runs) * 100);
}

static void say_end(const struct rig_bisection_series *series, struct rig_buf *out)
{
    switch (series->end) {
    case RIG_BISECTION_FOUND:
        if (series->good < series->bad)
            rig_buf_printf(out, "the first bad one is %s; %s is good\n", name_of(series, series->bad),
                           name_of(series, series->good));
        else
            rig_buf_printf(out, "the last bad one is %s; %s is good\n", name_of(series, series->bad),
                           name_of(series, series->good));
        break;
    case RIG_BISECTION_ALL_GOOD:
        rig_buf_add_text(out, "both ends are good: there is nothing to find\n");
        break;
    case RIG_BISECTION_ALL_BAD:
        rig_buf_add_text(out, "both ends are bad: there is nothing to find\n");
        break;
    case RIG_BISECTION_OPEN:
        rig_buf_printf(out, "open, because a run of %s was %s\n", name_of(series, series->open),
                       series->why_open == NULL ? "not run" : series->why_open);
        break;
    }
}

static void say_series(const struct rig_bisection_series *series, struct rig_buf *out)
{
    const size_t count = series->job->database->axes[RIG_MATRIX_SERVERS].count;
    struct rig_matrix_job job = *series->job;
    struct rig_matrix_value none = {.name = ""};
    job.values[RIG_MATRIX_SERVERS] = &none;
    job.values[RIG_MATRIX_RUNS] = &none;
    rig_buf_add_text(out, "Bisection, ");
    rig_matrix_say_job(&job, out);
    rig_buf_add_text(out, ": ");
    say_end(series, out);
    rig_buf_add_text(out, "  runs with anomalies:");
    const char *separator = " ";
    for (size_t i = 0; i < count; i++) {
        if (series->servers[i].runs == 0)
            continue;
        rig_buf_printf(out, "%s%s %" PRIu32 " of %" PRIu32, separator, name_of(series, i), series->servers[i].bad_runs,
                       series->servers[i].runs);
        separator = ", ";
    }
    rig_buf_add_text(out, "\n");
    if (series->end == RIG_BISECTION_FOUND)
        say_confidence(series, out);
}

void rig_bisection_say(const struct rig_bisection *bisection, struct rig_buf *out)
{
    for (size_t i = 0; i < bisection->count; i++)
        say_series(&bisection->series[i], out);
}

static void write_series(const struct rig_bisection_series *series, struct rig_json_writer *json)
{
    static const char *const ends[] = {[RIG_BISECTION_FOUND] = "found",
                                       [RIG_BISECTION_ALL_GOOD] = "all-good",
                                       [RIG_BISECTION_ALL_BAD] = "all-bad",
                                       [RIG_BISECTION_OPEN] = "open"};
    const struct rig_matrix_job *job = series->job;
    const size_t count = job->database->axes[RIG_MATRIX_SERVERS].count;
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "database: %s, plan: %s, level: %s, fault: %s, result: %s", job->database->name, job->plan,
                     job->values[RIG_MATRIX_LEVELS]->name, job->values[RIG_MATRIX_FAULTS]->name, ends[series->end]);
    if (series->end == RIG_BISECTION_FOUND) {
        const struct rig_bisection_server *bad = bad_end(series);
        const uint32_t runs = series->servers[series->good].runs;
        const struct rig_interval interval = rig_interval_of_share(bad->bad_runs, bad->runs);
        rig_json_members(json, "good: %s, bad: %s, missed: %f, missed_at_most: %f", name_of(series, series->good),
                         name_of(series, series->bad), missed((double)bad->bad_runs / (double)bad->runs, runs),
                         missed(interval.least, runs));
    }
    if (series->end == RIG_BISECTION_OPEN)
        rig_json_string(json, "open", name_of(series, series->open));
    rig_json_begin_array(json, "servers");
    for (size_t i = 0; i < count; i++) {
        if (series->servers[i].runs == 0)
            continue;
        rig_json_object(json, NULL, "server: %s, runs: %d, bad: %d", name_of(series, i), series->servers[i].runs,
                        series->servers[i].bad_runs);
    }
    rig_json_end(json);
    rig_json_end(json);
}

void rig_bisection_json(const struct rig_bisection *bisection, struct rig_json_writer *json)
{
    rig_json_begin_array(json, "bisection");
    for (size_t i = 0; i < bisection->count; i++)
        write_series(&bisection->series[i], json);
    rig_json_end(json);
}
