/*
 * rig plan: checks a plan and prints it resolved.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/drivers.h"
#include "cli/dry_run.h"
#include "cli/terminal.h"
#include "cli/plan_arguments.h"
#include "run/plan/plan.h"
#include "run/load/run.h"

static void print_reference(unsigned columns)
{
    struct rig_cli_drivers drivers;
    rig_cli_drivers_init(&drivers);
    rig_cli_drivers_leave_out_example(&drivers);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_plan_write_reference(drivers.at, columns, &text);
    (void)fputs(rig_buf_text(&text), stdout);
    rig_buf_done(&text);
}

static void print_keys(void)
{
    print_reference(rig_terminal_text_columns(stdout));
}

static const struct rig_argument arguments_of_plan[] = {
    RIG_ARGUMENTS_OF_PLAN,
    {.name = "explain", .help = "a comment for each key, and also keys without a value"},
    {.name = "requests", .help = "instead of the plan: the requests of some of its transactions (a dry run)"},
    {.name = "reference", .help = "instead of a plan: the reference page of all keys, as Markdown"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_plan = {
    .command = "plan",
    .positionals = "PLAN.yaml",
    .least_positionals = 0,
    .most_positionals = 1,
    .description =
        "Checks a plan and prints it resolved, with every default; the output is a plan again. Secrets stay\n"
        "variables if they came from variables, or become `***`. `-` reads the plan from standard input. Exit "
        "status\n"
        "64: the plan cannot be used, or not on this machine; stderr gives the reason.\n",
    .arguments = arguments_of_plan,
    .elsewhere = rig_cli_elsewhere_of_plan,
    .print_more = print_keys,
};

int rig_cli_plan(int argc, char **argv)
{
    struct rig_arguments arguments;
    int status = rig_arguments_parse(&table_of_plan, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    if (rig_arguments_has(&arguments, "reference")) {
        print_reference(RIG_PLAN_MARKDOWN);
        return RIG_EXIT_OK;
    }
    if (arguments.positional_count == 0)
        return rig_arguments_miss(&table_of_plan);
    struct rig_plan *plan = NULL;
    status = rig_cli_load_plan(&arguments, &plan);
    if (status != RIG_EXIT_OK)
        return status;
    if (rig_arguments_has(&arguments, "requests")) {
        struct rig_err err = {0};
        status = rig_cli_dry_run(plan, &err) == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
        rig_plan_free(plan);
        return status;
    }
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (rig_arguments_json(&arguments))
        rig_plan_write_json(plan, &text);
    else
        rig_plan_write(plan, rig_arguments_has(&arguments, "explain"), &text);
    (void)fputs(rig_buf_text(&text), stdout);
    rig_buf_done(&text);
    struct rig_err missing = {0};
    if (rig_run_check(plan, &missing) != RIG_OK) {
        status = rig_rc_exit_status(missing.rc);
        rig_cli_complain("this plan cannot be run here: %s", missing.text);
    }
    rig_plan_free(plan);
    return status;
}
