#include "cli/stage.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/option_parse.h"
#include "nemesis/fault_setup.h"
#include "run/scenario/scenario_told.h"

/* How long sessions of texts wait for a lock where the database has a limit in any case. */
#define LOCK_WAIT_NS INT64_C(4000000000)

/* A stage while the database is there. */
struct show {
    struct rig_cli_stage *stage;
    struct rig_scenario_schema joined;
    struct rig_buf begin; /* the statement that begins a transaction played as SQL */
};

void rig_cli_stage_free_performance(struct rig_performance *performance)
{
    if (performance != NULL)
        rig_performance_done(performance);
    free(performance);
}

static void set_hold(const struct rig_shims *shims, enum rig_shim_hold hold)
{
    for (uint32_t node = 0; node < shims->count; node++) {
        if (shims->at[node] != NULL)
            atomic_store(&shims->at[node]->hold, hold);
    }
}

static void arm_hold(void *context)
{
    set_hold(context, RIG_SHIM_HOLD_ARMED);
}

static bool is_held(const void *context)
{
    const struct rig_shims *shims = context;
    bool held = false;
    for (uint32_t node = 0; node < shims->count; node++)
        held |= shims->at[node] != NULL && atomic_load(&shims->at[node]->hold) == RIG_SHIM_HOLD_HELD;
    return held;
}

static void release_hold(void *context)
{
    set_hold(context, RIG_SHIM_HOLD_ATTENDED);
}

/* Whether the scenario is played as SQL: it has to, or the driver has a space of its own for that. */
static bool is_text(const struct rig_cli_stage *stage, const struct rig_driver *driver,
                    const struct rig_scenario *scenario)
{
    return stage->sends_texts && driver->texts != NULL && !scenario->holds_commits &&
           (scenario->needs_texts || driver->texts->clear != NULL);
}

/* On tables of its own; for the scenarios that are not played as SQL. */
static enum rig_rc play_on_tables(void *context, uint32_t number, const struct rig_cli_database *on,
                                  struct rig_err *err)
{
    const struct show *show = context;
    struct rig_cli_stage *stage = show->stage;
    const uint32_t index = number / stage->repeat;
    if (is_text(stage, on->driver, stage->scenarios[index]))
        return RIG_OK;
    struct rig_shims nodes = *on->shims;
    set_hold(&nodes, RIG_SHIM_HOLD_ATTENDED);
    const struct rig_play_options options = {
        .table = number,
        .first_statement = show->joined.first_statement[number],
        .patience_ms = stage->patience_ms,
        .interrupts = stage->interrupts,
        .hold = {.arm = arm_hold, .is_held = is_held, .release = release_hold, .context = &nodes}};
    struct rig_performance *played = calloc(1, sizeof *played);
    if (played == NULL)
        return rig_no_memory(err, "a scenario");
    const enum rig_rc rc =
        rig_scenario_play(stage->scenarios[index], on->driver, on->driver_run, &options, played, err);
    stage->keep(stage->context, index, rc == RIG_OK, played);
    return rc;
}

enum rig_rc rig_cli_stage_check(const struct rig_driver *driver, struct rig_err *err)
{
    if (driver->rows == NULL)
        return rig_fail(err, RIG_E_PLAN, "the driver %s runs no statements on tables, so it plays no scenarios",
                        driver->name);
    if (driver->now_ns != NULL)
        return rig_fail(err, RIG_E_PLAN, "the driver %s has a time of its own, so it plays no scenarios", driver->name);
    return RIG_OK;
}

enum rig_rc rig_cli_stage_check_reads(const struct rig_plan *plan, struct rig_err *err)
{
    const struct rig_option *option = rig_option_find(plan->driver->options, "reads-from");
    struct rig_buf from;
    rig_buf_init(&from, 0);
    if (option != NULL)
        rig_option_format(option, plan->driver_options, &from);
    const bool elsewhere =
        from.size > 0 && strcmp(rig_buf_text(&from), "auto") != 0 && strcmp(rig_buf_text(&from), "primary") != 0;
    rig_buf_done(&from);
    return elsewhere
               ? rig_fail(err, RIG_E_PLAN,
                          "database.reads-from: a session of a scenario is one connection, which its reads and writes "
                          "share; leave it out, and name the node of a session that reads elsewhere, as `T1@pg-2`")
               : RIG_OK;
}

