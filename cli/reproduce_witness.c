#include "cli/reproduce_witness.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "base/option_parse.h"
#include "base/plural.h"
#include "base/run_files.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/plan_shrinker.h"
#include "cli/reproduce_files.h"
#include "cli/requests.h"
#include "cli/rerun.h"
#include "cli/saved_run.h"
#include "cli/stage.h"
#include "cli/stop_signals.h"
#include "history/source/load.h"
#include "jobs/shrink/shrink_history.h"
#include "jobs/store/store_folder.h"
#include "report/shrunk_report.h"
#include "report/words.h"
#include "run/scenario/scenario_report.h"

enum { TIMES = 10, PATH_BYTES = RIG_CLI_PATH_BYTES + 64, SETTINGS_MOST = RIG_ARGUMENTS_MAX };

static const int64_t time_ns = INT64_C(300) * RIG_NS_PER_S;   /* of runs of the plan */
static const int64_t shrink_ns = INT64_C(120) * RIG_NS_PER_S; /* of the search for the smallest plan */

struct reproduction {
    const struct rig_arguments *args;
    uint64_t times, patience_ms;
    int64_t time_ns, shrink_ns;
    char plan_path[RIG_CLI_PATH_BYTES];
    struct rig_plan *plan;
    struct rig_smallest_part part;
    struct rig_interleaving interleaving;
    struct rig_scenario *scenario; /* NULL: none, because of `unplayed` */
    bool has_requests;             /* there is a script of requests in its place */
    char unplayed[RIG_ERR_TEXT_BYTES];
    char folder[RIG_STORE_PATH_BYTES];
    int hold; /* on the folder's mark; -1 */
    char server[RIG_STAGE_SERVER_BYTES];
    struct rig_performance *performance; /* that shows the anomaly, or the last one */
    uint32_t plays, shown;
    struct rig_rerun_tally tally;
    const atomic_int *interrupts;
    /* The search for the smallest plan: */
    enum rig_anomaly shown_anomaly; /* of the runs of the plan that show it */
    struct rig_known_anomaly shape; /* of the runs of the plan */
    struct rig_plan_settings given;
    char smallest_folder[PATH_BYTES];
    struct rig_earlier_runs *earlier;
    char run_name[RIG_CLI_RUN_NAME_BYTES]; /* "": it is the history of no run */
    char run_server[256];                  /* of the first run of the plan that was judged */
    struct rig_plan_shrinking shrinking;
    struct rig_plan_shrinker *shrinker;
    bool is_shrunk;
};

static bool is_text(const struct reproduction *reproduction)
{
    return !rig_arguments_json(reproduction->args);
}

static void print(struct rig_buf *text)
{
    rig_cli_print(text);
    (void)fflush(stdout);
    rig_buf_clear(text);
}

/* ---- the plan ---- */

/* The plan given, else that of the run. */
static enum rig_rc find_plan(struct reproduction *reproduction, struct rig_err *err)
{
    const char *given = rig_arguments_value(reproduction->args, "plan"), *history = reproduction->args->positionals[0];
    char folder[RIG_CLI_PATH_BYTES];
    int length;
    if (given != NULL)
        length = snprintf(reproduction->plan_path, sizeof reproduction->plan_path, "%s", given);
    else if (rig_cli_find_run(history, folder, NULL) == RIG_OK)
        length = snprintf(reproduction->plan_path, sizeof reproduction->plan_path, "%s/" RIG_RUN_PLAN, folder);
    else
        return rig_fail(err, RIG_E_USAGE, "%s: is not the folder of a run; name its database by --plan PLAN.yaml",
                        history);
    if (length < 0 || (size_t)length >= sizeof reproduction->plan_path)
        return rig_fail(err, RIG_E_USAGE, "%s: the path is too long", given == NULL ? history : given);
    return RIG_OK;
}

