/*
 * One run of a plan, from its folder to its reports, for commands that run plans.
 */
#ifndef RIG_CLI_COMMAND_RUN_H
#define RIG_CLI_COMMAND_RUN_H

#include "checker/model/verdict.h"
#include "cli/arguments.h"
#include "run/plan/plan.h"
#include "report/report.h"
#include "run/load/run_ranks.h"

struct rig_cli_run_request {
    const struct rig_plan *plan;
    const struct rig_arguments *arguments; /* of rig_cli_progress_look(); and unless silent, of `rig run` */
    struct rig_run_ranks *ranks;           /* other processes do parts of the run (cli/ranked.h); NULL: none */
    const char *output;                    /* the folder, new or empty; NULL: one in the plan's store */
    bool silent;                           /* nothing on standard output; errors and progress stay */
    /* Called once there is a verdict, before the reports are written; NULL: not. Both live as long as the call. */
    void (*judged)(void *context, const struct rig_verdict *verdict, const struct rig_report_run *facts);
    void *context;
};

/* Complains of errors; returns the exit status of `rig run`. One run at a time in a process. */
int rig_cli_run_plan(const struct rig_cli_run_request *request);

#endif
