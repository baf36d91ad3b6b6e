#include "cli/scenario_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/option_parse.h"
#include "cli/cli.h"
#include "run/scenario/tracker_paste.h"

/* ---- files ---- */

static enum rig_rc parse(struct rig_cli_texts *texts, const char *file, const struct rig_buf *text, bool *taken,
                         struct rig_err *err)
{
    struct rig_sql_scenario **out = &texts->at[texts->count];
    const char *data = text->size == 0 ? "" : text->data;
    *taken = true;
    if (rig_tracker_paste_is_one(file))
        return rig_tracker_paste_parse(file, data, text->size, out, err);
    if (rig_sql_scenario_is_one(file, data, text->size))
        return rig_sql_scenario_parse(file, data, text->size, out, err);
    *taken = false;
    return RIG_OK;
}

enum rig_rc rig_cli_texts_load(struct rig_cli_texts *texts, const char *file, bool *taken, struct rig_err *err)
{
    struct rig_buf text;
    *taken = false;
    rig_buf_init(&text, RIG_YAML_BYTES + 1);
    enum rig_rc rc = rig_buf_read_input(&text, file, err);
    if (rc == RIG_OK)
        rc = parse(texts, file, &text, taken, err);
    rig_buf_done(&text);
    texts->count += rc == RIG_OK && *taken;
    return rc;
}

uint32_t rig_cli_texts_clients(const struct rig_cli_texts *texts)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < texts->count; i++)
        most = texts->at[i]->session_count > most ? texts->at[i]->session_count : most;
    return texts->count == 0 ? 0 : most + RIG_SQL_SCENARIO_CLIENTS_MOST - RIG_SQL_SCENARIO_SESSIONS_MOST;
}

/* ---- plays ---- */

enum rig_rc rig_cli_texts_begin(struct rig_cli_texts *texts, size_t column_count, struct rig_err *err)
{
    const size_t plays = texts->count * column_count + 1;
    texts->column_count = column_count;
    texts->levels = calloc(column_count, sizeof *texts->levels);
    texts->servers = calloc(column_count, sizeof *texts->servers);
    texts->performances = calloc(plays, sizeof *texts->performances);
    texts->as_expected = calloc(plays, sizeof *texts->as_expected);
    return texts->levels == NULL || texts->servers == NULL || texts->performances == NULL || texts->as_expected == NULL
               ? rig_no_memory(err, "scenarios")
               : RIG_OK;
}

static void free_performance(struct rig_sql_scenario_performance *performance)
{
    if (performance != NULL)
        rig_sql_scenario_performance_done(performance);
    free(performance);
}

/* Takes the performance: one that is not as expected stays. */
static void keep(struct rig_cli_texts *texts, uint32_t index, bool is_whole,
                 struct rig_sql_scenario_performance *played)
{
    const size_t place = index * texts->column_count + texts->column;
    struct rig_sql_scenario_cell cell = rig_cli_texts_cell(texts, index, texts->column, NULL);
    const bool stays = cell.performance != NULL && !rig_sql_scenario_is_as_expected(&cell);
    cell.performance = played;
    texts->as_expected[place] += is_whole && rig_sql_scenario_is_as_expected(&cell);
    if (!is_whole || stays) {
        free_performance(played);
        return;
    }
    free_performance(texts->performances[place]);
    texts->performances[place] = played;
}

static enum rig_rc play(void *context, uint32_t number, const struct rig_cli_database *on, struct rig_err *err)
{
    struct rig_cli_texts *texts = context;
    const uint32_t index = number / texts->repeat;
    const struct rig_sql_scenario_options options = {.server = texts->servers[texts->column],
                                                     .patience_ms = texts->patience_ms,
                                                     .interrupts = texts->interrupts,
                                                     .nodes = on->nodes};
    struct rig_sql_scenario_performance *played = calloc(1, sizeof *played);
    if (played == NULL)
        return rig_no_memory(err, "a scenario");
    const enum rig_rc rc = rig_sql_scenario_play(texts->at[index], on->driver, on->driver_run, &options, played, err);
    keep(texts, index, rc == RIG_OK, played);
    return rc;
}