/* With as many clients as the scenario has sessions, or as the plan says. */
static enum rig_rc load_plan(const struct reproduction *reproduction, uint32_t clients, struct rig_plan **plan,
                             struct rig_err *err)
{
    struct rig_plan_override overrides[SETTINGS_MOST + 1];
    char count[64];
    size_t override_count = 0;
    const char *text;
    while ((text = rig_arguments_value_at(reproduction->args, "set", override_count)) != NULL)
        overrides[override_count++].text = text;
    (void)snprintf(count, sizeof count, "clients.count=%u", (unsigned)clients);
    if (clients > 0)
        overrides[override_count++].text = count;
    return rig_plan_load(reproduction->plan_path, overrides, override_count, NULL, plan, err);
}

/* ---- files ---- */

static enum rig_rc make_folder(struct reproduction *reproduction, struct rig_err *err)
{
    const char *given = rig_arguments_value(reproduction->args, "output");
    char name[256];
    (void)snprintf(name, sizeof name, "%.200s-reproduce", reproduction->plan->name);
    return given != NULL
               ? rig_store_take(given, reproduction->folder, &reproduction->hold, err)
               : rig_store_make(reproduction->plan->store, name, reproduction->folder, &reproduction->hold, err);
}

static enum rig_rc save(const struct reproduction *reproduction, const char *name, const struct rig_buf *text,
                        struct rig_err *err)
{
    return rig_cli_reproduce_save(reproduction->folder, name, false, text, err);
}

static enum rig_rc save_files(struct reproduction *reproduction, struct rig_err *err)
{
    if (reproduction->part.history == NULL) {
        if (is_text(reproduction))
            (void)printf("%s\n", rig_anomaly_info(reproduction->part.anomaly)->name);
        return RIG_OK;
    }
    struct rig_cli_reproduce_files files = {.folder = reproduction->folder,
                                            .plan = reproduction->plan,
                                            .part = &reproduction->part,
                                            .interleaving = &reproduction->interleaving};
    if (is_text(reproduction)) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_report_shrunk_text(&reproduction->part, &reproduction->interleaving, NULL, &text);
        print(&text);
        rig_buf_done(&text);
    }
    const enum rig_rc rc = rig_cli_reproduce_write(&files, err);
    reproduction->scenario = files.scenario;
    reproduction->has_requests = files.has_requests;
    memcpy(reproduction->unplayed, files.unplayed, sizeof reproduction->unplayed);
    return rc;
}

/* ---- by the order of the statements ---- */

static void keep_performance(void *context, uint32_t scenario, bool is_whole, struct rig_performance *played)
{
    struct reproduction *reproduction = context;
    (void)scenario;
    if (is_whole) {
        reproduction->plays++;
        reproduction->shown += played->shows;
    }
    if (!is_whole || (reproduction->performance != NULL && reproduction->performance->shows)) {
        rig_cli_stage_free_performance(played);
        return;
    }
    rig_cli_stage_free_performance(reproduction->performance);
    reproduction->performance = played;
}

static enum rig_rc play(struct reproduction *reproduction, struct rig_err *err)
{
    struct rig_plan *plan = NULL;
    struct rig_cli_stage stage = {.scenarios = &reproduction->scenario,
                                  .scenario_count = 1,
                                  .repeat = (uint32_t)reproduction->times,
                                  .patience_ms = (uint32_t)reproduction->patience_ms,
                                  .interrupts = reproduction->interrupts,
                                  .keep = keep_performance,
                                  .context = reproduction};
    enum rig_rc rc = load_plan(reproduction, reproduction->scenario->session_count, &plan, err);
    if (rc == RIG_OK)
        rc = rig_cli_stage_play(&stage, plan, err);
    rig_plan_free(plan);
    memcpy(reproduction->server, stage.server, sizeof reproduction->server);
    return rc;
}

/* A script that cannot be played is none: the plan runs again. */
static enum rig_rc play_requests(struct reproduction *reproduction, struct rig_err *err)
{
    char script[PATH_BYTES];
    (void)snprintf(script, sizeof script, "%s/" RIG_RUN_SCRIPT_HTTP, reproduction->folder);
    struct rig_cli_request_plays plays = {
        .script = script, .repeat = (uint32_t)reproduction->times, .interrupts = reproduction->interrupts};
    const enum rig_rc rc = rig_cli_requests_play(&plays, reproduction->plan, err);
    reproduction->plays = plays.plays;
    reproduction->shown = plays.shown;
    memcpy(reproduction->server, plays.server, sizeof reproduction->server);
    memcpy(reproduction->unplayed, plays.unplayed, sizeof reproduction->unplayed);
    return rc;
}

