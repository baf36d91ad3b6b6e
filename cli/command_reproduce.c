/*
 * rig reproduce DIR|HISTORY|NAME: brings a recorded anomaly, or a known bug, back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "base/option_parse.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/cli.h"
#include "cli/command_run.h"
#include "cli/plan_arguments.h"
#include "cli/reproduce_witness.h"
#include "cli/requests.h"
#include "cli/stage.h"
#include "cli/stop_signals.h"
#include "jobs/store/store_folder.h"
#include "nemesis/command.h"
#include "run/plan/reproduction.h"
#include "run/scenario/scenario_report.h"

/*
 * `rig reproduce NAME`: runs the plan of an entry of the library of known bugs until an anomaly of its shape is found.
 */

struct job {
    const struct rig_arguments *arguments;
    struct rig_arena arena;
    struct rig_reproduction entry;
    int64_t start_ns;
    uint32_t plays, runs; /* of the scenario, of the plan */
    bool is_played;       /* the scenario showed it */
    /* The last run: */
    bool is_found, is_interrupted;
    char anomaly[64];
    char server[128];
    const char *version; /* that was taken in place of the entry's; NULL: none */
    char folder[RIG_STORE_PATH_BYTES];
    struct rig_buf witness; /* its text */
};

/* Called with the verdict of each run. */
static void look(void *context, const struct rig_verdict *verdict, const struct rig_report_run *facts)
{
    struct job *job = context;
    const struct rig_witness *witness = rig_known_anomaly_find(&job->entry.expect, verdict);
    job->is_interrupted = facts->interrupted;
    (void)snprintf(job->folder, sizeof job->folder, "%s", facts->folder);
    (void)snprintf(job->server, sizeof job->server, "%s", facts->server);
    job->is_found = witness != NULL;
    if (witness == NULL)
        return;
    (void)snprintf(job->anomaly, sizeof job->anomaly, "%s", rig_anomaly_info(witness->anomaly)->name);
    rig_buf_add_text(&job->witness, witness->text);
}

static bool is_talking(const struct job *job)
{
    return !rig_arguments_has(job->arguments, "quiet") && !rig_arguments_json(job->arguments);
}

static double elapsed_s(const struct job *job)
{
    return (double)(rig_clock_now_ns() - job->start_ns) / (double)RIG_NS_PER_S;
}

/* The plan of one run, with a seed of its own unless one was given. */
static int run_once(struct job *job)
{
    struct rig_plan *plan = NULL;
    char folder[RIG_STORE_PATH_BYTES];
    const char *output = rig_arguments_value(job->arguments, "output");
    int status = rig_cli_load_plan_at(job->entry.plan, &job->entry.set, job->arguments, &plan);
    if (status != RIG_EXIT_OK)
        return status;
    (void)snprintf(folder, sizeof folder, "%s/%" PRIu32, output == NULL ? "" : output, job->runs + 1);
    const struct rig_cli_run_request request = {.plan = plan,
                                                .arguments = job->arguments,
                                                .output = output == NULL ? NULL : folder,
                                                .silent = true,
                                                .judged = look,
                                                .context = job};
    job->is_found = job->is_interrupted = false;
    status = rig_cli_run_plan(&request);
    rig_plan_free(plan);
    job->runs++;
    if (is_talking(job) && !job->is_found && status == RIG_EXIT_ANOMALY)
        rig_cli_say("run %" PRIu32 " found other anomalies only: %s\n", job->runs, job->folder);
    return status;
}

/* -- by the entry's scenario
 * ---------------------------------------------------------------------------------------- */

struct played {
    struct job *job;
    const struct rig_scenario *scenario;
    struct rig_cli_stage stage;
};

