#include "cli/shrink_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/plan_shrinker.h"
#include "cli/saved_run.h"
#include "cli/stop_signals.h"
#include "run/plan/reproduction.h"
#include "jobs/store/store_folder.h"

static const int64_t time_ns = INT64_C(600) * RIG_NS_PER_S;

struct job {
    const struct rig_arguments *args;
    char path[RIG_CLI_PATH_BYTES], folder[RIG_STORE_PATH_BYTES];
    struct rig_arena arena;
    struct rig_reproduction entry; /* where the shape is one of a known bug */
    struct rig_known_anomaly shape;
    struct rig_plan_settings given;
    struct rig_plan *plan;
    struct rig_plan_shrinking request;
    int hold;
};

/* False after a complaint. */
static bool read_arguments(struct job *job)
{
    static const struct rig_option duration = {.name = "time", .type = RIG_OPTION_DURATION, .least = 1e6, .most = 1e15};
    const char *text = rig_arguments_value(job->args, "time");
    uint64_t runs = RIG_PLAN_SHRINKER_RUNS, seed;
    struct rig_err err = {0};
    if (!rig_arguments_number(job->args, "runs", 3, 1000, &runs) ||
        !rig_arguments_number(job->args, "seed", 0, INT64_MAX, &seed))
        return false;
    job->request.runs_most = (uint32_t)runs;
    job->request.time_ns = time_ns;
    if (text == NULL || rig_option_parse(&duration, text, &job->request.time_ns, &err) == RIG_OK)
        return true;
    rig_cli_complain("--time: %s", err.text);
    return false;
}

static enum rig_rc read_anomaly(struct job *job, struct rig_err *err)
{
    const char *name = rig_arguments_value(job->args, "anomaly"), *proper;
    enum rig_anomaly *anomaly = &job->request.anomaly;
    uint64_t anomalies;
    *anomaly = RIG_ANOMALY_COUNT;
    if (rig_arguments_value_at(job->args, "anomaly", 1) != NULL)
        return rig_fail(err, RIG_E_USAGE, "--anomaly: with --plan, name one anomaly");
    if (name != NULL && !rig_anomaly_find_all(name, &anomalies, &proper))
        return rig_fail(err, RIG_E_USAGE, "--anomaly: there is no anomaly `%s`; `rig list anomalies` shows them", name);
    for (unsigned one = 0; name != NULL && one < RIG_ANOMALY_COUNT; one++) {
        if (*anomaly == RIG_ANOMALY_COUNT && (anomalies & RIG_ANOMALY_BIT(one)) != 0)
            *anomaly = (enum rig_anomaly)one;
    }
    return RIG_OK;
}

/* The known bug whose shape counts: that of --known, or the one that stands in place of a plan. */
static enum rig_rc take_entry(struct job *job, const char *name, struct rig_err *err)
{
    if (rig_arguments_has(job->args, "anomaly"))
        return rig_fail(err, RIG_E_USAGE, "--anomaly: a known bug has its own anomaly");
    const enum rig_rc rc = rig_reproduction_load(name, &job->arena, &job->entry, err);
    if (rc != RIG_OK)
        return rc;
    job->request.entry = job->entry.name;
    job->request.shape = &job->entry.expect;
    for (unsigned one = RIG_ANOMALY_COUNT; one-- > 0;) {
        if ((job->entry.expect.anomalies & RIG_ANOMALY_BIT(one)) != 0)
            job->request.anomaly = (enum rig_anomaly)one;
    }
    return RIG_OK;
}

/* The plan of a known bug. */
static enum rig_rc take_plan_of_entry(struct job *job, struct rig_err *err)
{
    if (job->entry.start.count > 0)
        return rig_fail(err, RIG_E_USAGE,
                        "%s: its servers are started by commands of the entry; start them, and give its plan %s",
                        job->entry.name, job->entry.plan);
    (void)snprintf(job->path, sizeof job->path, "%.4000s", job->entry.plan);
    for (size_t i = 0; i < job->entry.set.count && job->given.count < RIG_PLAN_SETTINGS_MOST; i++)
        job->given.at[job->given.count++] = job->entry.set.at[i];
    return RIG_OK;
}