static void tell_plays(const struct reproduction *reproduction)
{
    struct rig_buf text;
    const struct rig_scenario_cell cell = {.scenario = reproduction->scenario,
                                           .performance = reproduction->performance,
                                           .server = reproduction->server,
                                           .shown = reproduction->shown,
                                           .played = reproduction->plays};
    rig_buf_init(&text, 0);
    rig_buf_add_char(&text, '\n');
    if (reproduction->performance != NULL)
        rig_scenario_write_text(&cell, &text);
    rig_buf_printf(&text, "\nBy the order of its %s, the anomaly came back in ",
                   reproduction->has_requests ? "requests" : "statements");
    rig_cli_write_share(reproduction->shown, reproduction->plays, "play", &text);
    rig_buf_add_text(&text, ".\n");
    print(&text);
    rig_buf_done(&text);
}

/* ---- by runs of the plan ---- */

/* The levels that every run which shows the anomaly keeps: a smaller plan keeps them, too. */
static void take_shape(struct reproduction *reproduction, const char *folder)
{
    struct rig_cli_saved_run saved;
    struct rig_known_anomaly shape;
    const bool is_first = reproduction->shape.anomalies == 0;
    if (rig_cli_saved_run_load(folder, &saved, NULL) == RIG_OK &&
        rig_cli_saved_run_shape(&saved, reproduction->part.anomaly, &reproduction->shown_anomaly, &shape)) {
        shape.keeps &= is_first ? shape.keeps : reproduction->shape.keeps;
        reproduction->shape = shape;
    }
    rig_cli_saved_run_done(&saved);
}

/* The server of the runs. Those made before count only on this one. */
static void take_server(struct reproduction *reproduction, const char *folder)
{
    struct rig_cli_saved_run saved;
    if (reproduction->run_server[0] != '\0')
        return;
    if (rig_cli_saved_run_load(folder, &saved, NULL) == RIG_OK && saved.found && saved.run.server != NULL)
        (void)snprintf(reproduction->run_server, sizeof reproduction->run_server, "%s", saved.run.server);
    rig_cli_saved_run_done(&saved);
}

static enum rig_rc run_plan(struct reproduction *reproduction, struct rig_err *err)
{
    char runs[PATH_BYTES];
    const char *settings[SETTINGS_MOST];
    uint32_t setting_count = 0;
    uint64_t seed = reproduction->plan->seed;
    (void)rig_arguments_number(reproduction->args, "seed", 0, INT64_MAX, &seed);
    while ((settings[setting_count] = rig_arguments_value_at(reproduction->args, "set", setting_count)) != NULL)
        setting_count++;
    (void)snprintf(runs, sizeof runs, "%s/" RIG_RUN_RUNS, reproduction->folder);
    if (mkdir(runs, 0700) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", runs, strerror(errno));
    struct rig_rerun rerun = {.plan = reproduction->plan_path,
                              .anomaly = reproduction->part.anomaly,
                              .folder = runs,
                              .interrupts = reproduction->interrupts,
                              .until_ns = rig_clock_now_ns() + reproduction->time_ns,
                              .seed = seed};
    enum rig_rc rc = RIG_OK;
    struct rig_rerun_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        return rig_no_memory(err, "a run");
    for (uint64_t i = 0; i < reproduction->times && rig_clock_now_ns() < rerun.until_ns && rc == RIG_OK; i++) {
        rc = rig_cli_rerun(&rerun, settings, setting_count, result, err);
        if (rc != RIG_OK)
            break;
        rig_cli_rerun_count(&reproduction->tally, result);
        if (result->is_judged)
            take_server(reproduction, result->folder);
        if (result->shows)
            take_shape(reproduction, result->folder);
        if (is_text(reproduction))
            rig_cli_tell_rerun(&rerun, result);
        if (result->status == RIG_EXIT_USAGE)
            rc = rig_fail(err, RIG_E_PLAN, "%s", result->why);
    }
    free(result);
    rig_cli_rerun_done(&rerun);
    return rc;
}

static void tell_runs(const struct reproduction *reproduction)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, "By runs of the plan, the anomaly came back in ");
    rig_cli_write_share(reproduction->tally.showing, reproduction->tally.runs, "run", &text);
    rig_buf_add_text(&text, ": ");
    rig_cli_write_rate(&reproduction->tally, &text);
    rig_buf_add_text(&text, ".\n");
    print(&text);
    rig_buf_done(&text);
}

