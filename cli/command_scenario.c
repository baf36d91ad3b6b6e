/*
 * rig scenario PLAN.yaml SCENARIO.yaml...: sessions whose statements run in a written order, on the plan's database.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "checker/model/level.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/handed_settings.h"
#include "cli/plan_arguments.h"
#include "cli/scenario_texts.h"
#include "cli/stage.h"
#include "cli/stop_signals.h"
#include "run/plan/plan.h"
#include "run/scenario/scenario_report.h"
#include "run/scenario/script.h"

enum { COLUMNS_MOST = 256, OVERRIDES_MOST = 64 };

static const struct rig_argument scenario_arguments[] = {
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "set a key of the plan, overriding the file"},
    RIG_ARGUMENT_ON,
    {.name = "vary",
     .value = "A.B=C,D",
     .repeatable = true,
     .help = "play on several databases: with each of these values of a key of the plan, and with each combination"},
    {.name = "patience",
     .value = "MS",
     .help =
         "milliseconds after which a statement that has not returned counts as waiting; 250 when not given, 300 for "
         "texts, where the database has to agree"},
    {.name = "repeat", .value = "N", .help = "play each scenario N times, and count; 1 when not given"},
    {.name = "export",
     .value = "psql|mysql|isolationtester|shell",
     .choices = rig_script_form_names,
     .help = "do not play: print a script that plays the scenario without rig, at the isolation of the plan; shell: "
             "for the "
             "shell that the plan's dialect names"},
    {.name = "steps", .help = "also with several databases: each step and its answer"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table scenario_table = {
    .command = "scenario",
    .positionals = "PLAN.yaml SCENARIO.yaml|REPORT.sql...",
    .least_positionals = 2,
    .most_positionals = RIG_ARGUMENTS_MAX,
    .description =
        "Plays scenarios: a few sessions whose statements run one after the other as the file says, on the database "
        "of\n"
        "the plan, whose load and faults do not run. A scenario says which answers show its anomaly. With --vary the\n"
        "result is a grid: `shown`, the code of the error that prevented the anomaly, `waits` where a session had to\n"
        "wait for another one, or `no`.\n"
        "A file with `setup` or `outcome` sends any SQL, and expects rows, counts, errors and waits of engines and "
        "levels\n"
        "(docs/scenarios.md). A file that ends with .sql is a paste, whose statements have `-- T1`, `/* T1 */` or "
        "`T1>`\n"
        "before them.\n"
        "Exit status: 1 when an anomaly is shown that a level of the plan's check.levels forbids, and when a step, a "
        "wait\n"
        "or a final table is not as the file says; 2 when a file has outcomes, and none for this engine and level; 3 "
        "when\n"
        "a database could not be used.\n",
    .arguments = scenario_arguments,
};

/* The settings of the plan for one column of the grid. */
struct column {
    struct rig_plan_override overrides[OVERRIDES_MOST];
    size_t override_count;
    char name[256];                      /* the values that vary; empty: none do */
    char server[RIG_STAGE_SERVER_BYTES]; /* when it was played */
    uint64_t levels;                     /* that the plan asks for */
};

struct job {
    const struct rig_arguments *args;
    struct rig_scenario *scenarios[RIG_ARGUMENTS_MAX];
    uint32_t scenario_count;
    struct rig_cli_texts texts; /* the files that are interleavings */
    struct rig_arena arena;     /* of the settings that vary */
    struct column *columns;
    size_t column_count;
    struct rig_performance **performances; /* by scenario, then by column: the first one that shows the anomaly, else
                                            * the last; NULL: not played */
    uint32_t *shown;                       /* by scenario, then by column: how many plays showed it */
    uint32_t repeat;                       /* plays of each scenario on each database */
    const atomic_int *interrupts;
    struct column *column; /* that is under way */
    char clients[64];
    struct rig_buf handed; /* settings of the rig that started this one */
};

/* ---- columns ---- */

static bool add_override(struct column *column, const char *text)
{
    if (column->override_count == OVERRIDES_MOST)
        return false;
    column->overrides[column->override_count++].text = text;
    return true;
}

/* "key=value" of the value at `at`, in the job's memory. */
static const char *vary_text(struct job *job, const char *argument, const char *at, size_t length)
{
    const size_t key = strcspn(argument, "=") + 1;
    char *text = rig_arena_alloc(&job->arena, key + length + 1);
    if (text != NULL) {
        memcpy(text, argument, key);
        memcpy(text + key, at, length);
    }
    return text;
}

/* Makes each column one for each value of the argument. False after a complaint. */
static bool multiply(struct job *job, const char *argument)
{
    const char *values = strchr(argument, '=');
    if (values == NULL || values == argument || values[1] == '\0') {
        rig_cli_complain("--vary %s: expected KEY=VALUE,VALUE", argument);
        return false;
    }
    struct column *made = calloc(COLUMNS_MOST, sizeof *made);
    size_t count = 0;
    bool fits = made != NULL;
    for (size_t i = 0; i < job->column_count && fits; i++) {
        for (const char *at = values + 1; fits; at++) {
            const size_t length = strcspn(at, ",");
            const char *text = vary_text(job, argument, at, length);
            fits = count < COLUMNS_MOST && text != NULL;
            if (fits) {
                made[count] = job->columns[i];
                fits = add_override(&made[count], text);
                const size_t named = strlen(made[count].name);
                (void)snprintf(made[count].name + named, sizeof made[count].name - named, "%s%s", named > 0 ? ", " : "",
                               text);
                count++;
            }
            at += length;
            if (*at == '\0')
                break;
        }
    }
    free(job->columns);
    job->columns = made;
    job->column_count = count;
    if (!fits)
        rig_cli_complain("--vary %s: more than %d databases in all", argument, (int)COLUMNS_MOST);
    return fits;
}

/* Those of a matrix come before --set. False after a complaint. */
static bool add_handed(struct job *job)
{
    struct rig_err err = {0};
    bool fits = true;
    if (rig_cli_handed_take(&job->handed, &err) != RIG_OK) {
        (void)rig_cli_fail(&err);
        return false;
    }
    const char *texts = rig_buf_text(&job->handed);
    for (size_t at = 0; fits && at < job->handed.size; at += strlen(texts + at) + 1)
        fits = add_override(job->columns, texts + at);
    return fits;
}

static bool make_columns(struct job *job)
{
    const char *text;
    uint32_t sessions = 1;
    for (uint32_t i = 0; i < job->scenario_count; i++)
        sessions = job->scenarios[i]->session_count > sessions ? job->scenarios[i]->session_count : sessions;
    sessions += RIG_SQL_SCENARIO_CLIENTS_MOST - RIG_SQL_SCENARIO_SESSIONS_MOST;
    if (rig_cli_texts_clients(&job->texts) > sessions)
        sessions = rig_cli_texts_clients(&job->texts);
    (void)snprintf(job->clients, sizeof job->clients, "clients.count=%u", (unsigned)sessions);
    job->columns = calloc(1, sizeof *job->columns);
    job->column_count = 1;
    bool fits = job->columns != NULL && add_handed(job);
    for (size_t i = 0; fits && (text = rig_arguments_value_at(job->args, "set", i)) != NULL; i++)
        fits = add_override(job->columns, text);
    fits = fits && add_override(job->columns, job->clients);
    for (size_t i = 0; fits && (text = rig_arguments_value_at(job->args, "vary", i)) != NULL; i++)
        fits = multiply(job, text);
    return fits;
}

/* ---- playing ---- */

/* Takes the performance: it replaces an earlier one that did not show the anomaly. */
static void keep_performance(void *context, uint32_t scenario, bool is_whole, struct rig_performance *played)
{
    struct job *job = context;
    const size_t place = scenario * job->column_count + (size_t)(job->column - job->columns);
    struct rig_performance **kept = &job->performances[place];
    job->shown[place] += is_whole && played->shows;
    if (!is_whole || (*kept != NULL && (*kept)->shows)) {
        rig_cli_stage_free_performance(played);
        return;
    }
    rig_cli_stage_free_performance(*kept);
    *kept = played;
}

static enum rig_rc play_column(struct job *job, struct column *column, struct rig_err *err)
{
    struct rig_plan *plan = NULL;
    uint64_t patience_ms = 0;
    (void)rig_arguments_number(job->args, "patience", 1, 60000, &patience_ms);
    struct rig_cli_stage stage = {.scenarios = job->scenarios,
                                  .scenario_count = job->scenario_count,
                                  .repeat = job->repeat,
                                  .patience_ms = (uint32_t)patience_ms,
                                  .sends_texts = true,
                                  .interrupts = job->interrupts,
                                  .keep = keep_performance,
                                  .context = job};
    job->column = column;
    enum rig_rc rc =
        rig_plan_load(job->args->positionals[0], column->overrides, column->override_count, NULL, &plan, err);
    if (rc == RIG_OK) {
        column->levels = plan->check.levels;
        if (job->scenario_count > 0)
            rc = rig_cli_stage_play(&stage, plan, err);
        if (rc == RIG_OK)
            rc = rig_cli_texts_play(&job->texts, (size_t)(column - job->columns), plan, err);
        (void)snprintf(column->server, sizeof column->server, "%s",
                       job->scenario_count > 0 ? stage.server : job->texts.servers[column - job->columns]);
    }
    rig_plan_free(plan);
    return rc;
}

/* ---- the result ---- */

/* Whether the anomaly is shown and a level that was asked for forbids it. */
static bool is_forbidden(const struct job *job, size_t scenario, size_t column)
{
    const struct rig_performance *performance = job->performances[scenario * job->column_count + column];
    enum rig_level level = RIG_LEVEL_COUNT;
    (void)rig_level_find(job->scenarios[scenario]->level, &level);
    return performance != NULL && performance->shows &&
           (job->columns[column].levels & rig_level_info(level)->above) != 0;
}

static struct rig_scenario_cell cell_at(const struct job *job, size_t scenario, size_t column)
{
    const struct column *of = &job->columns[column];
    return (struct rig_scenario_cell){.scenario = job->scenarios[scenario],
                                      .performance = job->performances[scenario * job->column_count + column],
                                      .column = of->name[0] == '\0' ? NULL : of->name,
                                      .server = of->server[0] == '\0' ? "not played" : of->server,
                                      .shown = job->shown[scenario * job->column_count + column],
                                      .forbidden = is_forbidden(job, scenario, column),
                                      .played = job->repeat};
}

static const char *column_name(const struct job *job, size_t column)
{
    return job->columns[column].name[0] == '\0' ? NULL : job->columns[column].name;
}

static struct rig_sql_scenario_cell text_cell_at(const struct job *job, size_t index, size_t column)
{
    return rig_cli_texts_cell(&job->texts, index, column, column_name(job, column));
}

/* Rows of the grid: the scenarios, then the interleavings. */
static const char *grid_row(const void *context, size_t row)
{
    const struct job *job = context;
    return row < job->scenario_count ? job->scenarios[row]->name : job->texts.at[row - job->scenario_count]->name;
}

static void grid_column(const void *context, size_t column, struct rig_buf *out)
{
    const struct job *job = context;
    const char *server = job->columns[column].server;
    rig_buf_printf(out, "%s, %s", job->columns[column].name, server[0] == '\0' ? "not played" : server);
}

static void grid_word(const void *context, size_t row, size_t column, struct rig_buf *out)
{
    const struct job *job = context;
    const size_t index = row - job->scenario_count;
    bool played = true;
    if (row < job->scenario_count) {
        const struct rig_scenario_cell cell = cell_at(job, row, column);
        played = cell.performance != NULL;
        if (played)
            rig_scenario_write_word(&cell, out);
    } else {
        const struct rig_sql_scenario_cell cell = text_cell_at(job, index, column);
        played = cell.performance != NULL;
        if (played)
            rig_sql_scenario_write_word(&cell, out);
    }
    if (!played)
        rig_buf_add_char(out, '?');
}

static void add_steps(const struct job *job, struct rig_buf *text)
{
    for (size_t i = 0; i < job->scenario_count * job->column_count; i++) {
        const struct rig_scenario_cell cell = cell_at(job, i / job->column_count, i % job->column_count);
        if (cell.performance == NULL)
            continue;
        rig_scenario_write_text(&cell, text);
        rig_buf_add_char(text, '\n');
    }
    for (size_t i = 0; i < job->texts.count * job->column_count; i++) {
        const struct rig_sql_scenario_cell cell = text_cell_at(job, i / job->column_count, i % job->column_count);
        if (cell.performance == NULL)
            continue;
        rig_sql_scenario_write_text(&cell, text);
        rig_buf_add_char(text, '\n');
    }
}

static void print_text(const struct job *job)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const bool is_grid = job->column_count > 1;
    const struct rig_scenario_grid grid = {.row_count = job->scenario_count + job->texts.count,
                                           .column_count = job->column_count,
                                           .row = grid_row,
                                           .column = grid_column,
                                           .word = grid_word,
                                           .context = job};
    if (!is_grid || rig_arguments_has(job->args, "steps"))
        add_steps(job, &text);
    if (is_grid)
        rig_scenario_write_grid(&grid, &text);
    rig_cli_print(&text);
    rig_buf_done(&text);
}

static void print_json(const struct job *job)
{
    struct rig_buf text;
    struct rig_json_writer json;
    rig_buf_init(&text, 0);
    rig_json_init(&json, &text);
    rig_json_begin_object(&json, NULL);
    rig_json_begin_array(&json, "results");
    for (size_t i = 0; i < job->scenario_count * job->column_count; i++) {
        const struct rig_scenario_cell cell = cell_at(job, i / job->column_count, i % job->column_count);
        if (cell.performance != NULL)
            rig_scenario_write_json(&cell, &json);
    }
    for (size_t i = 0; i < job->texts.count * job->column_count; i++) {
        const struct rig_sql_scenario_cell cell = text_cell_at(job, i / job->column_count, i % job->column_count);
        if (cell.performance != NULL)
            rig_sql_scenario_write_json(&cell, &json);
    }
    rig_json_end(&json);
    rig_json_end(&json);
    puts(rig_buf_text(&text));
    rig_buf_done(&text);
}

static bool is_refuted(const struct job *job)
{
    for (size_t i = 0; i < job->scenario_count * job->column_count; i++) {
        if (is_forbidden(job, i / job->column_count, i % job->column_count))
            return true;
    }
    return false;
}

static enum rig_rc load_scenarios(struct job *job, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 1; i < job->args->positional_count && rc == RIG_OK; i++) {
        enum rig_level level;
        bool taken = false;
        rc = rig_cli_texts_load(&job->texts, job->args->positionals[i], &taken, err);
        if (rc != RIG_OK || taken)
            continue;
        rc = rig_scenario_load(job->args->positionals[i], &job->scenarios[job->scenario_count], err);
        if (rc == RIG_OK && !rig_level_find(job->scenarios[job->scenario_count++]->level, &level))
            rc = rig_fail(err, RIG_E_PLAN, "%s: unknown level `%s`; `rig list levels` shows them",
                          job->args->positionals[i], job->scenarios[job->scenario_count - 1]->level);
    }
    return rc;
}

static void free_job(struct job *job)
{
    for (size_t i = 0; job->performances != NULL && i < job->scenario_count * job->column_count; i++)
        rig_cli_stage_free_performance(job->performances[i]);
    free(job->performances);
    free(job->shown);
    free(job->columns);
    for (uint32_t i = 0; i < job->scenario_count; i++)
        rig_scenario_free(job->scenarios[i]);
    rig_cli_texts_free(&job->texts);
    rig_arena_done(&job->arena);
    rig_buf_done(&job->handed);
}

static int export(struct job *job, const char *form)
{
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    struct rig_buf isolation, text;
    unsigned number = 0;
    if (job->texts.count > 0) {
        rig_cli_complain(
            "--export: the scenario %s sends any SQL, which is no script of rig's: send its texts yourself",
            job->texts.at[0]->name);
        return RIG_EXIT_USAGE;
    }
    for (uint32_t i = 0; i < job->scenario_count; i++) {
        if (job->scenarios[i]->needs_texts) {
            rig_cli_complain(
                "--export: the scenario %s has statements of any SQL, a `begin`, an `until`, a node or several "
                "transactions in a session, which no script of rig's has",
                job->scenarios[i]->name);
            return RIG_EXIT_USAGE;
        }
        if (job->scenarios[i]->holds_commits) {
            rig_cli_complain("the scenario %s holds a commit inside the server, which no script can",
                             job->scenarios[i]->name);
            return RIG_EXIT_USAGE;
        }
    }
    while (strcmp(rig_script_form_names[number], form) != 0)
        number++;
    if (rig_plan_load(job->args->positionals[0], job->columns->overrides, job->columns->override_count, NULL, &plan,
                      &err) != RIG_OK)
        return rig_cli_fail(&err);
    rig_buf_init(&isolation, 0);
    rig_buf_init(&text, 0);
    rig_cli_stage_isolation(plan, &isolation);
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < job->scenario_count; i++) {
        if (number == RIG_SCRIPT_SHELL)
            rc = rig_scenario_write_shell(job->scenarios[i], plan->driver, plan->driver_options, &text, &err);
        else
            rig_scenario_write_script(job->scenarios[i], (enum rig_script_form)number, rig_buf_text(&isolation), &text);
    }
    if (rc == RIG_OK)
        (void)fputs(rig_buf_text(&text), stdout);
    rig_buf_done(&text);
    rig_buf_done(&isolation);
    rig_plan_free(plan);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
}

static int play(struct job *job)
{
    struct rig_err err = {0};
    int status = RIG_EXIT_OK;
    enum rig_rc rc = load_scenarios(job, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    if (!make_columns(job))
        return RIG_EXIT_USAGE;
    if (rig_arguments_has(job->args, "export"))
        return export(job, rig_arguments_value(job->args, "export"));
    job->performances = calloc(job->scenario_count * job->column_count + 1, sizeof *job->performances);
    job->shown = calloc(job->scenario_count * job->column_count + 1, sizeof *job->shown);
    if (job->performances == NULL || job->shown == NULL ||
        rig_cli_texts_begin(&job->texts, job->column_count, &err) != RIG_OK)
        return RIG_EXIT_FAILED;
    for (size_t i = 0; i < job->column_count; i++) {
        struct rig_err failure = {0};
        rc = play_column(job, &job->columns[i], &failure);
        if (rc == RIG_E_PLAN && strcmp(failure.text, err.text) == 0)
            break; /* it is the plan's fault, not that of the values that vary */
        if (rc != RIG_OK)
            status = rig_cli_worst(status, rig_cli_fail(&failure));
        if (rc == RIG_E_INTERRUPTED)
            break;
        err = failure;
    }
    if (rig_arguments_json(job->args))
        print_json(job);
    else
        print_text(job);
    status = rig_cli_worst(status, rig_cli_texts_status(&job->texts));
    return is_refuted(job) ? RIG_EXIT_ANOMALY : status;
}

int rig_cli_scenario(int argc, char **argv)
{
    struct rig_arguments args;
    int status = rig_arguments_parse(&scenario_table, argc, argv, &args);
    uint64_t patience_ms, repeat = 1;
    if (status != RIG_ARGUMENTS_GO_ON || (status = rig_cli_take_target(&args)) != RIG_EXIT_OK)
        return status;
    if (!rig_arguments_number(&args, "patience", 1, 60000, &patience_ms) ||
        !rig_arguments_number(&args, "repeat", 1, RIG_STAGE_PLAYS_MOST, &repeat))
        return RIG_EXIT_USAGE;
    if (rig_arguments_has(&args, "export") && (args.positional_count > 2 || rig_arguments_has(&args, "vary"))) {
        rig_cli_complain("--export prints one scenario, for one database");
        return RIG_EXIT_USAGE;
    }
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return RIG_EXIT_FAILED;
    job->args = &args;
    job->repeat = job->texts.repeat = (uint32_t)repeat;
    job->texts.patience_ms = (uint32_t)patience_ms;
    job->interrupts = job->texts.interrupts = rig_cli_stop_signals_begin();
    rig_arena_init(&job->arena, 0);
    rig_buf_init(&job->handed, 0);
    status = play(job);
    free_job(job);
    free(job);
    return status;
}