/* The folder of a run, whose anomaly is the one looked for. */
static enum rig_rc take_run(struct job *job, const char *given, struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    struct rig_cli_saved_run saved = {.storage = NULL};
    enum rig_rc rc = rig_cli_find_run(given, folder, err);
    if (rc == RIG_OK && job->request.entry == NULL)
        rc = rig_cli_saved_run_load(folder, &saved, err);
    if (rc == RIG_OK && job->request.entry == NULL) {
        if (!rig_cli_saved_run_shape(&saved, job->request.anomaly, &job->request.anomaly, &job->shape))
            rc = rig_fail(err, RIG_E_INPUT, "%s: the run has no such anomaly", given);
        job->request.shape = &job->shape;
    }
    if (rc == RIG_OK)
        (void)snprintf(job->path, sizeof job->path, "%.4000s/plan.yaml", folder);
    rig_cli_saved_run_done(&saved);
    return rc;
}

static enum rig_rc find_plan(struct job *job, struct rig_err *err)
{
    const char *given = job->args->positionals[0], *known = rig_arguments_value(job->args, "known");
    struct stat status;
    const bool is_there = stat(given, &status) == 0;
    const bool is_entry = !is_there && strchr(given, '/') == NULL && rig_reproduction_exists(given);
    enum rig_rc rc = read_anomaly(job, err);
    if (rc == RIG_OK && (is_entry || known != NULL))
        rc = take_entry(job, known != NULL ? known : given, err);
    if (rc == RIG_OK && is_entry && known != NULL)
        rc = rig_fail(err, RIG_E_USAGE, "--known: %s is a known bug itself", given);
    if (rc != RIG_OK)
        return rc;
    if (is_entry)
        return take_plan_of_entry(job, err);
    if (is_there && S_ISDIR(status.st_mode))
        return take_run(job, given, err);
    (void)snprintf(job->path, sizeof job->path, "%.4000s", given);
    return RIG_OK;
}

static enum rig_rc prepare(struct job *job, struct rig_err *err)
{
    const char *output = rig_arguments_value(job->args, "output"), *setting;
    char name[256];
    enum rig_rc rc = find_plan(job, err);
    for (size_t i = 0;
         (setting = rig_arguments_value_at(job->args, "set", i)) != NULL && job->given.count < RIG_PLAN_SETTINGS_MOST;
         i++)
        job->given.at[job->given.count++] = setting;
    if (rc == RIG_OK)
        rc = rig_cli_plan_settings_load(job->path, &job->given, &job->plan, err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(name, sizeof name, "%.200s-shrink", job->plan->name);
    rc = output != NULL ? rig_store_take(output, job->folder, &job->hold, err)
                        : rig_store_make(job->plan->store, name, job->folder, &job->hold, err);
    job->request.path = job->path;
    job->request.plan = job->plan;
    job->request.given = &job->given;
    job->request.folder = job->folder;
    job->request.seed = job->plan->seed;
    job->request.is_text = !rig_arguments_json(job->args);
    (void)rig_arguments_number(job->args, "seed", 0, INT64_MAX, &job->request.seed);
    return rc;
}

static void print_json(const struct rig_plan_shrinker *shrinker)
{
    struct rig_json_writer json;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_json_init(&json, &text);
    rig_cli_plan_shrinker_json(shrinker, &json, NULL);
    rig_buf_add_char(&text, '\n');
    rig_cli_print(&text);
    rig_buf_done(&text);
}

static enum rig_rc shrink(struct job *job, bool *is_found, struct rig_err *err)
{
    struct rig_plan_shrinker *shrinker = NULL;
    enum rig_rc rc = prepare(job, err);
    if (rc == RIG_OK)
        rc = rig_cli_plan_shrinker_new(&job->request, &shrinker, err);
    if (rc == RIG_OK)
        rc = rig_cli_plan_shrinker_search(shrinker, is_found, err);
    if (rc == RIG_OK && !*is_found)
        rig_cli_complain("%s", err->text);
    if (rc == RIG_OK && *is_found && rig_arguments_json(job->args))
        print_json(shrinker);
    rig_cli_plan_shrinker_free(shrinker);
    return rc;
}

int rig_cli_shrink_plan(const struct rig_arguments *args)
{
    struct rig_err err = {0};
    bool is_found = false;
    int status = RIG_EXIT_USAGE;
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return RIG_EXIT_FAILED;
    job->args = args;
    job->hold = -1;
    rig_arena_init(&job->arena, 0);
    if (read_arguments(job)) {
        job->request.interrupts = rig_cli_stop_signals_begin();
        const enum rig_rc rc = shrink(job, &is_found, &err);
        rig_cli_stop_signals_end();
        status = rc != RIG_OK ? rig_cli_fail(&err) : is_found ? RIG_EXIT_OK : RIG_EXIT_UNDECIDED;
    }
    rig_plan_free(job->plan);
    rig_arena_done(&job->arena);
    if (job->hold >= 0)
        (void)close(job->hold);
    free(job);
    return status;
}