static void tell_search(const struct reproduction *reproduction)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, "\nThe smallest plan that still shows it, within ");
    rig_words_duration(&text, reproduction->shrink_ns);
    rig_buf_add_text(&text, ":\n");
    print(&text);
    rig_buf_done(&text);
}

/* As `rig shrink --plan`. The result stays as it is where the search fails. */
static enum rig_rc find_smallest_plan(struct reproduction *reproduction, struct rig_err *err)
{
    const char *setting;
    while ((setting = rig_arguments_value_at(reproduction->args, "set", reproduction->given.count)) != NULL)
        reproduction->given.at[reproduction->given.count++] = setting;
    (void)snprintf(reproduction->smallest_folder, sizeof reproduction->smallest_folder, "%s/" RIG_RUN_SMALLEST,
                   reproduction->folder);
    if (mkdir(reproduction->smallest_folder, 0700) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", reproduction->smallest_folder,
                        strerror(errno));
    if (is_text(reproduction))
        tell_search(reproduction);
    reproduction->shrinking = (struct rig_plan_shrinking){.path = reproduction->plan_path,
                                                          .plan = reproduction->plan,
                                                          .given = &reproduction->given,
                                                          .folder = reproduction->smallest_folder,
                                                          .anomaly = reproduction->shown_anomaly,
                                                          .shape = &reproduction->shape,
                                                          .seed = reproduction->plan->seed,
                                                          .runs_most = RIG_PLAN_SHRINKER_RUNS,
                                                          .time_ns = reproduction->shrink_ns,
                                                          .interrupts = reproduction->interrupts,
                                                          .is_text = is_text(reproduction)};
    if (reproduction->earlier != NULL && reproduction->run_server[0] != '\0') {
        char runs[PATH_BYTES];
        (void)snprintf(runs, sizeof runs, "%s/" RIG_RUN_RUNS, reproduction->folder);
        const enum rig_rc added = rig_cli_earlier_runs_add(reproduction->earlier, runs, err);
        if (added != RIG_OK)
            return added;
        reproduction->shrinking.earlier = reproduction->earlier;
        reproduction->shrinking.server = reproduction->run_server;
    }
    (void)rig_arguments_number(reproduction->args, "seed", 0, INT64_MAX, &reproduction->shrinking.seed);
    reproduction->shrinking.seed += reproduction->tally.runs + reproduction->tally.failed;
    enum rig_rc rc = rig_cli_plan_shrinker_new(&reproduction->shrinking, &reproduction->shrinker, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_cli_plan_shrinker_search(reproduction->shrinker, &reproduction->is_shrunk, err);
    if (rc == RIG_E_IO)
        return rc;
    if (!reproduction->is_shrunk && is_text(reproduction))
        rig_cli_say("No smaller plan was found: %s.\n", err->text);
    *err = (struct rig_err){.rc = RIG_OK};
    return RIG_OK;
}

static enum rig_rc fall_back(struct reproduction *reproduction, struct rig_err *err)
{
    if (is_text(reproduction)) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        if (reproduction->unplayed[0] != '\0')
            rig_buf_printf(&text, "\nNo script of its statements: %s. So the plan runs again, for at most ",
                           reproduction->unplayed);
        else
            rig_buf_add_text(&text,
                             "The order of the statements alone does not bring it back: it needs a race inside the "
                             "server, or\nwhat else the load does. So the plan runs again, for at most ");
        rig_words_duration(&text, reproduction->time_ns);
        rig_buf_add_text(&text, ":\n");
        print(&text);
        rig_buf_done(&text);
    }
    enum rig_rc rc = run_plan(reproduction, err);
    if (is_text(reproduction) && reproduction->tally.runs > 0)
        tell_runs(reproduction);
    const bool goes_on =
        reproduction->shape.anomalies != 0 && reproduction->shrink_ns > 0 && atomic_load(reproduction->interrupts) == 0;
    if (rc == RIG_OK && goes_on)
        rc = find_smallest_plan(reproduction, err);
    return rc;
}

