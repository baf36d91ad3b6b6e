/*
 * rig reproduce DIR|HISTORY|NAME: brings a recorded anomaly, or a known bug, back.
 */
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/cli.h"
#include "cli/plan_arguments.h"
#include "cli/reproduce_known.h"
#include "cli/reproduce_witness.h"
#include "cli/requests.h"
#include "run/plan/reproduction.h"

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
    RIG_ARGUMENT_LATTICE,
    {.name = "budget",
     .value = "TIME",
     .help = "time for finding the smallest part of the history; 60s when not given"},
    {.name = "max-witnesses", .value = "N", .help = "witnesses that this search begins with; 8 when not given"},
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
        "NAME is a known bug (rig list reproductions), or the path of an entry (NAME.yaml): rig runs the plan of the "
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
    const int status = rig_arguments_parse(&reproduce_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    return is_known_bug(args.positionals[0]) ? rig_cli_reproduce_known(&args) : rig_cli_reproduce_witness(&args);
}
