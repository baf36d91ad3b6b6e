/*
 * rig report DIR: the reports of a finished run, made again from its record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "checker/judge/check_source.h"
#include "checker/judge/minimum.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/known_bugs.h"
#include "cli/outputs.h"
#include "cli/requests.h"
#include "cli/saved_run.h"
#include "report/server_log.h"

enum { PATH_BYTES = 4096 };

static const struct rig_argument report_arguments[] = {
    RIG_ARGUMENT_LEVEL,
    RIG_ARGUMENT_ANOMALY,
    RIG_ARGUMENT_LATTICE,
    RIG_ARGUMENT_BUDGET,
    RIG_ARGUMENT_DURABILITY,
    RIG_ARGUMENT_MINIMUM,
    RIG_ARGUMENT_REQUIRE,
    RIG_ARGUMENT_KNOWN,
    RIG_ARGUMENT_MAX_WITNESSES,
    RIG_ARGUMENT_MAX_MEMORY,
    RIG_ARGUMENT_NO_PROGRESS,
    RIG_ARGUMENT_PROGRESS,
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_BRIEF,
    RIG_ARGUMENT_VERBOSE,
    RIG_ARGUMENT_RESULT_FORMAT,
    {.name = "output",
     .letter = 'o',
     .value = "DIR",
     .help = "write the reports into this folder instead of the run's"},
    {.name = NULL},
};

#define ONLY_CHECK "`rig check` has this option, also for the folder of a run"
static const struct rig_argument_elsewhere elsewhere[] = {
    {"report", ONLY_CHECK},  {"assume", ONLY_CHECK}, {"workload", ONLY_CHECK},
    {"threads", ONLY_CHECK}, {"window", ONLY_CHECK}, {NULL, NULL},
};

static const struct rig_arguments_table report_table = {
    .command = "report",
    .positionals = "DIR",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Checks the record of a finished run again and writes its reports: results.json, report.txt,\n"
        "report.html, junit.xml, one file a witness, and any other form that the folder has already. DIR is\n"
        "the run's folder, or store/NAME for the latest run. The levels that the run was judged by are kept\n"
        "unless --level or --anomaly says otherwise.\n",
    .arguments = report_arguments,
    .elsewhere = elsewhere,
};

/* The last folder of the path, for a run that left no name. Owned by the caller; NULL without memory. */
static char *title_of(const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && folder[start - 1] != '/')
        start--;
    return strndup(folder + start, length - start);
}

static int write_all(const struct rig_arguments *args, const struct rig_cli_paths *paths,
                     const struct rig_verdict *verdict, const struct rig_cli_saved_run *saved, const char *title,
                     struct rig_err *err)
{
    struct rig_server_logs *logs = saved->found ? rig_server_logs_read(args->positionals[0], verdict) : NULL;
    struct rig_report_run there = saved->run;
    there.logs = logs;
    const struct rig_report_run *run = saved->found ? &there : NULL;
    const char *folder = rig_arguments_value(args, "output");
    if (folder == NULL)
        folder = args->positionals[0];
    const struct rig_source_options source = {.load = {.form = RIG_FORM_RIG}};
    struct rig_course *course = rig_cli_course((const char *const *)paths->at, paths->count, &source, verdict, run);
    enum rig_rc rc = rig_cli_print_result(verdict, run, course, args, err);
    if (rc == RIG_OK)
        rc = rig_cli_write_reports(verdict, run, course, title, folder, RIG_CLI_ALL_REPORTS, err);
    rig_course_free(course);
    rig_server_logs_free(logs);
    const int status = rig_cli_verdict_status(verdict);
    return rc != RIG_OK ? rig_cli_worst(status, rig_cli_fail(err)) : status;
}

static int judge(const struct rig_arguments *args, struct rig_check_options *options, const struct rig_minimum *minimum,
                 struct rig_cli_known_bugs *known, const struct rig_cli_saved_run *saved, struct rig_err *err)
{
    static struct rig_cli_paths paths; /* one command a process */
    const struct rig_source_options source = {.load = {.form = RIG_FORM_RIG, .limit_bytes = options->limit_bytes}};
    struct rig_cli_check_progress progress;
    rig_cli_check_progress_init(&progress, rig_cli_progress_look(args));
    const struct rig_stream_options windows = {.check = *options, .watch = rig_cli_check_progress_watch(&progress)};
    struct rig_verdict *verdict = NULL;
    int result;
    char *title = saved->run.name != NULL ? strdup(saved->run.name) : title_of(args->positionals[0]);
    if (title == NULL) {
        (void)rig_no_memory(err, "the reports");
        result = rig_cli_fail(err);
    } else if (rig_cli_find_histories(args->positionals, 1, &paths, err) != RIG_OK ||
               rig_cli_check_run(args->positionals[0], NULL, &source, &windows, &verdict, err) != RIG_OK) {
        rig_cli_check_progress_done(&progress);
        result = rig_cli_fail(err);
    } else {
        const struct rig_cli_judged judged = {(const char *const *)paths.at, paths.count, &source.load, options,
                                              &saved->run};
        rig_cli_check_progress_done(&progress);
        result = rig_cli_known_bugs_compare(known, &judged, verdict, err) == RIG_OK &&
                         rig_verdict_weigh(verdict, minimum, &saved->effort, err) == RIG_OK
                     ? write_all(args, &paths, verdict, saved, title, err)
                     : rig_cli_fail(err);
    }
    free(title);
    rig_cli_paths_done(&paths);
    rig_verdict_free(verdict);
    return result;
}

/* results.json was read whole and is replaced; record and plan are only read. */
static enum rig_rc check_outputs(const struct rig_arguments *args, struct rig_err *err)
{
    static const char *const inputs[] = {RIG_RUN_RECORD, RIG_RUN_PLAN};
    const char *folder = rig_arguments_value(args, "output");
    char path[PATH_BYTES];
    rig_output_own_run(args->positionals[0]);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", args->positionals[0], inputs[i]);
        rig_output_guard(path);
    }
    return rig_cli_check_folder(folder == NULL ? args->positionals[0] : folder, err);
}

int rig_cli_report(int argc, char **argv)
{
    struct rig_arguments args;
    const int status = rig_arguments_parse(&report_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct rig_check_options options = {0};
    struct rig_minimum minimum = RIG_MINIMUM_OF_HISTORY;
    if (!rig_cli_read_requests(&args, &options) || !rig_cli_read_decision(&args, &options) ||
        !rig_cli_read_minimum(&args, &minimum))
        return RIG_EXIT_USAGE;
    struct rig_err err = {0};
    struct rig_cli_saved_run saved;
    int result;
    static char run_folder[RIG_CLI_PATH_BYTES];
    if (rig_cli_find_run(args.positionals[0], run_folder, &err) != RIG_OK)
        return rig_cli_fail(&err);
    args.positionals[0] = run_folder;
    if (rig_cli_saved_run_load(args.positionals[0], &saved, &err) == RIG_OK && check_outputs(&args, &err) == RIG_OK) {
        struct rig_cli_known_bugs known;
        rig_cli_saved_run_ask(&saved, &args, &options, &minimum);
        rig_cli_read_durability(&args, &options);
        result = rig_cli_known_bugs_read(&known, &args, saved.run.plan_yaml)
                     ? judge(&args, &options, &minimum, &known, &saved, &err)
                     : RIG_EXIT_USAGE;
        rig_cli_known_bugs_done(&known);
    } else {
        result = rig_cli_fail(&err);
    }
    rig_cli_saved_run_done(&saved);
    return result;
}