/* ---- the result ---- */

static bool came_back(const struct reproduction *reproduction)
{
    return reproduction->shown > 0 || reproduction->tally.showing > 0;
}

static void write_json(const struct reproduction *reproduction, struct rig_buf *text)
{
    struct rig_json_writer json;
    rig_json_init(&json, text);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "anomaly: %s, reproduced: %b", rig_anomaly_info(reproduction->part.anomaly)->name,
                     came_back(reproduction));
    if (reproduction->part.history != NULL)
        rig_json_int(&json, "transactions", reproduction->part.history->txn_count);
    if (reproduction->run_name[0] != '\0')
        rig_json_string(&json, "run", reproduction->run_name);
    if (reproduction->server[0] != '\0')
        rig_json_string(&json, "server", reproduction->server);
    rig_cli_json_share(&json, "plays", reproduction->shown, reproduction->plays);
    if (reproduction->unplayed[0] != '\0')
        rig_json_string(&json, "unplayed", reproduction->unplayed);
    rig_cli_json_tally(&json, "runs", &reproduction->tally);
    if (reproduction->is_shrunk)
        rig_cli_plan_shrinker_json(reproduction->shrinker, &json, "smallest");
    rig_json_string(&json, "folder", reproduction->folder);
    rig_json_end(&json);
    rig_buf_add_char(text, '\n');
}

static enum rig_rc conclude(const struct reproduction *reproduction, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    write_json(reproduction, &text);
    const enum rig_rc rc = save(reproduction, RIG_RUN_REPRODUCTION, &text, err);
    if (is_text(reproduction)) {
        rig_buf_clear(&text);
        rig_buf_printf(&text, "%s; files: %s\n", came_back(reproduction) ? "reproduced" : "not reproduced",
                       reproduction->folder);
    }
    print(&text);
    rig_buf_done(&text);
    return rc;
}

/* Which run it is, and those of its plan that need not be made again. */
static enum rig_rc find_earlier(struct reproduction *reproduction, const struct rig_cli_saved_run *saved,
                                struct rig_err *err)
{
    char folder[RIG_CLI_PATH_BYTES];
    const enum rig_rc rc = rig_cli_find_run(reproduction->args->positionals[0], folder, err);
    rig_cli_run_name(saved, reproduction->run_name);
    return rc == RIG_OK ? rig_cli_earlier_runs_find(folder, saved, &reproduction->earlier, err) : rc;
}

/* Values that do not name their writers: a part could show what the whole does not, so there is none to play. */
static enum rig_rc take_whole(struct reproduction *reproduction, const struct rig_history *history,
                              const struct rig_check_options *check, struct rig_err *err)
{
    const enum rig_rc rc = rig_shrink_goal(history, check, &reproduction->part.anomaly, err);
    (void)snprintf(reproduction->unplayed, sizeof reproduction->unplayed,
                   "the values of a history of %s do not name their writers, so that no part of it can be judged",
                   rig_data_types[history->workload].name);
    return rc;
}

