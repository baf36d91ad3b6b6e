#include "cli/reproduce_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "cli/reproduce_requests.h"
#include "cli/stage.h"
#include "history/source/load.h"
#include "report/shrunk_report.h"
#include "run/scenario/script.h"
#include "jobs/shrink/scenario_text.h"

enum { PATH_BYTES = 4096 + 64 };

enum rig_rc rig_cli_reproduce_save(const char *folder, const char *name, bool is_script, const struct rig_buf *text,
                                   struct rig_err *err)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const enum rig_rc rc = rig_output_save(text, path, err);
    if (rc == RIG_OK && is_script && chmod(path, 0700) != 0)
        return rig_fail(err, RIG_E_IO, "%s: %s", path, strerror(errno));
    return rc;
}

/* The scripts for the clients of the database: those that speak SQL have one each, and PostgreSQL a specification. */
static enum rig_rc save_scripts(const struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    static const struct {
        const char *driver, *name;
        enum rig_script_form form;
        bool is_script;
    } scripts[] = {{"postgres", RIG_RUN_SCRIPT_PSQL, RIG_SCRIPT_PSQL, true},
                   {"postgres", RIG_RUN_SCRIPT_ISOLATIONTESTER, RIG_SCRIPT_ISOLATIONTESTER, false},
                   {"mysql", RIG_RUN_SCRIPT_MYSQL, RIG_SCRIPT_MYSQL, true}};
    struct rig_buf isolation, text;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&isolation, 0);
    rig_buf_init(&text, 0);
    rig_cli_stage_isolation(files->plan, &isolation);
    for (size_t i = 0; rc == RIG_OK && i < sizeof scripts / sizeof scripts[0]; i++) {
        if (strcmp(scripts[i].driver, files->plan->driver->name) != 0)
            continue;
        rig_buf_clear(&text);
        rig_scenario_write_script(files->scenario, scripts[i].form, rig_buf_text(&isolation), &text);
        rc = rig_cli_reproduce_save(files->folder, scripts[i].name, scripts[i].is_script, &text, err);
    }
    rig_buf_done(&text);
    rig_buf_done(&isolation);
    return rc;
}

/* Without one where the part cannot be it. */
static enum rig_rc save_requests(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    struct rig_buf text;
    struct rig_err why = {0};
    rig_buf_init(&text, 0);
    enum rig_rc rc = rig_cli_requests_write(files->plan, files->part, files->interleaving, &text, &why);
    if (rc == RIG_OK) {
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_SCRIPT_HTTP, true, &text, err);
        files->has_requests = rc == RIG_OK;
    } else {
        (void)snprintf(files->unplayed, sizeof files->unplayed, "%s", why.text);
        rc = rc == RIG_E_LIMIT ? rig_fail(err, rc, "%s", why.text) : RIG_OK;
    }
    rig_buf_done(&text);
    return rc;
}

/* Without a scenario where the part cannot be one. */
static enum rig_rc save_scenario(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    struct rig_buf yaml;
    struct rig_err why = {0};
    rig_buf_init(&yaml, 0);
    enum rig_rc rc = rig_cli_stage_check(files->plan->driver, &why);
    if (rc == RIG_OK)
        rc = rig_scenario_text(files->part, files->interleaving, &yaml, &why);
    if (rc != RIG_OK) {
        (void)snprintf(files->unplayed, sizeof files->unplayed, "%s", why.text);
        rig_buf_done(&yaml);
        return rc == RIG_E_LIMIT ? rig_fail(err, rc, "%s", why.text) : RIG_OK;
    }
    rc = rig_cli_reproduce_save(files->folder, RIG_RUN_SCENARIO, false, &yaml, err);
    if (rc == RIG_OK)
        rc = rig_scenario_parse("scenario.yaml", rig_buf_text(&yaml), yaml.size, &files->scenario, err);
    rig_buf_done(&yaml);
    return rc == RIG_OK ? save_scripts(files, err) : rc;
}

enum rig_rc rig_cli_reproduce_write(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    static const struct rig_save_options form = {.form = RIG_FORM_JSON_LINES};
    char path[PATH_BYTES];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_PART, files->folder);
    enum rig_rc rc = rig_history_save(files->part->history, path, &form, err);
    rig_report_shrunk_text(files->part, files->interleaving, NULL, &text);
    if (rc == RIG_OK)
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_WITNESS, false, &text, err);
    rig_buf_clear(&text);
    if (files->plan != NULL)
        rig_plan_write(files->plan, false, &text);
    if (rc == RIG_OK && files->plan != NULL)
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_PLAN, false, &text, err);
    rig_buf_done(&text);
    if (rc != RIG_OK || files->plan == NULL)
        return rc;
    return files->plan->driver->script != NULL ? save_requests(files, err) : save_scenario(files, err);
}
