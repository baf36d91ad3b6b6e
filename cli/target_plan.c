#include "cli/target_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folder.h"
#include "jobs/matrix/matrix.h"
#include "run/plan/plan.h"

enum { OVERRIDES_MOST = 128 };

static const char driver_key[] = "database.driver=";

enum rig_rc rig_target_plan_matrix(const struct rig_buf *settings, char *path, size_t size, struct rig_err *err)
{
    char name[64];
    struct rig_buf tried;
    const char *text = rig_buf_text(settings);
    if (strncmp(text, driver_key, sizeof driver_key - 1) != 0)
        return rig_fail(err, RIG_E_USAGE,
                        "a URL of http names no database: write a plan with its dialect for `rig run`");
    rig_buf_init(&tried, 0);
    (void)snprintf(name, sizeof name, "try/%s.yaml", text + sizeof driver_key - 1);
    const bool found = rig_data_folder_find(&rig_data_configs, name, path, size, &tried);
    const enum rig_rc rc =
        found ? RIG_OK
              : rig_fail(err, RIG_E_USAGE, "there is no %s in %s; RIG_CONFIG_PATH names further folders", name,
                         rig_buf_text(&tried));
    rig_buf_done(&tried);
    return rc;
}

/* Settings with a secret, and the variable that takes its place in a plan. */
static const struct {
    const char *key, *variable, *reference;
} secret_keys[] = {
    {"database.password=", "RIG_PASSWORD", "database.password=${RIG_PASSWORD}"},
    {"database.connection=", "RIG_CONNECTION", "database.connection=${RIG_CONNECTION}"},
};

struct overrides {
    struct rig_plan_override at[OVERRIDES_MOST];
    size_t count;
};

static void add(struct overrides *overrides, const char *text)
{
    if (overrides->count < OVERRIDES_MOST)
        overrides->at[overrides->count++].text = text;
}

/* The text with `$$` as one `$`: as the plan would read it. */
static void set_variable(const char *name, const char *text)
{
    struct rig_buf value;
    rig_buf_init(&value, 0);
    for (; *text != '\0'; text++) {
        rig_buf_add_char(&value, *text);
        text += text[0] == '$' && text[1] == '$';
    }
    (void)setenv(name, rig_buf_text(&value), 1);
    rig_buf_done(&value);
}

static void add_target(struct overrides *overrides, const char *setting, struct rig_buf *secrets)
{
    for (size_t i = 0; i < sizeof secret_keys / sizeof secret_keys[0]; i++) {
        const size_t length = strlen(secret_keys[i].key);
        if (strncmp(setting, secret_keys[i].key, length) != 0)
            continue;
        set_variable(secret_keys[i].variable, setting + length);
        rig_buf_printf(secrets, "%s%s", secrets->size == 0 ? "" : " ", secret_keys[i].variable);
        setting = secret_keys[i].reference;
        break;
    }
    add(overrides, setting);
}

/* The plan at the strongest level that the database has: the last one that the plan does not refuse. */
static enum rig_rc load(struct rig_matrix *matrix, const struct overrides *target, const struct rig_arguments *args,
                        struct rig_plan **plan, struct rig_err *err)
{
    enum rig_rc rc = RIG_E_PLAN;
    struct rig_err first = {0};
    for (size_t job = matrix->job_count; job-- > 0 && rc == RIG_E_PLAN;) {
        struct overrides overrides = *target;
        struct rig_matrix_texts settings;
        struct rig_err own = {0};
        const char *value;
        rc = rig_matrix_job_settings(matrix, &matrix->jobs[job], &settings, &own);
        for (size_t i = 0; rc == RIG_OK && i < settings.count; i++)
            add(&overrides, settings.at[i]);
        for (size_t i = 0; (value = rig_arguments_value_at(args, "set", i)) != NULL; i++)
            add(&overrides, value);
        if (rc == RIG_OK)
            rc = rig_plan_load(matrix->jobs[job].plan, overrides.at, overrides.count, NULL, plan, &own);
        if (rc != RIG_OK)
            (void)rig_fail(&first, rc, "%s", own.text);
    }
    return rc == RIG_OK ? RIG_OK : rig_fail(err, first.rc, "%s", first.text);
}

/* Each run of the plan has a seed of its own: the line with the seed is a comment. */
static void write_without_seed(const struct rig_plan *plan, struct rig_buf *yaml)
{
    struct rig_buf whole;
    rig_buf_init(&whole, 0);
    rig_plan_write(plan, true, &whole);
    const char *text = rig_buf_text(&whole), *line = strstr(text, "\nseed: ");
    const size_t before = line == NULL ? whole.size : (size_t)(line + 1 - text);
    rig_buf_add(yaml, text, before);
    if (line != NULL) {
        const char *help = strchr(line + 1, '#');
        rig_buf_printf(yaml, "# seed:%37s%s", "", help == NULL ? "\n" : help);
    }
    rig_buf_done(&whole);
}

enum rig_rc rig_target_plan_write(const struct rig_buf *settings, const char *matrix_path,
                                  const struct rig_arguments *args, struct rig_buf *yaml, struct rig_buf *secrets,
                                  struct rig_err *err)
{
    struct overrides target = {.count = 0};
    struct rig_matrix *matrix = NULL;
    struct rig_plan *plan = NULL;
    char name[80];
    const char *text = rig_buf_text(settings);
    (void)snprintf(name, sizeof name, "name=%s", text + sizeof driver_key - 1);
    for (size_t at = 0; at < settings->size; at += strlen(text + at) + 1)
        add_target(&target, text + at, secrets);
    add(&target, name);
    add(&target, "report=text,json,html,junit");
    enum rig_rc rc = rig_matrix_load(matrix_path, &matrix, err);
    if (rc == RIG_OK)
        rc = load(matrix, &target, args, &plan, err);
    if (rc == RIG_OK)
        write_without_seed(plan, yaml);
    rig_plan_free(plan);
    rig_matrix_free(matrix);
    return rc;
}
