/*
 * rig reproduce DIR|HISTORY: brings a recorded anomaly back.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/reproduce_witness.h"
#include "cli/requests.h"

static const struct rig_argument reproduce_arguments[] = {
    {.name = "plan", .value = "PLAN.yaml", .help = "plan of the database; that of the run when not given"},
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "set a key of the plan, overriding the file"},
    {.name = "times", .value = "N", .help = "play the scenario, or run the plan, N times; 10 when not given"},
    {.name = "time", .value = "TIME", .help = "time for runs of the plan; 5m when not given"},
    {.name = "patience",
     .value = "MS",
     .help = "milliseconds after which a statement that has not returned counts as waiting; 250 when not given"},
    {.name = "seed", .value = "N", .help = "seed of the runs of the plan: run i has N + i; the plan's when not given"},
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
    RIG_ARGUMENT_LATTICE,
    {.name = "budget",
     .value = "TIME",
     .help = "time for finding the smallest part of the history; 60s when not given"},
    {.name = "max-witnesses", .value = "N", .help = "witnesses that this search begins with; 8 when not given"},
    RIG_ARGUMENT_MAX_MEMORY,
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table reproduce_table = {
    .command = "reproduce",
    .positionals = "DIR|HISTORY",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Brings the anomaly of a run back. rig finds the smallest part of its history that has the anomaly\n"
        "(rig shrink), writes it as a scenario and as scripts that need no rig, and plays it on the plan's database.\n"
        "Where the order of the statements is not enough, it runs the plan again. It says how often the anomaly came\n"
        "back, with an interval of 95 % confidence. A HISTORY alone needs --plan.\n"
        "Exit status: 0 when the anomaly came back, 2 when it did not, 3 when the database could not be used,\n"
        "64 where the history has no such anomaly.\n",
    .arguments = reproduce_arguments,
};

int rig_cli_reproduce(int argc, char **argv)
{
    struct rig_arguments args;
    const int status = rig_arguments_parse(&reproduce_table, argc, argv, &args);
    return status == RIG_ARGUMENTS_GO_ON ? rig_cli_reproduce_witness(&args) : status;
}
