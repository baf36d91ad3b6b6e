#include "cli/text_stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/option_parse.h"

struct show {
    struct rig_cli_text_stage *stage;
    const char *nodes[RIG_SQL_SCENARIO_CLIENTS_MOST];
    struct rig_text_env texts;
};

static enum rig_rc play_all(void *context, const struct rig_driver *driver, void *driver_run,
                            const struct rig_shims *shims, struct rig_err *err)
{
    struct show *show = context;
    struct rig_cli_text_stage *stage = show->stage;
    enum rig_rc rc = RIG_OK;
    (void)shims;
    if (driver->describe != NULL)
        driver->describe(driver_run, stage->server, sizeof stage->server);
    const struct rig_sql_scenario_options options = {.server = stage->server,
                                                     .patience_ms = stage->patience_ms,
                                                     .interrupts = stage->interrupts,
                                                     .nodes = show->nodes};
    for (uint32_t i = 0; i < stage->count * stage->repeat && rc == RIG_OK; i++) {
        struct rig_sql_scenario_performance *played = calloc(1, sizeof *played);
        if (played == NULL)
            return rig_no_memory(err, "a scenario");
        rc = rig_sql_scenario_play(stage->interleavings[i / stage->repeat], driver, driver_run, &options, played, err);
        stage->keep(stage->context, i / stage->repeat, rc == RIG_OK, played);
    }
    return rc;
}

enum rig_rc rig_cli_text_stage_play(struct rig_cli_text_stage *stage, const struct rig_plan *plan, struct rig_err *err)
{
    static const struct rig_row_schema no_tables;
    struct show show = {.stage = stage, .texts = {.lock_wait_ns = RIG_STAGE_LOCK_WAIT_NS}};
    show.texts.nodes = show.nodes;
    const struct rig_run_task task = {.rows = &no_tables, .texts = &show.texts, .run = play_all, .context = &show};
    if (plan->driver->texts == NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "the driver %s sends no SQL of a scenario's own; postgres, mysql, sqlite, odbc and sql do",
                        plan->driver->name);
    const enum rig_rc rc = rig_cli_stage_check_reads(plan, err);
    return rc != RIG_OK ? rc : rig_cli_stage_task(plan, &task, stage->interrupts, err);
}

static void format_option(const struct rig_plan *plan, const char *name, struct rig_buf *out)
{
    const struct rig_option *option = rig_option_find(plan->driver->options, name);
    if (option != NULL)
        rig_option_format(option, plan->driver_options, out);
}

void rig_cli_text_stage_level(const struct rig_plan *plan, char *level, size_t size)
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
