/*
 * The provenance of a run, for its reports: rig, the machine, and the server's settings.
 */
#ifndef RIG_CLI_PROVENANCE_H
#define RIG_CLI_PROVENANCE_H

#include "base/err.h"
#include "report/report.h"
#include "run/load/run.h"

struct rig_cli_provenance {
    struct rig_report_provenance facts;
    struct rig_report_setting settings[RIG_RUN_SETTINGS_MOST];
    char kernel[256], cpu[128], file_system[128];
    char plan_path[4096]; /* empty: standard input */
    uint32_t plan_line;
};

/* This rig and this machine; empty where it cannot be found out. */
void rig_cli_provenance_init(struct rig_cli_provenance *provenance);
/* Finds the line of the plan's requests: `check.levels`, else `check`, else 1. */
void rig_cli_provenance_find_plan(struct rig_cli_provenance *provenance, const char *path);
/* Adds the settings; borrows the result. */
void rig_cli_provenance_add(struct rig_cli_provenance *provenance, const struct rig_run_result *result);

/*
 * The logs that the servers and programs of a run wrote into its folder.
 */

/*
 * Masks the run's secrets (base/secret.h) in every `*.log` of `folder`, which their writers have left. A log without
 * one keeps its bytes. The first log that cannot be read or replaced is the error (RIG_E_IO); the others are seen to.
 */
enum rig_rc rig_cli_redact_logs(const char *folder, struct rig_err *err);

#endif
