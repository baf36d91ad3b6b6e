/*
 * rig check HISTORY: a recorded history, from wherever, judged against the levels of isolation.
 */
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "checker/check.h"
#include "checker/model/assumption.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/requests.h"
#include "history/load.h"

static const char *const workloads[] = {
#define WORKLOAD_NAME(name, text, help) text,
    RIG_WORKLOAD_TABLE(WORKLOAD_NAME)
#undef WORKLOAD_NAME
        NULL};

static const struct rig_argument check_arguments[] = {
    {.name = "workload",
     .value = "list-append|rw-register",
     .choices = workloads,
     .help = "what the transactions consist of; told by the history itself when not given"},
    RIG_ARGUMENT_LEVEL,
    RIG_ARGUMENT_ANOMALY,
    {.name = "assume",
     .value = "LIST",
     .repeatable = true,
     .help = "order of register versions to assume: wfr-keys, sequential-keys, linearizable-keys"},
    RIG_ARGUMENT_MAX_WITNESSES,
    RIG_ARGUMENT_MAX_MEMORY,
    RIG_ARGUMENT_FORMAT,
    RIG_ARGUMENT_REPORT,
    {.name = "output", .letter = 'o', .value = "DIR", .help = "also write all reports and the witnesses into DIR"},
    {.name = NULL},
};

static const struct rig_arguments_table check_table = {
    .command = "check",
    .positionals = "HISTORY",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Checks a recorded history: history.rig, or operations as JSON lines or EDN in the field names of Jepsen.\n"
        "`-` reads standard input. Without --level the history is judged as strict serializable; every level's\n"
        "fate is shown all the same.\n",
    .arguments = check_arguments,
};

/* Refuses what is no assumption. */
static bool read_assumption(const char *name, size_t length, unsigned *assumptions)
{
#define ASSUMPTION_NAME(id, name, meaning) name,
    static const char *const known[] = {RIG_ASSUMPTION_TABLE(ASSUMPTION_NAME) NULL};
#undef ASSUMPTION_NAME
    char text[64];
    if (length >= sizeof text)
        length = sizeof text - 1;
    memcpy(text, name, length);
    text[length] = '\0';
    for (unsigned i = 0; known[i] != NULL; i++) {
        if (strcmp(known[i], text) == 0) {
            *assumptions |= RIG_ASSUMPTION_BIT(i);
            return true;
        }
    }
    const char *near = rig_nearest_of(text, known);
    if (near != NULL)
        rig_cli_complain("--assume: unknown assumption `%s`; did you mean `%s`?", text, near);
    else
        rig_cli_complain("--assume: unknown assumption `%s`; expected wfr-keys, sequential-keys or linearizable-keys",
                         text);
    return false;
}

static bool read_assumptions(const struct rig_arguments *args, unsigned *assumptions)
{
    const char *list;
    for (size_t i = 0; (list = rig_arguments_value_at(args, "assume", i)) != NULL; i++) {
        for (const char *at = list;; at++) {
            size_t length = strcspn(at, ",");
            if (!read_assumption(at, length, assumptions))
                return false;
            at += length;
            if (*at == '\0')
                break;
        }
    }
    return true;
}

static enum rig_rc load(const struct rig_arguments *args, size_t limit_bytes, struct rig_history **history,
                        struct rig_err *err)
{
    struct rig_load_options options = {.form = RIG_FORM_AUTO, .limit_bytes = limit_bytes};
    const char *workload = rig_arguments_value(args, "workload");
    for (size_t i = 0; workload != NULL && workloads[i] != NULL; i++) {
        if (strcmp(workloads[i], workload) == 0) {
            options.workload_given = true;
            options.workload = (enum rig_workload)i;
        }
    }
    enum rig_rc rc = rig_history_load(args->positionals[0], &options, history, err);
    if (rc != RIG_OK || !rig_arguments_has(args, "assume") || (*history)->workload == RIG_WORKLOAD_RW_REGISTER)
        return rc;
    rc = rig_fail(err, RIG_E_USAGE, "--assume is for rw-register; this history is %s", workloads[(*history)->workload]);
    rig_history_free(*history);
    return rc;
}

/* The title of reports: the file's name without its folders. */
static const char *title_of(const char *path)
{
    if (strcmp(path, "-") == 0)
        return "standard input";
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

/* The result goes out first: a report that cannot be written must not take it away. */
static enum rig_rc write_all(const struct rig_arguments *args, const struct rig_verdict *verdict, struct rig_err *err)
{
    const char *title = title_of(args->positionals[0]);
    enum rig_rc rc = rig_cli_print_result(verdict, NULL, rig_arguments_json(args), err);
    for (size_t i = 0; rc == RIG_OK; i++) {
        struct rig_cli_report_request request;
        if (!rig_cli_read_report(args, i, &request) || request.path == NULL)
            break;
        rc = rig_cli_write_report(verdict, NULL, title, request.form, request.path, err);
    }
    const char *folder = rig_arguments_value(args, "output");
    if (rc == RIG_OK && folder != NULL)
        rc = rig_cli_write_reports(verdict, NULL, title, folder, RIG_CLI_ALL_REPORTS, err);
    return rc;
}

static bool reports_are_known(const struct rig_arguments *args)
{
    struct rig_cli_report_request request;
    size_t i = 0;
    do {
        if (!rig_cli_read_report(args, i++, &request))
            return false;
    } while (request.path != NULL);
    return true;
}

int rig_cli_check(int argc, char **argv)
{
    struct rig_arguments args;
    const int status = rig_arguments_parse(&check_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct rig_check_options options = {0};
    if (!rig_cli_read_requests(&args, &options) || !read_assumptions(&args, &options.assumptions) ||
        !reports_are_known(&args))
        return RIG_EXIT_USAGE;
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    int64_t start_ns = rig_clock_now_ns();
    if (load(&args, options.limit_bytes, &history, &err) != RIG_OK)
        return rig_cli_fail(&err);
    double read_ms = (double)(rig_clock_now_ns() - start_ns) / (double)RIG_NS_PER_MS;
    struct rig_verdict *verdict = NULL;
    int result;
    if (rig_check(history, &options, &verdict, &err) == RIG_OK) {
        verdict->cost.read_ms = read_ms;
        result = write_all(&args, verdict, &err) == RIG_OK ? rig_cli_verdict_status(verdict) : rig_cli_fail(&err);
        rig_verdict_free(verdict);
    } else {
        result = rig_cli_fail(&err);
    }
    rig_history_free(history);
    return result;
}