static void format_option(const struct rig_plan *plan, const char *name, struct rig_buf *out)
{
    const struct rig_option *option = rig_option_find(plan->driver->options, name);
    if (option != NULL)
        rig_option_format(option, plan->driver_options, out);
}

/* The level of the plan's sessions, as `outcome` names it: "read committed"; of SQLite its journal and the beginning of
 * transactions, "wal, deferred". */
static void write_level(const struct rig_plan *plan, char *level, size_t size)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    format_option(plan, "isolation", &text);
    if (text.size == 0 && rig_option_find(plan->driver->options, "journal") != NULL) {
        format_option(plan, "journal", &text);
        rig_buf_add_text(&text, ", deferred"); /* BEGIN without a word; a text may have one */
    }
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == '-' ? ' ' : text.data[i];
    (void)snprintf(level, size, "%s", rig_buf_text(&text));
    rig_buf_done(&text);
}

enum rig_rc rig_cli_texts_play(struct rig_cli_texts *texts, size_t column, const struct rig_plan *plan,
                               struct rig_err *err)
{
    const struct rig_cli_plays plays = {.count = texts->count * texts->repeat,
                                        .interrupts = texts->interrupts,
                                        .play = play,
                                        .context = texts,
                                        .server = texts->servers[column]};
    if (texts->count == 0)
        return RIG_OK;
    if (plan->driver->texts == NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "the driver %s sends no SQL of a scenario's own; postgres, mysql, sqlite, odbc and sql do",
                        plan->driver->name);
    texts->column = column;
    write_level(plan, texts->levels[column], sizeof texts->levels[0]);
    const enum rig_rc rc = rig_cli_stage_check_reads(plan, err);
    return rc != RIG_OK ? rc : rig_cli_stage_visit(plan, &plays, err);
}

void rig_cli_texts_free(struct rig_cli_texts *texts)
{
    for (size_t i = 0; texts->performances != NULL && i < texts->count * texts->column_count; i++)
        free_performance(texts->performances[i]);
    for (uint32_t i = 0; i < texts->count; i++)
        rig_sql_scenario_free(texts->at[i]);
    free(texts->performances);
    free(texts->as_expected);
    free(texts->levels);
    free(texts->servers);
    *texts = (struct rig_cli_texts){.count = 0};
}

/* ---- the result ---- */

struct rig_sql_scenario_cell rig_cli_texts_cell(const struct rig_cli_texts *texts, size_t index, size_t column,
                                                const char *name)
{
    const size_t place = index * texts->column_count + column;
    const char *server = texts->servers[column], *level = texts->levels[column];
    return (struct rig_sql_scenario_cell){.interleaving = texts->at[index],
                                          .performance = texts->performances[place],
                                          .outcome = rig_sql_scenario_outcome(texts->at[index], server, level),
                                          .column = name,
                                          .server = server[0] == '\0' ? "not played" : server,
                                          .level = level,
                                          .played = texts->repeat,
                                          .as_expected = texts->as_expected[place]};
}

int rig_cli_texts_status(const struct rig_cli_texts *texts)
{
    int status = RIG_EXIT_OK;
    for (size_t i = 0; i < texts->count * texts->column_count; i++) {
        const struct rig_sql_scenario_cell cell =
            rig_cli_texts_cell(texts, i / texts->column_count, i % texts->column_count, NULL);
        if (cell.performance == NULL)
            continue;
        if (!rig_sql_scenario_is_as_expected(&cell))
            return RIG_EXIT_ANOMALY;
        if (!rig_sql_scenario_expects(&cell) && cell.interleaving->outcome_count > 0)
            status = RIG_EXIT_UNDECIDED;
    }
    return status;
}
