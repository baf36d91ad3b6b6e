/*
 * rig hunt URL|PLAN: looks for bugs by itself, by many short runs of chosen plans (docs/hunt.md).
 */
#include <stdlib.h>

#include "base/option_parse.h"
#include "base/rng.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/cli.h"
#include "cli/hunt_target.h"
#include "cli/hunter.h"
#include "cli/stop_signals.h"
#include "run/ranks/rank_seat.h"

static const struct rig_argument arguments_of_hunt[] = {
    {.name = "for", .value = "TIME", .help = "time of the hunt; 10m when not given"},
    {.name = "runs", .value = "N", .help = "end after this many runs, also those that confirm and explain a find"},
    {.name = "finds", .value = "N", .help = "end after this many new finds"},
    {.name = "load", .value = "TIME", .help = "time of the load of a run; 1500ms when not given"},
    {.name = "level",
     .value = "LEVEL",
     .repeatable = true,
     .help = "isolation level that must hold, instead of what the database promises at the level that --set "
             "database.isolation=... chooses, or of the plan's check.levels (rig list levels)"},
    {.name = "set",
     .value = "A.B=C",
     .repeatable = true,
     .help = "set a key of the plan in all runs; the hunt does not vary it"},
    {.name = "against",
     .value = "VERSION|URL",
     .help = "run each find on this server as well, and say whether it shows there: a version of the servers that the "
             "plan starts, or another server"},
    {.name = "bisect",
     .value = "SERVERS",
     .repeatable = true,
     .help = "after each find, search these servers for the first that shows it: versions of the servers that the plan "
             "starts, with commas between them, or a URL each; the oldest first"},
    {.name = "seed", .value = "N", .help = "seed of the choice of points, and before that of the first run"},
    {.name = "store", .value = "DIR", .help = "folder for the memory and the finds, instead of the plan's `store`"},
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_hunt = {
    .command = "hunt",
    .positionals = "URL|PLAN",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Looks for bugs of a database by itself: many short runs, each with another type of data, level, load and "
        "form\n"
        "of the statements. First the loads of the plans and known bugs that rig has of this database, then values "
        "and\n"
        "pairs of values that were not run yet, then neighbours of runs that showed something new. A run that breaks\n"
        "what the database promises at its level is a find: it is run again with other seeds, its settings are taken\n"
        "away one after the other, and the plan with those it needs is kept with the run and its bundle.\n"
        "URL is what `rig try` takes. A PLAN is hunted at its own level, and its check.levels must hold; rig starts "
        "the\n"
        "plan's servers anew for each run, so that a URL gives more runs in the same time.\n"
        "The memory is kept in the store: the next hunt on this target goes on from it, and on another version of the\n"
        "server it tries the old finds first. Ctrl-C ends the hunt with its table.\n"
        "Exit status: 1 a promise was broken; else 3 no run had a verdict; else 0: no find, which is no proof.\n",
    .arguments = arguments_of_hunt,
};

struct hunting {
    struct rig_arguments args;
    struct rig_hunt_target target;
    struct rig_hunt_request request;
    struct rig_hunt_others against, bisect;
};

/* A hunt is of one process: a find is the folder of a run, with its logs, and ranks have no common folder. */
static int refuse_ranks(uint32_t rank)
{
    if (rank == 0)
        rig_cli_complain(
            "hunt: several ranks cannot share a hunt: its memory and its finds, which are folders of runs, "
            "are files of one machine; start `rig hunt` on each machine by itself, with a --seed of its "
            "own");
    return rank == 0 ? RIG_EXIT_USAGE : RIG_EXIT_OK;
}

/* False after a complaint. */
static bool read_time(const struct rig_arguments *args, const char *name, double least, int64_t *ns)
{
    const struct rig_option duration = {.name = name, .type = RIG_OPTION_DURATION, .least = least, .most = 1e16};
    const char *text = rig_arguments_value(args, name);
    struct rig_err err = {0};
    if (text == NULL || rig_option_parse(&duration, text, ns, &err) == RIG_OK)
        return true;
    rig_cli_complain("hunt: --%s: %s", name, err.text);
    return false;
}

/* False after a complaint. */
static bool read_request(struct hunting *hunting)
{
    const struct rig_arguments *args = &hunting->args;
    struct rig_hunt_request *request = &hunting->request;
    uint64_t finds = 0;
    *request = (struct rig_hunt_request){.target = &hunting->target,
                                         .store = rig_arguments_value(args, "store"),
                                         .time_ns = INT64_C(600000000000),
                                         .run_ns = INT64_C(1500000000),
                                         .seed = rig_rng_fresh_seed() & INT64_MAX,
                                         .is_text = !rig_arguments_json(args),
                                         .is_quiet = rig_arguments_has(args, "quiet")};
    if (!read_time(args, "for", 1e9, &request->time_ns) || !read_time(args, "load", 1e7, &request->run_ns) ||
        !rig_arguments_number(args, "runs", 1, UINT32_MAX, &request->runs_most) ||
        !rig_arguments_number(args, "finds", 1, RIG_HUNT_FINDS_MOST, &finds) ||
        !rig_arguments_number(args, "seed", 0, INT64_MAX, &request->seed))
        return false;
    request->finds_most = (uint32_t)finds;
    return true;
}

static bool has_find(const struct rig_hunt_facts *facts)
{
    bool has = false;
    for (uint32_t i = 0; i < facts->finds->count; i++)
        has |= facts->finds->at[i].sightings > 0;
    return has;
}

static int report(const struct hunting *hunting, const struct rig_hunter *hunter)
{
    const struct rig_hunt_facts facts = rig_cli_hunter_facts(hunter);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (hunting->request.is_text) {
        rig_hunt_report_text(&facts, &text);
        rig_cli_print(&text);
    } else {
        rig_hunt_report_json(&facts, &text);
        rig_cli_print_data(&text);
    }
    rig_buf_done(&text);
    return has_find(&facts) ? RIG_EXIT_ANOMALY : rig_cli_hunter_judged(hunter) > 0 ? RIG_EXIT_OK : RIG_EXIT_FAILED;
}

static int hunt(struct hunting *hunting)
{
    struct rig_hunter *hunter = NULL;
    struct rig_err err = {0};
    int status = RIG_EXIT_OK;
    hunting->request.interrupts = rig_cli_stop_signals_begin();
    enum rig_rc rc = rig_cli_hunter_new(&hunting->request, &hunter, &err);
    if (rc == RIG_OK)
        rc = rig_cli_hunter_hunt(hunter, &err);
    rig_cli_stop_signals_end();
    if (rc != RIG_OK)
        status = rig_cli_fail(&err);
    if (hunter != NULL)
        status = rig_cli_worst(status, report(hunting, hunter));
    rig_cli_hunter_free(hunter);
    return status;
}

int rig_cli_hunt(int argc, char **argv)
{
    struct rig_err err = {0};
    uint32_t rank;
    if (rig_rank_seat_is_direct(&rank))
        return refuse_ranks(rank);
    struct hunting *hunting = calloc(1, sizeof *hunting);
    if (hunting == NULL)
        return RIG_EXIT_FAILED;
    int status = rig_arguments_parse(&table_of_hunt, argc, argv, &hunting->args);
    if (status == RIG_ARGUMENTS_GO_ON && !read_request(hunting)) {
        status = RIG_EXIT_USAGE;
    } else if (status == RIG_ARGUMENTS_GO_ON) {
        enum rig_rc rc = rig_cli_hunt_target(&hunting->args, &hunting->target, &err);
        if (rc == RIG_OK)
            rc = rig_cli_hunt_others(&hunting->args, "against", &hunting->target, &hunting->against, &err);
        if (rc == RIG_OK)
            rc = rig_cli_hunt_others(&hunting->args, "bisect", &hunting->target, &hunting->bisect, &err);
        if (rc == RIG_OK && hunting->against.count > 1)
            rc = rig_fail(&err, RIG_E_USAGE, "--against: expected one server; --bisect takes several");
        if (rc == RIG_OK && hunting->bisect.count == 1)
            rc = rig_fail(&err, RIG_E_USAGE, "--bisect: expected at least two servers, the oldest first");
        hunting->request.against = hunting->against.count > 0 ? &hunting->against.at[0] : NULL;
        hunting->request.bisect = &hunting->bisect;
        status = rc == RIG_OK ? hunt(hunting) : rig_cli_fail(&err);
        rig_cli_hunt_target_done(&hunting->target);
    }
    free(hunting);
    return status;
}