static void keep(void *context, uint32_t scenario, bool is_whole, struct rig_performance *performance)
{
    const struct played *played = context;
    struct job *job = played->job;
    const struct rig_scenario_cell cell = {.scenario = played->scenario,
                                           .performance = performance,
                                           .server = played->stage.server,
                                           .shown = 1,
                                           .played = 1};
    (void)scenario;
    job->plays++;
    if (is_whole && performance->shows && !job->is_found) {
        job->is_found = job->is_played = true;
        (void)snprintf(job->anomaly, sizeof job->anomaly, "%s", played->scenario->anomaly);
        rig_scenario_write_text(&cell, &job->witness);
    }
    rig_cli_stage_free_performance(performance);
}

/* So the plan is the second way. */
static void tell_no_play(const struct job *job, const char *why)
{
    if (!is_talking(job))
        return;
    if (why == NULL)
        rig_cli_say("the play of its scenario does not show it; the plan runs\n");
    else
        rig_cli_say("its scenario cannot be played, so the plan runs: %s\n", why);
    (void)fflush(stdout);
}

/* RIG_EXIT_UNDECIDED where the plan may still show it. */
static int play_scenario(struct job *job)
{
    struct rig_plan *plan = NULL;
    struct rig_scenario *scenario = NULL;
    struct rig_err err = {0};
    int status = rig_cli_load_plan_at(job->entry.plan, &job->entry.set, job->arguments, &plan);
    if (status != RIG_EXIT_OK)
        return status;
    enum rig_rc rc = rig_scenario_load(job->entry.scenario, &scenario, &err);
    if (rc == RIG_OK) {
        struct played played = {.job = job,
                                .scenario = scenario,
                                .stage = {.scenarios = &scenario,
                                          .scenario_count = 1,
                                          .repeat = 1, /* its order of steps decides it */
                                          .sends_texts = scenario->needs_texts,
                                          .interrupts = rig_cli_stop_signals_begin(),
                                          .keep = keep,
                                          .context = &played}};
        rc = rig_cli_stage_play(&played.stage, plan, &err);
        rig_cli_stop_signals_end();
        (void)snprintf(job->server, sizeof job->server, "%s", played.stage.server);
    }
    job->is_interrupted = rc == RIG_E_INTERRUPTED;
    const bool is_unplayable = rc == RIG_E_PLAN && scenario != NULL;
    status = rc == RIG_OK || job->is_interrupted || is_unplayable ? RIG_EXIT_UNDECIDED : rig_cli_fail(&err);
    if (status == RIG_EXIT_UNDECIDED && !job->is_found && !job->is_interrupted)
        tell_no_play(job, is_unplayable ? err.text : NULL);
    rig_scenario_free(scenario);
    rig_plan_free(plan);
    return job->is_found ? RIG_EXIT_OK : status;
}

/* -- until it is found
 * ----------------------------------------------------------------------------------------------- */

static bool has_time(const struct job *job)
{
    return rig_clock_now_ns() - job->start_ns < job->entry.within_ns;
}

/*
 * Plays the scenario where there is one, then runs the plan until the anomaly is found or nothing more may be tried.
 * Returns the exit status of the command.
 */
static int try_until_found(struct job *job, uint64_t runs_most)
{
    int status = RIG_EXIT_UNDECIDED;
    if (job->entry.scenario != NULL)
        status = play_scenario(job);
    if (job->is_found || status != RIG_EXIT_UNDECIDED || job->is_interrupted ||
        (job->entry.scenario != NULL && !has_time(job)))
        return status;
    do {
        status = run_once(job);
        if (job->is_found)
            return RIG_EXIT_OK;
        if (status != RIG_EXIT_OK && status != RIG_EXIT_ANOMALY && status != RIG_EXIT_UNDECIDED)
            return status;
        if (job->is_interrupted)
            return RIG_EXIT_UNDECIDED;
    } while (job->runs < runs_most && has_time(job));
    return RIG_EXIT_UNDECIDED;
}

