/*
 * rig shrink HISTORY: the smallest part of a history that has its anomaly. With --plan: the smallest plan that shows
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "base/output_file.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/interruption.h"
#include "cli/outputs.h"
#include "cli/plan_shrinker.h"
#include "cli/requests.h"
#include "cli/saved_run.h"
#include "cli/stop_signals.h"
#include "history/source/load.h"
#include "jobs/shrink/scenario_text.h"
#include "jobs/shrink/shrink_history.h"
#include "jobs/store/store_folder.h"
#include "report/shrunk_report.h"
#include "run/plan/reproduction.h"

/*
 * rig shrink --plan PLAN|DIR: the smallest plan that still shows the anomaly, by runs of plans.
 */

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
    struct rig_earlier_runs *earlier;
    char server[256]; /* of the run */
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
    rig_anomaly_set anomalies;
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

/* The runs of its plan that were made on its server. The run itself was chosen for its anomaly, so it does not
 * count. */
static enum rig_rc take_earlier(struct job *job, const char *folder, const struct rig_cli_saved_run *saved,
                                struct rig_err *err)
{
    (void)snprintf(job->server, sizeof job->server, "%s", saved->run.server);
    const enum rig_rc rc = rig_cli_earlier_runs_find(folder, saved, &job->earlier, err);
    job->request.earlier = job->earlier;
    job->request.server = job->server;
    return rc;
}

/* The folder of a run, whose anomaly is the one looked for. */
static enum rig_rc take_run(struct job *job, const char *given, struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    struct rig_cli_saved_run saved = {.storage = NULL};
    enum rig_rc rc = rig_cli_find_run(given, folder, err);
    if (rc == RIG_OK)
        rc = rig_cli_saved_run_load(folder, &saved, err);
    if (rc == RIG_OK && job->request.entry == NULL) {
        if (!rig_cli_saved_run_shape(&saved, job->request.anomaly, &job->request.anomaly, &job->shape))
            rc = rig_fail(err, RIG_E_INPUT, "%s: the run has no such anomaly", given);
        job->request.shape = &job->shape;
    }
    if (rc == RIG_OK && saved.found && saved.run.server != NULL)
        rc = take_earlier(job, folder, &saved, err);
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
    rig_cli_print_data(&text);
    rig_buf_done(&text);
}

static enum rig_rc plan_shrink(struct job *job, bool *is_found, struct rig_err *err)
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

/* The command, with arguments that were read. Returns the exit status. */
static int cli_shrink_plan(const struct rig_arguments *args)
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
        const enum rig_rc rc = plan_shrink(job, &is_found, &err);
        rig_cli_stop_signals_end();
        status = rc != RIG_OK ? rig_cli_fail(&err) : is_found ? RIG_EXIT_OK : RIG_EXIT_UNDECIDED;
    }
    rig_plan_free(job->plan);
    rig_cli_earlier_runs_free(job->earlier);
    rig_arena_done(&job->arena);
    if (job->hold >= 0)
        (void)close(job->hold);
    free(job);
    return status;
}