/* The needs of a task that plays them; RIG_E_PLAN when they cannot be met. */
static enum rig_rc needs_of(const struct rig_cli_stage *stage, const struct rig_plan *plan, uint64_t *needs,
                            struct rig_err *err)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    const struct rig_scenario *holding = NULL;
    char why[RIG_ERROR_TEXT_BYTES];
    for (uint32_t i = 0; i < stage->scenario_count; i++)
        holding = stage->scenarios[i]->holds_commits ? stage->scenarios[i] : holding;
    *needs = holding == NULL ? 0 : RIG_NEED_PRELOAD;
    if (holding == NULL)
        return RIG_OK;
    if (cluster == NULL || cluster->set_environment == NULL || !cluster->wanted(plan->driver_options))
        return rig_fail(err, RIG_E_PLAN,
                        "the scenario %s holds a commit inside the server, which needs a PostgreSQL that rig starts "
                        "(database.cluster.local)",
                        holding->name);
    if (!rig_shims_are_there(NULL, why, sizeof why))
        return rig_fail(err, RIG_E_PLAN, "the scenario %s holds a commit: %s", holding->name, why);
    return RIG_OK;
}

/* Each play has a table of its own. */
static enum rig_rc join_schemas(struct show *show, struct rig_err *err)
{
    const struct rig_cli_stage *stage = show->stage;
    const uint32_t count = stage->scenario_count * stage->repeat;
    struct rig_scenario **plays = calloc(count, sizeof(struct rig_scenario *));
    if (plays == NULL)
        return rig_no_memory(err, "scenarios");
    for (uint32_t i = 0; i < count; i++)
        plays[i] = stage->scenarios[i / stage->repeat];
    const enum rig_rc rc = rig_scenario_schema_init(&show->joined, plays, count, err);
    free(plays);
    return rc;
}

/* In a folder for the logs, which goes with it. */
enum rig_rc rig_cli_stage_task(const struct rig_plan *plan, const struct rig_run_task *task,
                               const atomic_int *interrupts, struct rig_err *err)
{
    char folder[256];
    const char *temporary = getenv("TMPDIR");
    struct rig_run_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        return rig_no_memory(err, "a run");
    (void)snprintf(folder, sizeof folder, "%s/rig-scenario-XXXXXX",
                   temporary == NULL || temporary[0] == '\0' ? "/tmp" : temporary);
    enum rig_rc rc = RIG_OK;
    if (mkdtemp(folder) == NULL) {
        rc = rig_fail(err, RIG_E_IO, "%s: the folder for the logs cannot be made: %s", folder, strerror(errno));
    } else {
        const struct rig_run_options options = {.interrupts = interrupts, .folder = folder, .task = task};
        rc = rig_run(plan, &options, result, err);
        rig_folder_remove(folder);
    }
    free(result);
    return rc;
}

/* The plays of a visit, and where its sessions go. */
struct visit {
    const struct rig_cli_plays *plays;
    const char *nodes[RIG_SQL_SCENARIO_CLIENTS_MOST];
};

static enum rig_rc play_each(void *context, const struct rig_driver *driver, void *driver_run,
                             const struct rig_shims *shims, struct rig_err *err)
{
    struct visit *visit = context;
    const struct rig_cli_plays *plays = visit->plays;
    const struct rig_cli_database on = {
        .driver = driver, .driver_run = driver_run, .shims = shims, .nodes = visit->nodes};
    enum rig_rc rc = RIG_OK;
    if (driver->describe != NULL)
        driver->describe(driver_run, plays->server, RIG_STAGE_SERVER_BYTES);
    for (uint32_t i = 0; i < plays->count && rc == RIG_OK; i++)
        rc = plays->play(plays->context, i, &on, err);
    return rc;
}

enum rig_rc rig_cli_stage_visit(const struct rig_plan *plan, const struct rig_cli_plays *plays, struct rig_err *err)
{
    static const struct rig_row_schema no_tables;
    struct visit visit = {.plays = plays};
    const struct rig_text_env texts = {.lock_wait_ns = LOCK_WAIT_NS, .nodes = visit.nodes};
    const struct rig_run_task task = {.rows = plays->rows == NULL ? &no_tables : plays->rows,
                                      .texts = plays->rows == NULL ? &texts : NULL,
                                      .needs = plays->needs,
                                      .run = play_each,
                                      .context = &visit};
    return rig_cli_stage_task(plan, &task, plays->interrupts, err);
}