static void print_json(const struct job *job, double seconds)
{
    struct rig_json_writer writer;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_json_init_indented(&writer, &out, 2, 1);
    rig_json_begin_object(&writer, NULL);
    rig_json_members(&writer, "reproduction: %s, reproduced: %b, seconds: %f", job->entry.name, job->is_found, seconds);
    if (job->entry.scenario != NULL)
        rig_json_int(&writer, "plays", job->plays);
    if (job->version != NULL)
        rig_json_string(&writer, "version", job->version);
    rig_json_members(&writer, "runs: %d, interrupted: %b, server: %s", job->runs, job->is_interrupted, job->server);
    if (job->runs > 0)
        rig_json_string(&writer, "folder", job->folder);
    if (job->is_found)
        rig_json_members(&writer, "anomaly: %s, witness: %s", job->anomaly, rig_buf_text(&job->witness));
    rig_json_end(&writer);
    rig_buf_add_char(&out, '\n');
    rig_cli_print_data(&out);
    rig_buf_done(&out);
}

static void print_result(const struct job *job)
{
    const double seconds = elapsed_s(job);
    if (rig_arguments_json(job->arguments)) {
        print_json(job, seconds);
        return;
    }
    if (job->is_played && is_talking(job))
        rig_cli_say("\n%s\n", rig_buf_text(&job->witness));
    else if (job->is_found && is_talking(job))
        rig_cli_say("\n%s\n%s, folder %s\n", rig_buf_text(&job->witness), job->server, job->folder);
    rig_cli_say("%s: %sreproduced in %.1f s%s\n", job->entry.name, job->is_found ? "" : "not ", seconds,
                job->is_interrupted && !job->is_found ? " (interrupted)" : "");
}

/* A command of the entry, before or after the runs. */
static int carry_out(const struct rig_text_list *arguments)
{
    struct rig_command_answer answer;
    struct rig_err err = {0};
    const struct rig_command command = {.arguments = *arguments, .timeout_ns = 180 * RIG_NS_PER_S};
    if (arguments->count == 0 || rig_command_succeed(&command, &answer, &err) == RIG_OK)
        return RIG_EXIT_OK;
    return rig_cli_fail(&err);
}

/* -- the version
 * ----------------------------------------------------------------------------------------------- */

#define VERSION_KEY "database.cluster.local.version="

static const char *version_in(const char *setting)
{
    return strncmp(setting, VERSION_KEY, strlen(VERSION_KEY)) == 0 ? setting + strlen(VERSION_KEY) : NULL;
}

static bool is_version_given(const struct job *job)
{
    const char *setting;
    for (size_t i = 0; (setting = rig_arguments_value_at(job->arguments, "set", i)) != NULL; i++) {
        if (version_in(setting) != NULL || strncmp(setting, "database.cluster.hosts=", 23) == 0)
            return true;
    }
    return false;
}

static bool add_setting(struct job *job, const char *version)
{
    struct rig_text_list *set = &job->entry.set;
    const char **at = rig_arena_array(&job->arena, set->count + 1, sizeof *at);
    const size_t size = strlen(VERSION_KEY) + strlen(version) + 1;
    char *text = rig_arena_array(&job->arena, size, 1);
    if (at == NULL || text == NULL)
        return false;
    (void)snprintf(text, size, VERSION_KEY "%s", version);
    for (size_t i = 0; i < set->count; i++)
        at[i] = set->at[i];
    at[set->count] = text;
    *set = (struct rig_text_list){.at = at, .count = set->count + 1};
    return true;
}

/* The version that the entry names where it is installed; else the newest installed one that has the bug as well. */
static bool take_installed(struct job *job, const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    const struct rig_text_list *versions = &job->entry.versions;
    if (cluster == NULL || cluster->has_version == NULL || !cluster->wanted(plan->driver_options) ||
        is_version_given(job) || cluster->has_version(plan->driver_options, NULL))
        return true;
    for (size_t i = versions->count; i-- > 0;) {
        if (!cluster->has_version(plan->driver_options, versions->at[i]))
            continue;
        job->version = versions->at[i];
        return add_setting(job, job->version);
    }
    return true; /* the run says what is missing */
}