static const struct rig_argument shrink_arguments[] = {
    {.name = "plan",
     .help =
         "find the smallest plan instead, by runs of it: of a PLAN, of the folder of a run, or of a known bug NAME"},
    {.name = "time", .value = "TIME", .help = "with --plan, time for all runs; 10m when not given"},
    {.name = "runs", .value = "N", .help = "with --plan, runs of a candidate at most; 60 when not given"},
    {.name = "seed", .value = "N", .help = "with --plan, seed before that of the first run"},
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "with --plan, set a key of the plan in every run"},
    {.name = "known",
     .value = "NAME",
     .help = "with --plan, count only anomalies of the shape of this known bug (rig list bugs)"},
    RIG_ARGUMENT_WORKLOAD,
    {.name = "level",
     .value = "LEVEL",
     .repeatable = true,
     .help = "isolation level that the part must refute, or a weaker one (rig list levels)"},
    {.name = "anomaly",
     .value = "ANOMALY",
     .repeatable = true,
     .help = "anomaly that the part must have (rig list anomalies)"},
    RIG_ARGUMENT_ASSUME,
    RIG_ARGUMENT_PREFILLED,
    RIG_ARGUMENT_INITIAL,
    RIG_ARGUMENT_LATTICE,
    {.name = "budget",
     .value = "TIME",
     .help = "time for the search; 60s when not given. The smallest part found until then is the result"},
    {.name = "max-witnesses", .value = "N", .help = "witnesses that the search begins with; 8 when not given"},
    RIG_ARGUMENT_MAX_MEMORY,
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "also write the part, as a history, into FILE; with --plan, the folder of the runs"},
    {.name = "to",
     .value = RIG_CLI_FORM_VALUE,
     .choices = rig_cli_form_names,
     .help = "form of FILE; found from its suffix when not given (.rig, .jsonl, .json, .edn)"},
    {.name = "scenario",
     .value = "FILE",
     .help = "also write the part, of lists or registers, as a scenario for `rig scenario` into FILE"},
    {.name = "force", .help = "replace files that exist"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table shrink_table = {
    .command = "shrink",
    .positionals = "HISTORY...|PLAN|NAME",
    .least_positionals = 1,
    .most_positionals = RIG_CLI_PATHS_MOST,
    .description =
        "Takes transactions and operations out of a history with an anomaly until none can go, and shows what is "
        "left:\n"
        "its witness, and its statements in an order that gives these results. A write that goes takes its value out "
        "of\n"
        "the reads, so the part has no anomaly that the whole does not have. Each part is checked like any history.\n"
        "HISTORY is what `rig check` reads: also the folder of a run, whose requests then hold. Without --level and\n"
        "--anomaly it is the anomaly that refutes the weakest level.\n"
        "Objects, counters and banks cannot be shrunk: their values do not name their writers.\n"
        "With --plan it runs a plan again and again, with fewer faults, phases, clients, transactions, operations and "
        "keys,\n"
        "with keys at their defaults, smaller applications, or shorter, and keeps what still shows the anomaly about "
        "as "
        "often\n"
        "as the plan. It writes the smallest plan, and how often that shows the anomaly. Of a known bug (rig list "
        "reproductions)\n"
        "only anomalies of its shape count.\n"
        "Exit status: 0 after a part or plan was found; 2 when the plan does not show the anomaly again; 64 where the "
        "history has no such anomaly.\n",
    .arguments = shrink_arguments,
};

static enum rig_rc write_scenario(const struct rig_arguments *args, const struct rig_smallest_part *part,
                                  const struct rig_interleaving *interleaving, struct rig_err *err)
{
    const char *path = rig_arguments_value(args, "scenario");
    struct rig_buf yaml;
    if (path == NULL)
        return RIG_OK;
    rig_buf_init(&yaml, 0);
    enum rig_rc rc = rig_scenario_text(part, interleaving, &yaml, err);
    if (rc == RIG_OK)
        rc = rig_output_save(&yaml, path, err);
    rig_buf_done(&yaml);
    return rc;
}

static enum rig_rc show(const struct rig_arguments *args, const struct rig_smallest_part *shrunk, struct rig_err *err)
{
    struct rig_interleaving interleaving;
    struct rig_buf text;
    const char *file = rig_arguments_value(args, "output");
    enum rig_rc rc = rig_interleaving_init(&interleaving, shrunk->history, shrunk->verdict, err);
    if (rc == RIG_E_LIMIT && !shrunk->minimal) { /* too large for an order; the rest is shown */
        err->rc = RIG_OK;
        rc = RIG_OK;
    }
    if (rc == RIG_OK)
        rc = write_scenario(args, shrunk, &interleaving, err);
    rig_buf_init(&text, 0);
    if (rc == RIG_OK && rig_arguments_json(args))
        rig_report_shrunk_json(shrunk, &interleaving, file, &text);
    else if (rc == RIG_OK)
        rig_report_shrunk_text(shrunk, &interleaving, file, &text);
    if (rc == RIG_OK && rig_arguments_json(args))
        rig_cli_print_data(&text);
    else if (rc == RIG_OK)
        rig_cli_print(&text);
    rig_buf_done(&text);
    rig_interleaving_done(&interleaving);
    return rc;
}

static void describe(void *context, char *text, unsigned long size)
{
    const struct rig_arguments *args = context;
    const char *out = rig_arguments_value(args, "output");
    if (out == NULL)
        (void)snprintf(text, size, "the search was interrupted");
    else
        (void)snprintf(text, size, "the search was interrupted; %s is as it was", out);
}

static enum rig_rc shrink(const struct rig_arguments *args, const struct rig_cli_paths *paths,
                          const struct rig_load_options *load, struct rig_shrink_options *options,
                          const struct rig_save_options *save, struct rig_err *err)
{
    struct rig_history *history = NULL;
    struct rig_smallest_part shrunk = {0};
    const char *out = rig_arguments_value(args, "output");
    enum rig_rc rc = rig_history_load_ranks((const char *const *)paths->at, paths->count, load, &history, err);
    if (rc == RIG_OK) {
        rig_cli_take_load(history->meta, history->has_all_rows, &options->check);
        rc = rig_cli_check_initial(args, history->workload, err);
    }
    if (rc == RIG_OK) {
        rc = rig_shrink_history(history, options, &shrunk, err);
    }
    if (rc == RIG_OK && out != NULL)
        rc = rig_cli_save_history(shrunk.history, out, save, err);
    if (rc == RIG_OK)
        rc = show(args, &shrunk, err);
    rig_smallest_part_done(&shrunk);
    rig_history_free(history);
    return rc;
}

/* Whether the files can be written; false after a complaint. */
static bool outputs_fit(const struct rig_arguments *args, const struct rig_cli_paths *paths,
                        struct rig_save_options *save)
{
    const char *out = rig_arguments_value(args, "output"), *scenario = rig_arguments_value(args, "scenario");
    for (size_t i = 0; i < paths->count; i++)
        rig_cli_guard_history(paths->at[i]);
    if (out != NULL)
        save->form = rig_cli_output_form(args, "to", &rig_cli_forms, out);
    if (out != NULL && (save->form == RIG_FORM_AUTO || !rig_cli_may_write(args, out)))
        return false;
    return scenario == NULL || rig_cli_may_write(args, scenario);
}

/* Some options are for histories, some for plans. */
static bool options_fit(const struct rig_arguments *args)
{
    static const char *const of_plans[] = {"time", "runs", "seed", "set", "known", NULL},
                             *const of_histories[] = {"workload", "level",         "assume",     "lattice",
                                                      "budget",   "max-witnesses", "max-memory", "to",
                                                      "scenario", "force",         NULL};
    const bool is_plan = rig_arguments_has(args, "plan");
    const char *const *others = is_plan ? of_histories : of_plans;
    for (size_t i = 0; others[i] != NULL; i++) {
        for (size_t given = 0; given < args->given_count; given++) {
            if (strcmp(args->given[given].argument->name, others[i]) != 0)
                continue;
            rig_cli_complain(is_plan ? "shrink --plan: takes no --%s" : "shrink: --%s is for --plan", others[i]);
            return false;
        }
    }
    return true;
}

int rig_cli_shrink(int argc, char **argv)
{
    struct rig_arguments args;
    const int status = rig_arguments_parse(&shrink_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    if (!options_fit(&args))
        return RIG_EXIT_USAGE;
    if (rig_arguments_has(&args, "plan") && args.positional_count > 1) {
        rig_cli_complain("shrink --plan: takes one plan");
        return RIG_EXIT_USAGE;
    }
    if (rig_arguments_has(&args, "plan"))
        return cli_shrink_plan(&args);
    struct rig_shrink_options options = {.budget_ns = 0};
    struct rig_load_options load = {.form = RIG_FORM_AUTO};
    struct rig_save_options save = {.form = RIG_FORM_AUTO};
    struct rig_cli_saved_run saved = {.storage = NULL};
    struct rig_err err = {0};
    static struct rig_cli_paths paths; /* one command a process */
    if (!rig_cli_read_requests(&args, &options.check) || !rig_cli_read_decision(&args, &options.check) ||
        !rig_cli_read_assume(&args, &options.check))
        return RIG_EXIT_USAGE;
    load.limit_bytes = options.check.limit_bytes;
    rig_cli_read_workload(&args, &load);
    enum rig_rc rc = rig_cli_find_histories(args.positionals, args.positional_count, &paths, &err);
    if (rc == RIG_OK)
        rc = rig_cli_saved_run_take(args.positionals[0], &args, &options.check, NULL, &saved, &err);
    if (rc == RIG_OK && !outputs_fit(&args, &paths, &save)) {
        rig_cli_saved_run_done(&saved);
        rig_cli_paths_done(&paths);
        return RIG_EXIT_USAGE;
    }
    options.budget_ns = options.check.budget_ns;
    rig_cli_interruption_begin(describe, &args);
    if (rc == RIG_OK)
        rc = shrink(&args, &paths, &load, &options, &save, &err);
    rig_cli_interruption_end();
    rig_cli_saved_run_done(&saved);
    rig_cli_paths_done(&paths);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
}