/* The smallest part, of whole transactions or of any operations, and its order. */
static enum rig_rc shrink(struct reproduction *reproduction, bool whole_transactions, struct rig_err *err)
{
    const struct rig_arguments *args = reproduction->args;
    struct rig_shrink_options options = {
        .budget_ns = 0, .for_scenario = true, .whole_transactions = whole_transactions};
    struct rig_load_options load = {.form = RIG_FORM_AUTO};
    struct rig_cli_saved_run saved = {.storage = NULL};
    struct rig_history *history = NULL;
    static struct rig_cli_paths paths; /* one command a process */
    if (!rig_cli_read_requests(args, &options.check) || !rig_cli_read_decision(args, &options.check) ||
        !rig_cli_read_assume(args, &options.check))
        return err->rc = RIG_E_USAGE;
    rig_cli_read_workload(args, &load);
    load.limit_bytes = options.check.limit_bytes;
    enum rig_rc rc = rig_cli_find_histories(args->positionals, 1, &paths, err);
    if (rc == RIG_OK)
        rc = rig_cli_saved_run_take(args->positionals[0], args, &options.check, NULL, &saved, err);
    options.budget_ns = options.check.budget_ns;
    if (!rig_arguments_has(args, "max-witnesses"))
        options.check.max_witnesses = RIG_CLI_PLAYED_WITNESSES;
    if (rc == RIG_OK && saved.found && reproduction->earlier == NULL)
        rc = find_earlier(reproduction, &saved, err);
    if (rc == RIG_OK)
        rc = rig_history_load_ranks((const char *const *)paths.at, paths.count, &load, &history, err);
    rig_cli_paths_done(&paths);
    if (rc == RIG_OK) {
        rig_cli_take_load(history->meta, history->has_all_rows, &options.check);
        rc = rig_cli_check_initial(args, history->workload, err);
    }
    const bool has_parts = rc == RIG_OK && (RIG_WORKLOADS_OF_NAMED_WRITERS >> (unsigned)history->workload & 1) != 0;
    if (rc == RIG_OK)
        rc = has_parts ? rig_shrink_history(history, &options, &reproduction->part, err)
                       : take_whole(reproduction, history, &options.check, err);
    if (rc == RIG_OK && has_parts)
        rc = rig_interleaving_init(&reproduction->interleaving, reproduction->part.history, reproduction->part.verdict,
                                   err);
    rig_history_free(history);
    rig_cli_saved_run_done(&saved);
    return rc;
}

/* False after a complaint. */
static bool read_time(const struct rig_arguments *args, const char *name, double least, int64_t *ns)
{
    const struct rig_option duration = {.name = name, .type = RIG_OPTION_DURATION, .least = least, .most = 1e15};
    const char *text = rig_arguments_value(args, name);
    struct rig_err err = {0};
    if (text == NULL || rig_option_parse(&duration, text, ns, &err) == RIG_OK)
        return true;
    rig_cli_complain("--%s: %s", name, err.text);
    return false;
}

/* True when all was read; else complained of. */
static bool read_arguments(struct reproduction *reproduction)
{
    const struct rig_arguments *args = reproduction->args;
    uint64_t seed;
    reproduction->times = TIMES;
    reproduction->time_ns = time_ns;
    reproduction->shrink_ns = shrink_ns;
    if (!rig_arguments_number(args, "times", 1, RIG_STAGE_PLAYS_MOST, &reproduction->times) ||
        !rig_arguments_number(args, "patience", 1, 60000, &reproduction->patience_ms) ||
        !rig_arguments_number(args, "seed", 0, INT64_MAX, &seed))
        return false;
    return read_time(args, "time", 1e6, &reproduction->time_ns) &&
           read_time(args, "shrink", 0, &reproduction->shrink_ns);
}

static enum rig_rc play_part(struct reproduction *reproduction, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    if (reproduction->scenario != NULL)
        rc = play(reproduction, err);
    else if (reproduction->has_requests)
        rc = play_requests(reproduction, err);
    if (rc == RIG_OK && reproduction->plays > 0 && is_text(reproduction))
        tell_plays(reproduction);
    return rc;
}

/* Gives the part of `other` back, and takes that of the reproduction. */
static void swap_parts(struct reproduction *reproduction, struct reproduction *other)
{
    const struct reproduction kept = *reproduction;
    reproduction->part = other->part;
    reproduction->interleaving = other->interleaving;
    reproduction->scenario = other->scenario;
    reproduction->has_requests = other->has_requests;
    memcpy(reproduction->unplayed, other->unplayed, sizeof reproduction->unplayed);
    reproduction->performance = other->performance;
    reproduction->plays = other->plays;
    reproduction->shown = other->shown;
    *other = kept;
}