/* Before a cluster is started for it: the plan, with what the arguments say of it, can be read. */
static int check_plan(struct job *job)
{
    struct rig_plan *plan = NULL;
    int status = rig_cli_load_plan_at(job->entry.plan, &job->entry.set, job->arguments, &plan);
    if (status == RIG_EXIT_OK && !take_installed(job, plan))
        status = RIG_EXIT_FAILED;
    rig_plan_free(plan);
    return status;
}

static int reproduce(struct job *job, uint64_t runs_most)
{
    const char *output = rig_arguments_value(job->arguments, "output");
    char folder[RIG_STORE_PATH_BYTES];
    struct rig_err err = {0};
    int status = check_plan(job);
    if (status != RIG_EXIT_OK)
        return status;
    if (output != NULL && rig_store_take(output, folder, NULL, &err) != RIG_OK)
        return rig_cli_fail(&err);
    if (is_talking(job)) {
        rig_cli_say("%s: %s at %s: %s\n", job->entry.name, job->entry.database, job->entry.level, job->entry.shows);
        if (job->version != NULL)
            rig_cli_say("the entry's version is not installed; version %s is, and has the bug as well\n", job->version);
        (void)fflush(stdout);
    }
    status = carry_out(&job->entry.start);
    if (status != RIG_EXIT_OK)
        return status; /* `stop` could end a cluster that `start` found there */
    job->start_ns = rig_clock_now_ns();
    status = try_until_found(job, runs_most);
    if (job->is_found || status == RIG_EXIT_UNDECIDED)
        print_result(job);
    const int stopped = carry_out(&job->entry.stop);
    return status == RIG_EXIT_OK ? stopped : status;
}

/* Options of the other form of the command. */
static bool options_fit(const struct rig_arguments *arguments)
{
    static const char *const others[] = {"plan",   "patience", "workload", "level",         "anomaly",   "shrink",
                                         "assume", "lattice",  "budget",   "max-witnesses", "max-memory"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (rig_arguments_value_at(arguments, others[i], 0) == NULL)
            continue;
        rig_cli_complain("--%s: has no meaning for a known bug, whose entry says it; give --set for keys of its plan",
                         others[i]);
        return false;
    }
    return true;
}

/* Takes the library's entry, and what the arguments say in its place. */
static enum rig_rc take_entry(struct job *job, struct rig_err *err)
{
    static const struct rig_option time = {.name = "--time", .type = RIG_OPTION_DURATION, .least = 1, .most = 1e15};
    const char *text = rig_arguments_value(job->arguments, "time");
    enum rig_rc rc = rig_reproduction_load(job->arguments->positionals[0], &job->arena, &job->entry, err);
    if (rc == RIG_OK && text != NULL) {
        struct rig_err own = {0};
        if (rig_option_parse(&time, text, &job->entry.within_ns, &own) != RIG_OK)
            rc = rig_fail(err, RIG_E_USAGE, "--time: %s", own.text);
    }
    return rc;
}

/*
 * The exit status: RIG_EXIT_OK when it was reproduced, RIG_EXIT_UNDECIDED when it was not, also after an interruption,
 * RIG_EXIT_FAILED when a run failed, RIG_EXIT_USAGE when there is no such entry. The table of `arguments` is that of
 * `rig reproduce` (command_reproduce.c).
 */
static int cli_reproduce_known(const struct rig_arguments *arguments)
{
    struct rig_err err = {0};
    uint64_t runs_most = UINT32_MAX;
    if (!options_fit(arguments) || !rig_arguments_number(arguments, "times", 1, UINT32_MAX, &runs_most))
        return RIG_EXIT_USAGE;
    struct job job = {.arguments = arguments};
    rig_arena_init(&job.arena, 0);
    rig_buf_init(&job.witness, 0);
    const enum rig_rc rc = take_entry(&job, &err);
    const int status = rc == RIG_OK ? reproduce(&job, runs_most) : rig_cli_fail(&err);
    rig_buf_done(&job.witness);
    rig_arena_done(&job.arena);
    return status;
}

