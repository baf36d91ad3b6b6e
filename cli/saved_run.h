/*
 * The facts of a finished run, read back from its folder: results.json (the `run` object and what was requested) and
 * plan.yaml. A folder of a run that was killed may have neither; then the facts are absent.
 */
#ifndef RIG_CLI_SAVED_RUN_H
#define RIG_CLI_SAVED_RUN_H

#include <stdbool.h>

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/judge/known_anomaly.h"
#include "cli/arguments.h"
#include "report/report.h"

struct rig_cli_saved_run {
    bool found;                /* there was a `run` object */
    struct rig_report_run run; /* borrows `storage` */
    struct rig_effort effort;  /* as the run measured it; `lost` without results.json */
    uint64_t levels;           /* requested then; 0 when not known */
    rig_anomaly_set anomalies;
    struct rig_cli_saved_storage *storage;
};

/* RIG_E_INPUT when results.json is there and is no result of rig. Release it in any case. */
enum rig_rc rig_cli_saved_run_load(const char *folder, struct rig_cli_saved_run *saved, struct rig_err *err);
/*
 * Where `args` ask for nothing, the requests of the run hold: levels and anomalies, assumptions, the minimum of
 * evidence (unless `minimum` is NULL). They stand in results.json, or in the plan when rig was killed before it wrote
 * that; complains where neither tells.
 */
void rig_cli_saved_run_ask(const struct rig_cli_saved_run *saved, const struct rig_arguments *args,
                           struct rig_check_options *options, struct rig_minimum *minimum);
/* Gives the requests of the run itself, by its results and its plan. */
void rig_cli_saved_run_options(const struct rig_cli_saved_run *saved, struct rig_check_options *options);
/* Both, where `given` names the folder of a run; else nothing, and *saved is empty. Release it in any case. */
enum rig_rc rig_cli_saved_run_take(const char *given, const struct rig_arguments *args,
                                   struct rig_check_options *options, struct rig_minimum *minimum,
                                   struct rig_cli_saved_run *saved, struct rig_err *err);
/* How often results.json has the anomaly or a special case of it. */
uint64_t rig_cli_saved_run_count(const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly);
/*
 * The shape of an anomaly in the results: its name or a special case of it, in a run that refutes no other levels than
 * this one. RIG_ANOMALY_COUNT: the first one that the requests forbid. False when results.json has no such anomaly.
 */
bool rig_cli_saved_run_shape(const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly, enum rig_anomaly *chosen,
                             struct rig_known_anomaly *shape);
/* How often results.json has an anomaly of this shape; of a shape, names and levels are compared. */
uint64_t rig_cli_saved_run_shows(const struct rig_cli_saved_run *saved, const struct rig_known_anomaly *shape);
/* How many transactions and operations the history of the run had; 0: results.json is not there. */
void rig_cli_saved_run_size(const struct rig_cli_saved_run *saved, uint64_t *txns, uint64_t *ops);
void rig_cli_saved_run_done(struct rig_cli_saved_run *saved);

#endif
