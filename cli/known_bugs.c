#include "cli/known_bugs.h"

#include <string.h>

#include "cli/cli.h"
#include "run/plan/reproduction.h"

bool rig_cli_known_bugs_read(struct rig_cli_known_bugs *known, const struct rig_arguments *args, const char *plan)
{
    struct rig_check_section check = {0};
    const char *name;
    *known = (struct rig_cli_known_bugs){.required = false};
    rig_arena_init(&known->arena, 0);
    if (plan != NULL && plan[0] != '\0' &&
        rig_plan_parse_check("plan.yaml", plan, strlen(plan), &check, NULL) == RIG_OK) {
        known->names = check.known;
        known->required = check.known_required;
    }
    if (!rig_arguments_has(args, "known"))
        return true;
    known->names.count = 0;
    for (size_t i = 0; (name = rig_arguments_value_at(args, "known", i)) != NULL; i++) {
        struct rig_reproduction entry;
        struct rig_err err = {0};
        if (rig_reproduction_load(name, &known->arena, &entry, &err) != RIG_OK) {
            rig_cli_complain("--known: %s", err.text);
            return false;
        }
        if (!rig_known_names_add(&known->names, name)) {
            rig_cli_complain("--known: expected at most %d names of fewer than %d bytes each", (int)RIG_KNOWN_MOST,
                             (int)RIG_KNOWN_BYTES);
            return false;
        }
    }
    return true;
}

void rig_cli_known_bugs_done(struct rig_cli_known_bugs *known)
{
    rig_arena_done(&known->arena);
}

/* Reads the entries, and compares each with the run. */
static enum rig_rc load_issues(struct rig_cli_known_bugs *known, const struct rig_reproduction_run *run,
                               struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    struct rig_buf unlike;
    rig_buf_init(&unlike, 0);
    for (uint32_t i = 0; rc == RIG_OK && i < known->names.count; i++) {
        struct rig_reproduction entry;
        struct rig_known_issue *issue = &known->issues[i];
        rig_buf_clear(&unlike);
        rc = rig_reproduction_load(known->names.at[i], &known->arena, &entry, err);
        if (rc != RIG_OK)
            break;
        *issue = (struct rig_known_issue){.name = entry.name, .page = entry.page, .shape = entry.expect};
        if (rig_reproduction_is_about(&entry, run, &issue->unsure, &unlike))
            continue;
        issue->unlike = unlike.failed ? NULL : rig_arena_text(&known->arena, rig_buf_text(&unlike), unlike.size);
        if (issue->unlike == NULL)
            rc = rig_no_memory(err, "the known bugs");
    }
    rig_buf_done(&unlike);
    return rc;
}

static enum rig_rc load_history(void *context, struct rig_history **history, struct rig_err *err)
{
    const struct rig_cli_judged *judged = context;
    if (strcmp(judged->paths[0], "-") == 0)
        return rig_fail(err, RIG_E_USAGE,
                        "a long history on standard input cannot be read twice; give the path of a file");
    return rig_history_load_ranks(judged->paths, judged->count, judged->load, history, err);
}

enum rig_rc rig_cli_known_bugs_compare(struct rig_cli_known_bugs *known, const struct rig_cli_judged *judged,
                                       struct rig_verdict *verdict, struct rig_err *err)
{
    if (known->names.count == 0)
        return RIG_OK;
    const struct rig_report_run *facts = judged->run;
    struct rig_plan_database_names own = {.driver = ""};
    struct rig_reproduction_run run = {.driver = own.driver, .isolation = own.isolation};
    const char *plan = verdict->history->meta;
    if (facts != NULL && facts->driver != NULL)
        run = (struct rig_reproduction_run){
            .driver = facts->driver, .isolation = facts->isolation, .server = facts->server};
    else if (plan != NULL)
        (void)rig_plan_parse_database("plan.yaml", plan, strlen(plan), &own, NULL);
    struct rig_cli_judged again = *judged;
    const struct rig_known_request request = {.issues = known->issues,
                                              .count = known->names.count,
                                              .required = known->required,
                                              .check = *judged->check,
                                              .load = load_history,
                                              .context = &again};
    const enum rig_rc rc = load_issues(known, &run, err);
    return rc == RIG_OK ? rig_known_issues_compare(verdict, &request, err) : rc;
}