static const struct rig_argument reproduce_arguments[] = {
    RIG_ARGUMENTS_OF_ANY_PLAN,
    {.name = "plan", .value = "PLAN.yaml", .help = "plan of the database; that of the run when not given"},
    {.name = "times",
     .value = "N",
     .help = "play the scenario, or run the plan, N times; 10 when not given, of a NAME as the time allows"},
    {.name = "time",
     .value = "TIME",
     .help = "time for runs of the plan; 5m when not given, of a NAME that of its entry"},
    {.name = "shrink",
     .value = "TIME",
     .help = "time for finding the smallest plan, where only runs of the plan bring the anomaly back; 2m when not "
             "given, 0s: none"},
    {.name = "patience",
     .value = "MS",
     .help = "milliseconds after which a statement that has not returned counts as waiting; 250 when not given"},
    {.name = "output",
     .letter = 'o',
     .value = "DIR",
     .help = "keep scenario, scripts and runs in this folder, new or empty, instead of store/<name>-reproduce/<time>"},
    RIG_ARGUMENT_WORKLOAD,
    {.name = "level",
     .value = "LEVEL",
     .repeatable = true,
     .help = "isolation level that the anomaly must refute, or a weaker one (rig list levels)"},
    {.name = "anomaly", .value = "ANOMALY", .repeatable = true, .help = "the anomaly (rig list anomalies)"},
    RIG_ARGUMENT_ASSUME,
    RIG_ARGUMENT_PREFILLED,
    RIG_ARGUMENT_INITIAL,
    RIG_ARGUMENT_LATTICE,
    {.name = "budget",
     .value = "TIME",
     .help = "time for finding the smallest part of the history; 60s when not given"},
    {.name = "max-witnesses", .value = "N", .help = "witnesses that this search begins with; 32 when not given"},
    RIG_ARGUMENT_MAX_MEMORY,
    RIG_ARGUMENT_NO_PROGRESS,
    RIG_ARGUMENT_PROGRESS,
    {.name = "quiet", .letter = 'q', .help = "of a NAME, print only the last line; no progress"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table reproduce_table = {
    .command = "reproduce",
    .positionals = "DIR|HISTORY|NAME",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Brings the anomaly of a run back. rig finds the smallest part of its history that has the anomaly\n"
        "(rig shrink), writes it as a scenario, or for an HTTP database as requests, and as scripts that need no rig, "
        "and "
        "plays it on the plan's database.\n"
        "Where the order of the statements is not enough, it runs the plan again, and then finds the smallest plan "
        "that\n"
        "still shows the anomaly (rig shrink --plan). It says how often the anomaly came back, with an interval of\n"
        "95 % confidence. A HISTORY alone needs --plan.\n"
        "NAME is a known bug (rig list bugs), or the path of an entry (NAME.yaml): rig runs the plan of the "
        "entry\n"
        "on the version that has the bug, each run with another seed, until an anomaly of the expected shape is found "
        "or\n"
        "the time is over. Other anomalies do not count. An entry with a scenario is played on that version first; its "
        "plan\n"
        "runs where the play does not show the anomaly. --set database.cluster.local.version=V tries another version.\n"
        "A history with the name of an entry is ./NAME.\n"
        "Exit status: 0 when the anomaly came back, 2 when it did not, 3 when the database could not be used,\n"
        "64 where the history has no such anomaly.\n",
    .arguments = reproduce_arguments,
};

/* Paths of histories have a `/`, or lead to something. */
static bool is_known_bug(const char *given)
{
    static const char suffix[] = ".yaml";
    const size_t length = strlen(given), tail = sizeof suffix - 1;
    if (length > tail && strcmp(given + length - tail, suffix) == 0)
        return true;
    return strchr(given, '/') == NULL && (rig_reproduction_exists(given) || access(given, F_OK) != 0);
}

int rig_cli_reproduce(int argc, char **argv)
{
    static struct rig_arguments args;
    int status = rig_arguments_parse(&reproduce_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON || (status = rig_cli_take_target(&args)) != RIG_EXIT_OK)
        return status;
    return is_known_bug(args.positionals[0]) ? cli_reproduce_known(&args) : rig_cli_reproduce_witness(&args);
}
