#include "run/load/run_conditions.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "checker/model/level.h"
#include "run/load/run_state.h"

/* The rows of one query on their way into the result. */
struct taken {
    const struct rig_program_condition *condition;
    struct rig_run_condition *into;
};

/* "w_id=1 w_ytd=300 sum(d_ytd)=200" */
static void take_row(void *context, const char *const *values, uint32_t count)
{
    const struct taken *taken = context;
    if (taken->into->broken++ >= RIG_CONDITION_ROWS)
        return;
    char *text = taken->into->rows[taken->into->broken - 1];
    size_t length = 0;
    for (uint32_t i = 0; i < count && i < RIG_PROGRAM_CONDITION_COLUMNS && taken->condition->columns[i] != NULL; i++) {
        const int added = snprintf(text + length, RIG_RUN_CONDITION_TEXT_BYTES - length, "%s%s=%s", i == 0 ? "" : " ",
                                   taken->condition->columns[i], values[i][0] == '\0' ? "none" : values[i]);
        length += added < 0 ? 0 : (size_t)added;
        if (length >= RIG_RUN_CONDITION_TEXT_BYTES)
            break;
    }
    rig_printable_line(text);
}

static uint64_t guaranteed_by(const struct rig_program_condition *condition)
{
    const uint64_t by_snapshots = rig_level_info(RIG_LEVEL_SNAPSHOT_ISOLATION)->above;
    return rig_level_info(RIG_LEVEL_UPDATE_SERIALIZABLE)->above |
           (condition->needs_more_than_snapshots ? 0 : by_snapshots);
}

static void check_condition(struct rig_run_state *run, const struct rig_program_condition *condition,
                            struct rig_run_condition *into)
{
    const struct rig_row_ops *rows = run->driver->rows;
    struct rig_err err = {0};
    struct taken taken = {condition, into};
    *into = (struct rig_run_condition){.name = condition->name,
                                       .text = condition->text,
                                       .source = condition->source,
                                       .guaranteed_by = guaranteed_by(condition)};
    const enum rig_rc rc = rows->query(run->driver_run, condition->sql, take_row, &taken, &err);
    if (rc != RIG_OK) {
        rig_secret_redact(err.text, sizeof err.text);
        (void)snprintf(into->problem, sizeof into->problem, "%.*s", RIG_RUN_CONDITION_TEXT_BYTES - 1, err.text);
        rig_printable_line(into->problem);
        into->broken = 0;
    }
    rig_log(into->broken > 0 || rc != RIG_OK ? RIG_LOG_WARN : RIG_LOG_INFO, "run", "%s: %s", condition->name,
            rc != RIG_OK       ? into->problem
            : into->broken > 0 ? into->rows[0]
                               : "fulfilled");
}

void rig_run_conditions_check(struct rig_run_state *run, struct rig_run_result *result)
{
    const struct rig_program *program = run->programs.program;
    if (program == NULL)
        return;
    if (run->driver->rows->query == NULL) {
        rig_log(RIG_LOG_INFO, "run", "the driver %s runs no queries: the conditions of the program are not checked",
                run->driver->name);
        return;
    }
    RIG_INVARIANT(program->condition_count <= RIG_RUN_CONDITIONS_MOST);
    for (uint32_t i = 0; i < program->condition_count; i++)
        check_condition(run, &program->conditions[i], &result->conditions[i]);
    result->condition_count = program->condition_count;
}