static void free_part(struct reproduction *reproduction)
{
    rig_cli_stage_free_performance(reproduction->performance);
    rig_scenario_free(reproduction->scenario);
    rig_interleaving_done(&reproduction->interleaving);
    rig_smallest_part_done(&reproduction->part);
}

/* The smallest part shows the anomaly in its answers, and can lack its cause in the server, such as a write of the
 * transaction's own. So the part of whole transactions is played, where it has more operations. The files are those of
 * the part that shows the anomaly, else of the smallest. */
static enum rig_rc play_whole_transactions(struct reproduction *reproduction, struct rig_err *err)
{
    struct reproduction *smallest = calloc(1, sizeof *smallest);
    if (smallest == NULL)
        return rig_no_memory(err, "a part of a history");
    const uint32_t op_count = reproduction->part.history->op_count;
    swap_parts(reproduction, smallest);
    enum rig_rc rc = RIG_OK;
    const bool is_larger = shrink(reproduction, true, err) == RIG_OK && reproduction->part.history->op_count > op_count;
    *err = (struct rig_err){0}; /* without such a part the plan runs */
    if (is_larger && is_text(reproduction))
        (void)printf("\nThe smallest part may lack what made the server err, so its transactions are played whole:\n");
    if (is_larger)
        rc = save_files(reproduction, err);
    if (rc == RIG_OK && is_larger)
        rc = play_part(reproduction, err);
    if (reproduction->shown == 0) {
        swap_parts(reproduction, smallest);
        if (rc == RIG_OK && is_larger)
            rc = save_files(reproduction, err);
    }
    free_part(smallest);
    free(smallest);
    return rc;
}

static enum rig_rc reproduce(struct reproduction *reproduction, struct rig_err *err)
{
    enum rig_rc rc = find_plan(reproduction, err);
    if (rc == RIG_OK)
        rc = load_plan(reproduction, 0, &reproduction->plan, err);
    if (rc == RIG_OK)
        rc = shrink(reproduction, false, err);
    if (rc == RIG_OK)
        rc = make_folder(reproduction, err);
    if (rc == RIG_OK)
        rc = save_files(reproduction, err);
    if (rc == RIG_OK)
        rc = play_part(reproduction, err);
    if (rc == RIG_OK && reproduction->plays > 0 && reproduction->shown == 0)
        rc = play_whole_transactions(reproduction, err);
    if (rc == RIG_OK && reproduction->shown == 0)
        rc = fall_back(reproduction, err);
    if (reproduction->folder[0] != '\0' && (rc == RIG_OK || came_back(reproduction))) {
        const enum rig_rc saved = conclude(reproduction, err);
        rc = rc == RIG_OK ? saved : rc;
    }
    return rc;
}

int rig_cli_reproduce_witness(const struct rig_arguments *args)
{
    struct rig_err err = {0};
    struct reproduction *reproduction = calloc(1, sizeof *reproduction);
    if (reproduction == NULL)
        return RIG_EXIT_FAILED;
    reproduction->args = args;
    reproduction->hold = -1;
    if (!read_arguments(reproduction)) {
        free(reproduction);
        return RIG_EXIT_USAGE;
    }
    reproduction->interrupts = rig_cli_stop_signals_begin();
    const enum rig_rc rc = reproduce(reproduction, &err);
    rig_cli_stop_signals_end();
    int status = came_back(reproduction) ? RIG_EXIT_OK : RIG_EXIT_UNDECIDED;
    if (rc == RIG_OK && !came_back(reproduction) && reproduction->tally.runs == 0)
        status = RIG_EXIT_FAILED; /* no run could be judged */
    if (rc != RIG_OK)
        status = err.text[0] == '\0' ? RIG_EXIT_USAGE : rig_cli_fail(&err);
    rig_cli_plan_shrinker_free(reproduction->shrinker);
    rig_cli_earlier_runs_free(reproduction->earlier);
    free_part(reproduction);
    rig_plan_free(reproduction->plan);
    if (reproduction->hold >= 0)
        (void)close(reproduction->hold);
    free(reproduction);
    return status;
}
