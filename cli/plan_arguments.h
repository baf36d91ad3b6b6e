/*
 * The options of the commands that load a plan: --set, --on, --seed, --servers, and the requests of `rig check` that a
 * plan has keys for.
 *
 * `--level X --level Y` is short for `--set check.levels=X,Y`, and wins over --set; so do the others for their keys.
 */
#ifndef RIG_CLI_PLAN_ARGUMENTS_H
#define RIG_CLI_PLAN_ARGUMENTS_H

#include <stddef.h>

#include "cli/arguments.h"
#include "cli/requests.h"
#include "drivers/driver.h"
#include "run/plan/plan.h"

/* Rows of a table of arguments. */
#define RIG_ARGUMENT_ON                                                                                                \
    {                                                                                                                  \
        .name = "on", .value = "URL",                                                                                  \
        .help = "use this database in place of the plan's: postgres://USER@HOST:PORT/DB, mysql://, etcd://, "          \
                "http://, odbc:DSN"                                                                                    \
    }
#define RIG_ARGUMENTS_OF_ANY_PLAN                                                                                      \
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "set a key of the plan, overriding the file"},       \
        RIG_ARGUMENT_ON, {.name = "seed", .value = "N", .help = "seed of every random choice"},                        \
    {                                                                                                                  \
        .name = "servers", .value = "DIR",                                                                             \
        .help = "folder of servers by version, for database.cluster.local.version; $RIG_SERVERS by default"            \
    }

/* The same, and the requests that the plan has keys for. */
#define RIG_ARGUMENTS_OF_PLAN                                                                                          \
    RIG_ARGUMENTS_OF_ANY_PLAN,                                                                                         \
        {.name = "level",                                                                                              \
         .value = "LEVEL",                                                                                             \
         .repeatable = true,                                                                                           \
         .help = "isolation level that must hold, instead of the plan's check.levels (rig list levels)"},              \
        {.name = "anomaly",                                                                                            \
         .value = "ANOMALY",                                                                                           \
         .repeatable = true,                                                                                           \
         .help = "anomaly that must not occur, instead of the plan's check.anomalies (rig list anomalies)"},           \
        {.name = "assume",                                                                                             \
         .value = "LIST",                                                                                              \
         .repeatable = true,                                                                                           \
         .help = "order of register versions to assume, instead of the plan's check.assume"},                          \
        {.name = "lattice",                                                                                            \
         .value = "exact|reference",                                                                                   \
         .choices = rig_cli_lattice_choices,                                                                           \
         .help = "how levels are decided, instead of the plan's check.lattice"},                                       \
        {.name = "budget",                                                                                             \
         .value = "TIME",                                                                                              \
         .help = "time for deciding levels where the order of versions is open, instead of the plan's check.budget"},  \
        {.name = "minimum",                                                                                            \
         .value = "KEY=VALUE",                                                                                         \
         .repeatable = true,                                                                                           \
         .help = "minimum of evidence: acknowledged=N, load=SHARE or answering=SHARE, overriding the plan's "          \
                 "check.minimum"},                                                                                     \
        {.name = "require",                                                                                            \
         .value = "not-refuted|held",                                                                                  \
         .choices = rig_cli_require_choices,                                                                           \
         .help = "the condition on each level for exit status 0, instead of the plan's check.require"},                \
        {.name = "known",                                                                                              \
         .value = "NAME",                                                                                              \
         .repeatable = true,                                                                                           \
         .help = "known bug whose anomalies are accepted, instead of the plan's check.known (rig list bugs)"},         \
    {                                                                                                                  \
        .name = "max-witnesses", .value = "N",                                                                         \
        .help = "witnesses kept of each anomaly, instead of the plan's check.max-witnesses"                            \
    }

/* Options of other commands, each with its remedy here; for rig_arguments_table.elsewhere. */
extern const struct rig_argument_elsewhere rig_cli_elsewhere_of_plan[];

/*
 * Loads the plan that the first positional argument names, with the options above, which the command's table must have.
 * Gives the plan to the caller with RIG_EXIT_OK; else complains and returns the exit status.
 */
int rig_cli_load_plan(const struct rig_arguments *arguments, struct rig_plan **plan);
/* The same for the plan at `path`, with RIG_ARGUMENTS_OF_ANY_PLAN. `first`: overrides that those of the arguments win
 * over. */
int rig_cli_load_plan_at(const char *path, const struct rig_text_list *first, const struct rig_arguments *arguments,
                         struct rig_plan **plan);

/*
 * Puts the settings that --on stands for before those of --set, as if they were given so, and hides its password in
 * argv. Right after the parsing; RIG_EXIT_OK, or the exit status after a complaint.
 */
int rig_cli_take_target(struct rig_arguments *arguments);

/*
 * The drivers that this rig can use, as an array.
 */

enum { RIG_CLI_DRIVERS_MAX = 64 };

struct rig_cli_drivers {
    const struct rig_driver *at[RIG_CLI_DRIVERS_MAX + 1]; /* NULL-ended, by name; they stay loaded */
    size_t count;
};

/* Complains of files that look like drivers and cannot be used; they are left out. */
void rig_cli_drivers_init(struct rig_cli_drivers *drivers);
/* The example of the driver guide lies beside the binary in a build folder, and is no part of rig. */
void rig_cli_drivers_leave_out_example(struct rig_cli_drivers *drivers);

#endif