/* The statement that begins a transaction as the plan wants it. The driver's sessions have its level. */
static void write_begin(const struct rig_plan *plan, struct rig_buf *out)
{
    const struct rig_option *snapshot = rig_option_find(plan->driver->options, "consistent-snapshot");
    const struct rig_option *begin = rig_option_find(plan->driver->options, "begin");
    if (snapshot != NULL)
        rig_option_format(snapshot, plan->driver_options, out);
    const bool takes_snapshot = out->size > 0 && strcmp(rig_buf_text(out), "true") == 0;
    rig_buf_clear(out);
    rig_buf_add_text(out, takes_snapshot ? "start transaction with consistent snapshot" : "begin");
    if (begin != NULL && strcmp(plan->driver->name, "sqlite") == 0) {
        rig_buf_add_char(out, ' ');
        rig_option_format(begin, plan->driver_options, out);
    }
}

/* As SQL, in an empty space; for the scenarios that are played so. */
static enum rig_rc play_as_sql(void *context, uint32_t number, const struct rig_cli_database *on, struct rig_err *err)
{
    const struct show *show = context;
    struct rig_cli_stage *stage = show->stage;
    const uint32_t index = number / stage->repeat;
    if (!is_text(stage, on->driver, stage->scenarios[index]))
        return RIG_OK;
    const struct rig_sql_scenario_options options = {.server = stage->server,
                                                     .patience_ms = stage->patience_ms,
                                                     .interrupts = stage->interrupts,
                                                     .nodes = on->nodes};
    struct rig_performance *played = calloc(1, sizeof *played);
    if (played == NULL)
        return rig_no_memory(err, "a scenario");
    const enum rig_rc rc = rig_scenario_play_texts(stage->scenarios[index], on->driver, on->driver_run, &options,
                                                   rig_buf_text(&show->begin), played, err);
    stage->keep(stage->context, index, rc == RIG_OK, played);
    return rc;
}

/* How many scenarios are played in each way. RIG_E_PLAN where one can be played in none. */
static enum rig_rc count_ways(const struct rig_cli_stage *stage, const struct rig_plan *plan, uint32_t *texts,
                              struct rig_err *err)
{
    *texts = 0;
    for (uint32_t i = 0; i < stage->scenario_count; i++) {
        const struct rig_scenario *scenario = stage->scenarios[i];
        const bool text = is_text(stage, plan->driver, scenario);
        if (scenario->needs_texts && !text)
            return rig_fail(err, RIG_E_PLAN,
                            "the scenario %s has statements of any SQL, a `begin`, an `until`, a node or several "
                            "transactions in a session, which %s",
                            scenario->name,
                            scenario->holds_commits ? "cannot stand beside `commit held`"
                                                    : "the plan's driver, or this command, does not play");
        *texts += text;
    }
    return RIG_OK;
}

enum rig_rc rig_cli_stage_play(struct rig_cli_stage *stage, const struct rig_plan *plan, struct rig_err *err)
{
    struct show show = {.stage = stage};
    struct rig_cli_plays plays = {.count = stage->scenario_count * stage->repeat,
                                  .interrupts = stage->interrupts,
                                  .context = &show,
                                  .server = stage->server};
    uint32_t text_count = 0;
    enum rig_rc rc = rig_cli_stage_check(plan->driver, err);
    rig_arena_init(&show.joined.arena, 0);
    rig_buf_init(&show.begin, 0);
    write_begin(plan, &show.begin);
    if (rc == RIG_OK)
        rc = rig_cli_stage_check_reads(plan, err);
    if (rc == RIG_OK)
        rc = count_ways(stage, plan, &text_count, err);
    plays.play = play_as_sql;
    if (rc == RIG_OK && text_count > 0)
        rc = show.begin.failed ? rig_no_memory(err, "a scenario") : rig_cli_stage_visit(plan, &plays, err);
    if (rc == RIG_OK)
        rc = join_schemas(&show, err);
    if (rc == RIG_OK)
        rc = needs_of(stage, plan, &plays.needs, err);
    plays.play = play_on_tables;
    plays.rows = &show.joined.schema;
    if (rc == RIG_OK && text_count < stage->scenario_count)
        rc = rig_cli_stage_visit(plan, &plays, err);
    rig_buf_done(&show.begin);
    rig_scenario_schema_done(&show.joined);
    return rc;
}

void rig_cli_stage_isolation(const struct rig_plan *plan, struct rig_buf *out)
{
    const struct rig_option *option = rig_option_find(plan->driver->options, "isolation");
    if (option != NULL)
        rig_option_format(option, plan->driver_options, out);
    if (out->size == 0)
        rig_buf_add_text(out, "serializable");
    for (size_t i = 0; i < out->size; i++)
        out->data[i] = out->data[i] == '-' ? ' ' : (char)toupper((unsigned char)out->data[i]);
}
